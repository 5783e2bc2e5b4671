import { Command, Option } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import type { AuditEvent } from '../admin/audit.schemas.js';
import { type Action, ACTIONS } from '../admin/audit.js';
import { AuditService } from '../admin/audit.service.js';
import { actorArgument, instantArgument, positiveInteger } from './arguments.js';
import { actorText, auditText, idsIn } from './audit-text.js';
import { keyIdOf } from './keys/key-id.js';
import { keyTexts } from './keys/key-texts.js';
import type { Column } from './output/fit-columns.js';
import { instantCell, printJson, printTable } from './output/print.js';
import { withServices } from './services.js';

interface AuditOptions {
  limit: number;
  actor?: string;
  action?: Action;
  key?: string;
  since?: Date;
  until?: Date;
  json?: true;
}

const COLUMNS: Column[] = [{ head: 'at' }, { head: 'who', fit: 'wrap' }, { head: 'what', fit: 'wrap' }];

/** `audit` */
export function auditCommand(): Command {
  return new Command('audit')
    .description('list the actions of administrators, newest first')
    .option('--limit <n>', 'maximum number of entries', positiveInteger, 20)
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
        const keyId = key === undefined ? undefined : await keyIdOf(services, key);
        const { entries } = await services.get(AuditService).page({ ...filters, key: keyId });
        if (json) {
          printJson(entries);
        } else {
          await printEntries(services, entries);
        }
      });
    });
}

async function printEntries(services: INestApplicationContext, entries: AuditEvent[]): Promise<void> {
  const { nameOf, idText } = await keyTexts(services, entries.flatMap(idsIn));
  const keyText = (id: string) => {
    const name = nameOf(id);
    return name === null ? id : `"${name}" (${idText(id)})`;
  };
  printTable(
    COLUMNS,
    entries.map((entry) => [
      instantCell(entry.at),
      actorText(entry.actor, keyText),
      auditText(entry, keyText),
    ]),
  );
}
