import { Command } from 'commander';
import { ReplicaService } from '../admin/replica.service.js';
import type { Column } from './output/fit-columns.js';
import { instantCell, printJson, printTable } from './output/print.js';
import { withServices } from './services.js';

const COLUMNS: Column[] = [
  { head: 'host', fit: 'cut' },
  { head: 'id', rank: 1 },
  { head: 'started' },
  { head: 'seen' },
  { head: 'counts locally since' },
];

/** `replicas` */
export function replicasCommand(): Command {
  return new Command('replicas')
    .description('list the replicas that were seen within the last hour, oldest start first')
    .option('--json', 'print a JSON array, for a program')
    .addHelpText('after', '\nExample:\n  animal-store replicas')
    .action(async ({ json }: { json?: true }) => {
      await withServices(async (services) => {
        const replicas = await services.get(ReplicaService).list();
        if (json) {
          printJson(replicas);
          return;
        }
        printTable(
          COLUMNS,
          replicas.map(({ host, id, startedAt, seenAt, countsLocallySince }) => [
            host,
            id,
            instantCell(startedAt),
            instantCell(seenAt),
            instantCell(countsLocallySince),
          ]),
        );
      });
    });
}
