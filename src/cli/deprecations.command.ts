import type { INestApplicationContext } from '@nestjs/common';
import { Command } from 'commander';
import type { DeprecatedCalls } from '../admin/usage.schemas.js';
import { UsageRepository } from '../usage/usage.repository.js';
import { everyPage } from './every-page.js';
import { idTexts } from './keys/key-id.js';
import type { Column } from './output/fit-columns.js';
import { instantCell, printJson, printTable } from './output/print.js';
import { withServices } from './services.js';

const COLUMNS: Column[] = [
  { head: 'operation' },
  { head: 'name', fit: 'cut' },
  { head: 'key' },
  { head: 'requests' },
  { head: 'last', rank: 1 },
];

/** `deprecations` */
export function deprecationsCommand(): Command {
  return new Command('deprecations')
    .description('list the keys that called deprecated operations, with the number and time of their calls')
    .option('--json', 'print a JSON array, for a program')
    .action(async ({ json }: { json?: true }) => {
      await withServices(async (services) => {
        const usage = services.get(UsageRepository);
        const calls = await everyPage<DeprecatedCalls>(async (limit, last) => {
          const page = await usage.deprecatedCalls(limit, last);
          return { entries: page.calls, more: page.more };
        });
        if (json) {
          printJson(calls);
        } else {
          await printCalls(services, calls);
        }
      });
    });
}

async function printCalls(services: INestApplicationContext, calls: DeprecatedCalls[]): Promise<void> {
  const idText = await idTexts(
    services,
    calls.map(({ keyId }) => keyId),
  );
  printTable(
    COLUMNS,
    calls.map(({ operation, keyId, keyName, requests, lastAt }) => [
      operation,
      keyName,
      idText(keyId),
      requests,
      instantCell(lastAt),
    ]),
  );
}
