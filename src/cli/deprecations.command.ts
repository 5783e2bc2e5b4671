import { Command } from 'commander';
import type { DeprecatedCalls } from '../admin/usage/usage.schemas.js';
import { UsageRepository } from '../usage/usage.repository.js';
import { everyPage } from './every-page.js';
import { idCell } from './keys/key-id.js';
import { type Format, print, printTable } from './output/print.js';
import { withServices } from './services.js';

/** `deprecations` */
export function deprecationsCommand(): Command {
  return new Command('deprecations')
    .description('list the keys that called deprecated operations, with the number and time of their calls')
    .option('--json', 'print a JSON array, for a program')
    .action(async (format: Format) => {
      await withServices(async (services) => {
        const usage = services.get(UsageRepository);
        const calls = await everyPage<DeprecatedCalls>(async (limit, last) => {
          const page = await usage.deprecatedCalls(limit, last);
          return { entries: page.calls, more: page.more };
        });
        await print(calls, format, () => printTable(calls.map(toRow)));
      });
    });
}

function toRow({ operation, keyId, keyName, requests, lastAt }: DeprecatedCalls) {
  return { operation, name: keyName, key: idCell(keyId), requests, last: lastAt };
}
