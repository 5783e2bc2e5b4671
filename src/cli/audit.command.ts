import { Command } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import type { AuditEntry } from '../admin/audit.schemas.js';
import { AuditService } from '../admin/audit.service.js';
import { positiveInteger } from './arguments.js';
import { actorText, auditText, idsIn } from './audit-text.js';
import { keyTexts } from './keys/key-texts.js';
import type { Column } from './output/fit-columns.js';
import { instantCell, printJson, printTable } from './output/print.js';
import { withServices } from './services.js';

const COLUMNS: Column[] = [{ head: 'at' }, { head: 'who', fit: 'wrap' }, { head: 'what', fit: 'wrap' }];

/** `audit` */
export function auditCommand(): Command {
  return new Command('audit')
    .description('list the actions of administrators, newest first')
    .option('--limit <n>', 'maximum number of entries', positiveInteger, 20)
    .option('--json', 'print a JSON array, for a program')
    .action(async ({ json, limit }: { json?: true; limit: number }) => {
      await withServices(async (services) => {
        const { entries } = await services.get(AuditService).page(limit);
        if (json) {
          printJson(entries);
        } else {
          await printEntries(services, entries);
        }
      });
    });
}

async function printEntries(services: INestApplicationContext, entries: AuditEntry[]): Promise<void> {
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
