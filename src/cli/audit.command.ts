import { Command } from 'commander';
import { AuditService } from '../admin/audit.service.js';
import { positiveInteger } from './arguments.js';
import { printJson, printTable } from './output.js';
import { withServices } from './services.js';

/** `audit` */
export function auditCommand(): Command {
  return new Command('audit')
    .description('show what administrators did, newest first')
    .option('--limit <n>', 'how many entries', positiveInteger, 20)
    .option('--json', 'print a JSON array, for a program')
    .addHelpText('after', '\nExample:\n  animal-store audit --limit 100')
    .action(async ({ json, limit }: { json?: true; limit: number }) => {
      await withServices(async (services) => {
        const { entries } = await services.get(AuditService).page(limit);
        if (json) {
          printJson(entries);
        } else {
          printTable(
            ['at', 'who', 'what', 'on', 'before', 'after'],
            entries.map(({ at, actor, action, subject, before, after }) => [
              at,
              actor,
              action,
              subject,
              before && JSON.stringify(before),
              JSON.stringify(after),
            ]),
          );
        }
      });
    });
}
