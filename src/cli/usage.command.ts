import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import { DAYS_DEFAULT, DAYS_MAX, type Usage } from '../admin/usage/usage.schemas.js';
import { UsageService } from '../admin/usage/usage.service.js';
import { KeyLookup } from '../admin/keys/key-lookup.service.js';
import { ApiError } from '../errors/api-error.js';
import { isUuid } from '../schemas/uuid.js';
import { type Period, PERIODS } from '../usage/rules/periods.js';
import { UsageRepository, type UsageSelection } from '../usage/usage.repository.js';
import type { CountFields } from '../usage/usage.schemas.js';
import { countArgument, instantArgument } from './arguments.js';
import { everyPage } from './every-page.js';
import { findKeyId, idCell } from './keys/key-id.js';
import { type Format, print, printTable } from './output/print.js';
import { withServices } from './services.js';

const PERIODS_MAX = 1000;
const KEYS_MAX = 100;
const DEFAULT = 20;

interface UsageOptions extends Format {
  days: number;
  period: Period;
}

interface ReportOptions extends Format {
  period: Period;
  since?: Date;
  until?: Date;
  /** An id, or the ending of one. */
  key?: string;
  limit: number;
}

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
        const keyId = id === undefined ? undefined : await findKeyId(services, id);
        const usage = await everyPage<Usage>(async (limit, after) => {
          const page = await service.page({ days, period, limit, after }, keyId);
          return { entries: page.usage, more: page.more };
        });
        await print(usage, { json }, () => printUsage(services, usage));
      });
    });
}

async function printUsage(services: INestApplicationContext, usage: Usage[]): Promise<void> {
  const names = await services.get(KeyLookup).findNames(usage.map(({ keyId }) => keyId));
  printTable(
    usage.map((each) => ({
      from: each.startsAt,
      name: names.get(each.keyId) ?? null,
      key: idCell(each.keyId),
      operation: each.operation,
      ...toCounts(each),
      last: each.lastAt,
    })),
  );
}

/** `usage totals` */
function totalsCommand(): Command {
  return reportCommand('totals', 'list the requests in each period that had any, newest first')
    .addOption(keyOption())
    .option('--limit <n>', 'maximum number of periods', countArgument(PERIODS_MAX), DEFAULT)
    .action(
      report(async (reports, selection, limit) => {
        const { totals } = await reports.totals({ ...selection, limit });
        return [totals, totals.map((each) => ({ from: each.startsAt, ...toCounts(each) }))];
      }),
    );
}

/** `usage top` */
function topCommand(): Command {
  return reportCommand('top', 'list the keys with the most requests, most first')
    .option('--limit <n>', 'maximum number of keys', countArgument(KEYS_MAX), DEFAULT)
    .addHelpText('after', '\nExample:\n  animal-store usage top --since 2026-11-01T00:00:00Z')
    .action(
      report(async (reports, selection, limit) => {
        const keys = await reports.topKeys(selection, limit);
        const rows = keys.map((each) => ({
          name: each.keyName,
          key: idCell(each.keyId),
          ...toCounts(each),
          last: each.lastAt,
        }));
        return [keys, rows];
      }),
    );
}

/** `usage operations` */
function operationsCommand(): Command {
  return reportCommand('operations', 'list the requests for each operation, most first')
    .addOption(keyOption())
    .action(
      report(async (reports, selection) => {
        const operations = await reports.byOperation(selection);
        const rows = operations.map((each) => ({
          operation: each.operation,
          deprecated: each.deprecated,
          ...toCounts(each),
          last: each.lastAt,
        }));
        return [operations, rows];
      }),
    );
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

type Row = Parameters<typeof printTable>[0][number];

/** Returns the action of a report; `read` returns its entries, and the rows of its table. */
function report(
  read: (reports: UsageRepository, selection: UsageSelection, limit: number) => Promise<[unknown[], Row[]]>,
) {
  return (options: ReportOptions): Promise<void> =>
    withServices(async (services) => {
      const selection = await readSelection(services, options);
      const [entries, rows] = await read(services.get(UsageRepository), selection, options.limit);
      await print(entries, options, () => printTable(rows));
    });
}

/** @throws ApiError `not_found` for a text that is no id and no ending of one. */
async function readSelection(
  services: INestApplicationContext,
  { period, since, until, key }: ReportOptions,
): Promise<UsageSelection> {
  const keyId = key === undefined ? undefined : await findKeyId(services, key);
  if (keyId !== undefined && !isUuid(keyId)) {
    throw new ApiError('not_found', `There is no key with the id "${keyId}".`);
  }
  return { period, since, until, keyId };
}

function toCounts({ requests, statuses, refusals }: CountFields) {
  return { requests, ...statuses, refused: refusals };
}
