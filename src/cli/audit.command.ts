import { Command, Option } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import { type Action, ACTIONS } from '../admin/audit/audit.js';
import type { AuditEvent } from '../admin/audit/audit.schemas.js';
import { AuditService } from '../admin/audit/audit.service.js';
import { KeyLookup } from '../admin/keys/key-lookup.service.js';
import { isUuid } from '../schemas/uuid.js';
import { actorArgument, instantArgument, positiveInteger } from './arguments.js';
import { idCell, findKeyId } from './keys/key-id.js';
import { type Format, print, printTable } from './output/print.js';
import { withServices } from './services.js';

interface AuditOptions extends Format {
  limit: number;
  actor?: string;
  action?: Action;
  key?: string;
  since?: Date;
  until?: Date;
}

/** `audit` */
export function auditCommand(): Command {
  return new Command('audit')
    .description('list the actions of administrators, newest first')
    .option('--limit <n>', 'maximum number of events', positiveInteger, 20)
    .option(
      '--actor <actor>',
      "only of this actor: an administrator's key id, terminal:NAME or terminal",
      actorArgument,
    )
    .addOption(new Option('--action <action>', 'only of this action').choices(ACTIONS))
    .option('--key <id>', 'only on this key')
    .option('--since <instant>', 'only since then, such as 2027-01-01T00:00:00Z', instantArgument)
    .option('--until <instant>', 'only before then', instantArgument)
    .option('--json', 'print a JSON array, for a program')
    .action(async ({ json, key, ...filters }: AuditOptions) => {
      await withServices(async (services) => {
        const keyId = key === undefined ? undefined : await findKeyId(services, key);
        const { events } = await services.get(AuditService).page({ ...filters, key: keyId });
        await print(events, { json }, () => printEvents(services, events));
      });
    });
}

async function printEvents(services: INestApplicationContext, events: AuditEvent[]): Promise<void> {
  const ids = events.flatMap(({ actor, subject }) => [actor, subject.replace('key:', '')]);
  const names = await services.get(KeyLookup).findNames(ids.filter(isUuid));
  /** A key's name and id; anything else as it is. */
  const named = (text: string) => {
    const name = names.get(text.replace('key:', ''));
    return name === undefined ? text : `"${name}" ${idCell(text.replace('key:', ''))}`;
  };
  printTable(
    events.map((event) => ({
      at: event.at,
      who: named(event.actor),
      action: event.action,
      on: named(event.subject),
      changes: describeChanges(event),
    })),
  );
}

/** Returns `field: before → after` for each field that changed, and `field: after` for those of something new. */
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
