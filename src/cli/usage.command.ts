import { type Command, Option } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import { externalId } from '../keys/quota.schemas.js';
import { KeyReader } from '../keys/key-reader.service.js';
import { UsageService } from '../usage/usage.service.js';
import { PERIODS } from '../usage/rules/periods.js';
import { csvText } from '../http/responses/csv-if-preferred.js';
import { OPERATIONS_MAX, UsageRepository, type UsageSelection } from '../usage/usage.repository.js';
import {
  type DeprecatedCaller,
  KEY_USAGE_COLUMNS,
  type KeyUsage,
  OPERATION_COLUMNS,
  TOP_COLUMNS,
  type TopUsage,
  totalsColumns,
} from '../usage/usage.schemas.js';
import { wholeNumber } from '../process/settings/setting-types.js';
import { daysOption, parsedBy, rangeEnd, recordText } from './arguments.js';
import { command, group } from './command.js';
import { everyPage } from './every-page.js';
import { findId, idCell } from './record-id.js';
import { escapeCsv, tableText } from './output/text.js';

const DAYS_DEFAULT = 7;

/** An entry of any report. */
type Entry = Partial<Omit<KeyUsage, 'keyId'> & Omit<TopUsage, 'keyId'>> &
  Partial<Pick<DeprecatedCaller, 'lastCalledAt'>> & { keyId?: string | null };

interface ReportOptions extends UsageSelection {
  limit: number;
  days: number;
  by?: 'key' | 'quota';
  key?: string;
  quota?: string;
  csv?: true;
}

export const usageCommand = group('usage', 'the usage of keys; requests appear within a second', [
  reportCommand(
    'list',
    'list the usage of each key and operation, newest first',
    KEY_USAGE_COLUMNS,
    listUsage,
  )
    .option('--key <id>', 'only the usage of this key', recordText)
    .addOption(daysOption(DAYS_DEFAULT).conflicts('since')),
  reportCommand(
    'totals',
    'list the requests in each period that had any, newest first',
    totalsColumns(),
    async (services, query) => (await services.get(UsageRepository).totals(query)).entries,
  )
    .option('--key <id>', 'only the usage of this key', recordText)
    .option('--quota <id>', 'only the usage of the keys of this quota', recordText)
    .option('--limit <n>', 'maximum number of periods', parsedBy(wholeNumber(1, 1000)), 20),
  reportCommand(
    'top',
    'list the keys or quotas with the most requests, most first',
    TOP_COLUMNS,
    async (services, query) => (await services.get(UsageRepository).top(query)).entries,
  )
    .addOption(
      new Option('--by <what>', 'group the requests by key or by quota')
        .choices(['key', 'quota'])
        .default('key'),
    )
    .option('--limit <n>', 'maximum number of keys or quotas', parsedBy(wholeNumber(1, 100)), 20)
    .addHelpText(
      'after',
      '\nExample:\n  animal-store usage top --by quota --since 2026-11-01 --until 2026-12-01',
    ),
  reportCommand(
    'operations',
    'list the requests for each operation, most first',
    OPERATION_COLUMNS,
    async (services, query) =>
      (await services.get(UsageRepository).byOperation({ ...query, limit: OPERATIONS_MAX })).entries,
  )
    .option('--key <id>', 'only the usage of this key', recordText)
    .option('--quota <id>', 'only the usage of the keys of this quota', recordText),
]);

export const deprecationsCommand = group('deprecations', 'deprecated operations', [
  command(
    'list',
    'list the keys that called deprecated operations, with the number and time of their calls',
  ).run(async (services) => {
    const callers = await everyPage<DeprecatedCaller>((limit, cursor) =>
      services.get(UsageRepository).deprecatedCallers({ limit, cursor }),
    );
    return { value: callers, text: () => entriesText(callers) };
  }),
]);

function reportCommand(
  name: string,
  description: string,
  csvColumns: readonly string[],
  read: (services: INestApplicationContext, query: ReportOptions) => Promise<Entry[]>,
): Command {
  return command(name, description)
    .addOption(
      new Option(
        '--period <period>',
        'the period by which requests are grouped; minutes are kept for 3 days (USAGE_MINUTE_RETENTION), ' +
          'hours for 35, days for 400',
      )
        .choices(PERIODS)
        .default('day'),
    )
    .option(
      '--since <instant>',
      'only periods that started then or later, such as 2027-01-01 or 2027-01-01T00:00:00Z',
      rangeEnd,
    )
    .option('--until <instant>', 'only periods that started before', rangeEnd)
    .option(
      '--external-id <text>',
      'only the usage of keys whose quota has exactly this external id',
      parsedBy(externalId),
    )
    .addOption(new Option('--csv', 'print CSV, for a spreadsheet').conflicts('json'))
    .run(async (services, { key, quota, csv, ...options }: ReportOptions) => {
      const keyId = await findId(services, 'key', key);
      const quotaId = await findId(services, 'quota', quota);
      const entries = await read(services, { ...options, keyId, quotaId });
      const text = async () =>
        csv === true
          ? escapeCsv(csvText(entries, csvColumns))
          : entriesText(await withNames(services, entries));
      return { value: entries, text };
    });
}

async function listUsage(services: INestApplicationContext, query: ReportOptions) {
  const { period, since, until, days, keyId, externalId: customer } = query;
  const usage = services.get(UsageService);
  const firstDay = since ?? (await usage.firstDay(days, until));
  const range = { period, since: firstDay, until, externalId: customer };
  return everyPage<KeyUsage>((limit, cursor) => usage.page({ ...range, limit, cursor }, keyId));
}

/** Returns the entries with the names of their keys, if they lack them. */
async function withNames(services: INestApplicationContext, entries: Entry[]): Promise<Entry[]> {
  const ids = entries.flatMap(({ keyId, keyName }) => (keyId && keyName === undefined ? [keyId] : []));
  if (ids.length === 0) {
    return entries;
  }
  const names = await services.get(KeyReader).findNames(ids);
  return entries.map((entry) => ({ ...entry, keyName: names.get(entry.keyId ?? '') ?? null }));
}

/** Returns the entries as a table, with the external ids if there are any. */
function entriesText(entries: Entry[]): string {
  const haveExternalIds = entries.some(({ externalId: customer }) => typeof customer === 'string');
  return tableText(
    entries.map(({ keyId, keyName, quotaId, ...entry }) => ({
      from: entry.startsAt,
      ...(keyId === null ? { quota: quotaId } : { name: keyName, key: keyId && idCell(keyId) }),
      'external id': haveExternalIds ? entry.externalId : undefined,
      plan: entry.plan,
      operation: entry.operation,
      deprecated: entry.deprecated === false ? null : entry.deprecated && 'yes',
      requests: entry.requests,
      ...entry.statuses,
      denied: entry.denied,
      last: entry.lastRequestAt ?? entry.lastCalledAt,
    })),
  );
}
