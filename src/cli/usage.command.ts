import { Command, Option } from 'commander';
import { DAYS_DEFAULT, DAYS_MAX, type Usage } from '../admin/usage.schemas.js';
import { UsageService } from '../admin/usage.service.js';
import { type Period, PERIODS } from '../usage/periods.js';
import { countArgument } from './arguments.js';
import { everyPage } from './every-page.js';
import { printJson, printTable } from './output.js';
import { withServices } from './services.js';

interface UsageOptions {
  days: number;
  period: Period;
  json?: true;
}

/** `usage` */
export function usageCommand(): Command {
  return new Command('usage')
    .description('show what keys have asked for, newest first; at most a second late')
    .argument('[id]', 'id of a key; without it, all keys')
    .option('--days <n>', 'how many UTC days, today among them', countArgument(DAYS_MAX), DAYS_DEFAULT)
    .addOption(new Option('--period <period>', 'what one line counts').choices(PERIODS).default('day'))
    .option('--json', 'print a JSON array, for a program')
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store usage --days 30\n' +
        '  animal-store usage 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 --days 1 --period hour',
    )
    .action(async (id: string | undefined, { json, days, period }: UsageOptions) => {
      await withServices(async (services) => {
        const service = services.get(UsageService);
        const usage = await everyPage<Usage>(async (limit, last) => {
          const order = {
            days,
            period,
            limit,
            after: last && { ...last, startsAt: new Date(last.startsAt) },
          };
          const page = await service.page(order, id);
          return { entries: page.usage, more: page.more };
        });
        if (json) {
          printJson(usage);
        } else {
          printTable(
            ['from', 'key', 'operation', 'requests', '2xx', '3xx', '4xx', '5xx', 'refused', 'last'],
            usage.map(({ startsAt, keyId, operation, requests, statuses, refusals, lastAt }) => [
              startsAt,
              keyId,
              operation,
              requests,
              statuses['2xx'],
              statuses['3xx'],
              statuses['4xx'],
              statuses['5xx'],
              refusals,
              lastAt,
            ]),
          );
        }
      });
    });
}
