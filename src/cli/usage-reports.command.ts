import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import { ApiError } from '../errors/api-error.js';
import { isUuid } from '../schemas/uuid.js';
import { type Period, PERIODS } from '../usage/rules/periods.js';
import { UsageRepository, type UsageSelection } from '../usage/usage.repository.js';
import type { CountFields } from '../usage/usage.schemas.js';
import { countArgument, instantArgument } from './arguments.js';
import { idTexts, keyIdOf } from './keys/key-id.js';
import type { Column } from './output/fit-columns.js';
import { type Cell, instantCell, printJson, printTable } from './output/print.js';
import { withServices } from './services.js';

const ENTRIES_MAX = 1000;
const KEYS_MAX = 100;
const DEFAULT = 20;

interface ReportOptions {
  period: Period;
  since?: Date;
  until?: Date;
  /** An id, or the end of one. */
  key?: string;
  limit: number;
  json?: true;
}

const COUNTS: Column[] = [
  { head: 'requests' },
  { head: '2xx', rank: 1 },
  { head: '3xx', rank: 4 },
  { head: '4xx', rank: 2 },
  { head: '5xx' },
  { head: 'refused' },
];
const LAST: Column = { head: 'last', rank: 5 };

/** `usage totals` */
export function totalsCommand(): Command {
  return reportCommand('totals', 'list the requests in each period that had any, newest first')
    .addOption(keyOption())
    .option('--limit <n>', 'maximum number of periods', countArgument(ENTRIES_MAX), DEFAULT)
    .addHelpText('after', '\nExample:\n  animal-store usage totals --period hour --limit 24')
    .action(async ({ json, limit, ...options }: ReportOptions) => {
      await withServices(async (services) => {
        const reports = services.get(UsageRepository);
        const { totals } = await reports.totals({ ...(await selectionOf(services, options)), limit });
        const rows = totals.map((each) => [instantCell(each.startsAt), ...countCells(each)]);
        print(json, totals, [{ head: 'from' }, ...COUNTS], rows);
      });
    });
}

/** `usage top` */
export function topCommand(): Command {
  return reportCommand('top', 'list the keys with the most requests, most first')
    .option('--limit <n>', 'maximum number of keys', countArgument(KEYS_MAX), DEFAULT)
    .addHelpText('after', '\nExample:\n  animal-store usage top --since 2026-11-01T00:00:00Z')
    .action(async ({ json, limit, ...options }: ReportOptions) => {
      await withServices(async (services) => {
        const reports = services.get(UsageRepository);
        const keys = await reports.topKeys(await selectionOf(services, options), limit);
        const idText = await idTexts(
          services,
          keys.map(({ keyId }) => keyId),
        );
        const columns: Column[] = [{ head: 'name', fit: 'cut' }, { head: 'key' }, ...COUNTS, LAST];
        const rows = keys.map((each) => [
          each.keyName,
          idText(each.keyId),
          ...countCells(each),
          instantCell(each.lastAt),
        ]);
        print(json, keys, columns, rows);
      });
    });
}

/** `usage operations` */
export function operationsCommand(): Command {
  return reportCommand('operations', 'list the requests for each operation, most first')
    .addOption(keyOption())
    .addHelpText('after', '\nExample:\n  animal-store usage operations --period hour --key 8f6a11')
    .action(async ({ json, ...options }: ReportOptions) => {
      await withServices(async (services) => {
        const reports = services.get(UsageRepository);
        const operations = await reports.byOperation(await selectionOf(services, options));
        const columns: Column[] = [{ head: 'operation' }, { head: 'deprecated', rank: 6 }, ...COUNTS, LAST];
        const rows = operations.map((each) => [
          each.operation,
          each.deprecated,
          ...countCells(each),
          instantCell(each.lastAt),
        ]);
        print(json, operations, columns, rows);
      });
    });
}

function reportCommand(name: string, description: string): Command {
  return new Command(name)
    .description(`${description}; requests appear within a second`)
    .addOption(
      new Option('--period <period>', 'minutes are kept for 48 hours, hours for 35 days, days for 400')
        .choices(PERIODS)
        .default('day'),
    )
    .option('--since <iso>', 'only periods that started then or later', instantArgument)
    .option('--until <iso>', 'only periods that started before', instantArgument)
    .option('--json', 'print a JSON array, for a program');
}

function keyOption(): Option {
  return new Option('--key <id>', 'only the usage of this key');
}

/** @throws ApiError `not_found` for a text that is no id and no end of one. */
async function selectionOf(
  services: INestApplicationContext,
  { period, since, until, key }: Omit<ReportOptions, 'limit' | 'json'>,
): Promise<UsageSelection> {
  const keyId = key === undefined ? undefined : await keyIdOf(services, key);
  if (keyId !== undefined && !isUuid(keyId)) {
    throw new ApiError('not_found', `There is no key with the id "${keyId}".`);
  }
  return { period, since, until, keyId };
}

function countCells({ requests, statuses, refusals }: CountFields): Cell[] {
  return [requests, statuses['2xx'], statuses['3xx'], statuses['4xx'], statuses['5xx'], refusals];
}

function print(json: true | undefined, entries: unknown[], columns: Column[], rows: Cell[][]): void {
  if (json) {
    printJson(entries);
  } else {
    printTable(columns, rows);
  }
}
