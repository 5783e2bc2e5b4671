import { Command } from 'commander';
import type { DeprecatedCalls } from '../admin/usage.schemas.js';
import { UsageService } from '../admin/usage.service.js';
import { everyPage } from './every-page.js';
import { printJson, printTable } from './output.js';
import { withServices } from './services.js';

/** `deprecations` */
export function deprecationsCommand(): Command {
  return new Command('deprecations')
    .description('show which keys have called which deprecated operation, how often, and when last')
    .option('--json', 'print a JSON array, for a program')
    .addHelpText('after', '\nExample:\n  animal-store deprecations')
    .action(async ({ json }: { json?: true }) => {
      await withServices(async (services) => {
        const service = services.get(UsageService);
        const calls = await everyPage<DeprecatedCalls>(async (limit, last) => {
          const page = await service.deprecatedCalls(limit, last);
          return { entries: page.calls, more: page.more };
        });
        if (json) {
          printJson(calls);
        } else {
          printTable(
            ['operation', 'key', 'name', 'requests', 'last'],
            calls.map(({ operation, keyId, keyName, requests, lastAt }) => [
              operation,
              keyId,
              keyName,
              requests,
              lastAt,
            ]),
          );
        }
      });
    });
}
