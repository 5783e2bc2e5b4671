import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import { DAYS_DEFAULT, DAYS_MAX, type Usage } from '../admin/usage.schemas.js';
import { UsageService } from '../admin/usage.service.js';
import { type Period, PERIODS } from '../usage/rules/periods.js';
import { countArgument } from './arguments.js';
import { everyPage } from './every-page.js';
import { keyIdOf } from './keys/key-id.js';
import { keyTexts } from './keys/key-texts.js';
import type { Column } from './output/fit-columns.js';
import { instantCell, printJson, printTable } from './output/print.js';
import { withServices } from './services.js';
import { operationsCommand, topCommand, totalsCommand } from './usage-reports.command.js';

interface UsageOptions {
  days: number;
  period: Period;
  json?: true;
}

const COLUMNS: Column[] = [
  { head: 'from' },
  { head: 'name', fit: 'cut' },
  { head: 'key', rank: 3 },
  { head: 'operation' },
  { head: 'requests' },
  { head: '2xx', rank: 1 },
  { head: '3xx', rank: 4 },
  { head: '4xx', rank: 2 },
  { head: '5xx' },
  { head: 'refused' },
  { head: 'last', rank: 5 },
];

/** `usage`, and its reports `usage totals`, `usage top` and `usage operations` */
export function usageCommand(): Command {
  return new Command('usage')
    .description('list the usage of keys, newest first; requests appear within a second')
    .enablePositionalOptions()
    .addCommand(totalsCommand())
    .addCommand(topCommand())
    .addCommand(operationsCommand())
    .argument('[id]', 'id of a key; without it, all keys')
    .option('--days <n>', 'number of UTC days, today included', countArgument(DAYS_MAX), DAYS_DEFAULT)
    .addOption(
      new Option('--period <period>', 'the period by which requests are grouped')
        .choices(PERIODS)
        .default('day'),
    )
    .option('--json', 'print a JSON array, for a program')
    .action(async (id: string | undefined, { json, days, period }: UsageOptions) => {
      await withServices(async (services) => {
        const service = services.get(UsageService);
        const keyId = id === undefined ? undefined : await keyIdOf(services, id);
        const usage = await everyPage<Usage>(async (limit, after) => {
          const page = await service.page({ days, period, limit, after }, keyId);
          return { entries: page.usage, more: page.more };
        });
        if (json) {
          printJson(usage);
        } else {
          await printUsage(services, usage);
        }
      });
    });
}

async function printUsage(services: INestApplicationContext, usage: Usage[]): Promise<void> {
  const { nameOf, idText } = await keyTexts(
    services,
    usage.map(({ keyId }) => keyId),
  );
  printTable(
    COLUMNS,
    usage.map(({ startsAt, keyId, operation, requests, statuses, refusals, lastAt }) => [
      instantCell(startsAt),
      nameOf(keyId),
      idText(keyId),
      operation,
      requests,
      statuses['2xx'],
      statuses['3xx'],
      statuses['4xx'],
      statuses['5xx'],
      refusals,
      instantCell(lastAt),
    ]),
  );
}
