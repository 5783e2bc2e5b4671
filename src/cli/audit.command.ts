import { Option } from 'commander';
import { ACTIONS } from '../audit/audit.js';
import { auditActor, type AuditEvent, type AuditQuery } from '../audit/audit.schemas.js';
import { AuditService } from '../audit/audit.service.js';
import { instant } from '../schemas/instant.js';
import { parsedBy, positiveInteger } from './arguments.js';
import { command, withServices } from './command.js';
import { findGivenKeyId, idCell } from './key-id.js';
import { tableText } from './output/text.js';

/** `audit` */
export const auditCommand = command('audit', 'list the actions of administrators, newest first')
  .option('--limit <n>', 'maximum number of events', positiveInteger, 20)
  .option(
    '--actor <actor>',
    "only of this actor: an administrator's key id, terminal:NAME or terminal",
    parsedBy(auditActor),
  )
  .addOption(new Option('--action <action>', 'only of this action').choices(ACTIONS))
  .option('--key <id>', 'only on this key')
  .option('--since <instant>', 'only since then, such as 2027-01-01T00:00:00Z', parsedBy(instant))
  .option('--until <instant>', 'only before then', parsedBy(instant))
  .action(
    withServices(async (services, { key, ...filters }: AuditQuery) => {
      const keyId = await findGivenKeyId(services, key);
      const { entries: events } = await services.get(AuditService).page({ ...filters, key: keyId });
      return { value: events, text: () => eventsText(events) };
    }),
  );

function eventsText(events: AuditEvent[]): string {
  /** A key's name and id; anything else as it is. */
  const named = (text: string, key: AuditEvent['actorKey']) =>
    key === null ? text : `"${key.name}" ${idCell(text.replace('key:', ''))}`;
  return tableText(
    events.map((event) => ({
      at: event.at,
      who: named(event.actor, event.actorKey),
      action: event.action,
      on: named(event.subject, event.subjectKey),
      changes: describeChanges(event),
    })),
  );
}

/**
 * Returns `field: before → after` for each field that changed, and `field: after` for those of something new.
 */
function describeChanges({ before, after }: AuditEvent): string {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.entries(after)
    .filter(([field, value]) => text(before?.[field]) !== text(value))
    .map(([field, value]) => {
      const old = before === null ? '' : `${text(before[field] ?? null)} → `;
      return `${field}: ${old}${text(value)}`;
    })
    .join(', ');
}
