import { Option } from 'commander';
import { ACTIONS, ACTOR_TYPES } from '../audit/audit.js';
import { actorName, type AuditEvent, type AuditQuery } from '../audit/audit.schemas.js';
import { AuditService } from '../audit/audit.service.js';
import { parsedBy, positiveInteger, rangeEnd, recordText } from './arguments.js';
import { command, group } from './command.js';
import { findId, idCell } from './record-id.js';
import { tableText } from './output/text.js';

/** The options of `audit list`, beside those that are named as in the query. */
interface ListOptions extends AuditQuery {
  actorKey?: string;
  key?: string;
  quota?: string;
}

export const auditCommand = group('audit', 'the actions of administrators and holders of keys', [
  command('list', 'list actions, newest first')
    .option('--limit <n>', 'maximum number of events', positiveInteger, 20)
    .addOption(new Option('--actor-type <type>', 'only of such actors').choices(ACTOR_TYPES))
    .option('--actor-key <id>', 'only of requests with this key', recordText)
    .option('--actor-name <name>', 'only of this person at the terminal', parsedBy(actorName))
    .addOption(new Option('--action <action>', 'only of this action').choices(ACTIONS))
    .option('--key <id>', 'only on this key; with --quota, those on either', recordText)
    .option('--quota <id>', 'only on this quota', recordText)
    .option('--since <instant>', 'only since then, such as 2027-01-01 or 2027-01-01T00:00:00Z', rangeEnd)
    .option('--until <instant>', 'only before then', rangeEnd)
    .run(async (services, { actorKey, key, quota, ...filters }: ListOptions) => {
      const actorId = await findId(services, 'key', actorKey);
      const keyId = await findId(services, 'key', key);
      const quotaId = await findId(services, 'quota', quota);
      const query = { ...filters, actorId, keyId, quotaId };
      const { entries: events } = await services.get(AuditService).page(query);
      return { value: events, text: () => eventsText(events) };
    }),
]);

function eventsText(events: AuditEvent[]): string {
  return tableText(
    events.map((event) => ({
      'created at': event.createdAt,
      who: partyText(event.actor),
      action: event.action,
      on: partyText(event.subject),
      changes: describeChanges(event),
    })),
  );
}

/** Returns the name and the id of a key, else the type and what identifies an actor or a subject. */
function partyText({ type, id, name, prefix }: AuditEvent['actor'] | AuditEvent['subject']): string {
  const what = prefix === null ? type : `"${name}"`;
  const which = id === null || type === 'plan' ? name : idCell(id);
  return which === null ? what : `${what} ${which}`;
}

/** Returns `field: before → after` of each field that changed, and `field: after` of what is new. */
function describeChanges({ action, before, after }: AuditEvent): string {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const changes = Object.entries(after)
    .filter(([field, value]) => text(before?.[field] ?? null) !== text(value))
    .map(([field, value]) => {
      const old = before === null ? '' : `${text(before[field] ?? null)} → `;
      return `${field}: ${old}${text(value)}`;
    });
  // What described a customer is removed from the audit when the customer is erased.
  const wasErased = changes.length === 0 && (action === 'key.updated' || action === 'quota.updated');
  return wasErased ? 'erased' : changes.join(', ');
}
