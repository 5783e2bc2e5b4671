import { type Command, Option } from 'commander';
import { KeyReader } from '../keys/key-reader.service.js';
import { DAYS_DEFAULT, DAYS_MAX, type UsageQuery } from '../usage/admin-usage.schemas.js';
import { UsageService } from '../usage/usage.service.js';
import { instant } from '../schemas/instant.js';
import { PERIODS } from '../usage/rules/periods.js';
import { UsageRepository, type UsageSelection } from '../usage/usage.repository.js';
import type { DeprecatedCalls, Usage } from '../usage/usage.schemas.js';
import { uuidParameter } from '../schemas/uuid.js';
import { parsedBy, wholeNumber } from './arguments.js';
import { command, withServices } from './command.js';
import { everyPage } from './every-page.js';
import { findGivenKeyId, idCell } from './key-id.js';
import { tableText } from './output/text.js';

/** An entry of a report, with the fields that this report has. */
type Entry = Partial<Usage & Pick<DeprecatedCalls, 'keyName'>>;

/** The options of a report, with those that it has. */
interface ReportOptions extends UsageSelection {
  limit: number;
  by?: 'key' | 'quota';
  key?: string;
  quota?: string;
}

/** `usage`, and its reports */
export const usageCommand = command(
  'usage',
  'list the usage of keys, newest first; requests appear within a second',
)
  .enablePositionalOptions()
  .addCommand(
    reportCommand(
      'totals',
      'list the requests in each period that had any, newest first',
      async (reports, query) => (await reports.totals(query)).entries,
    )
      .option('--key <id>', 'only the usage of this key')
      .option('--quota <id>', 'only the usage of the keys of this quota', parsedBy(uuidParameter('')))
      .option('--limit <n>', 'maximum number of periods', wholeNumber(1000), 20),
  )
  .addCommand(
    reportCommand('top', 'list the keys with the most requests, most first', (reports, query) =>
      reports.topKeys(query, query.limit, query.by),
    )
      .addOption(new Option('--by <what>', 'by quota, its keys are one entry').choices(['key', 'quota']))
      .option('--limit <n>', 'maximum number of keys', wholeNumber(100), 20)
      .addHelpText('after', '\nExample:\n  animal-store usage top --since 2026-11-01T00:00:00Z'),
  )
  .addCommand(
    reportCommand('operations', 'list the requests for each operation, most first', (reports, query) =>
      reports.byOperation(query),
    )
      .option('--key <id>', 'only the usage of this key')
      .option('--quota <id>', 'only the usage of the keys of this quota', parsedBy(uuidParameter(''))),
  )
  .argument('[id]', 'id of a key; without it, all keys')
  .option('--days <n>', 'number of UTC days, today included', wholeNumber(DAYS_MAX), DAYS_DEFAULT)
  .addOption(periodOption('the period by which requests are grouped'))
  .action(
    withServices(async (services, id: string | undefined, filters: Omit<UsageQuery, 'limit'>) => {
      const keyId = await findGivenKeyId(services, id);
      const usage = await everyPage<Usage>((limit, cursor) =>
        services.get(UsageService).page({ ...filters, limit, cursor }, keyId),
      );
      const text = async () => {
        const names = await services.get(KeyReader).findNames(usage.map((entry) => entry.keyId));
        return entriesText(usage.map((entry) => ({ ...entry, keyName: names.get(entry.keyId) ?? null })));
      };
      return { value: usage, text };
    }),
  );

/** `deprecations` */
export const deprecationsCommand = command(
  'deprecations',
  'list the keys that called deprecated operations, with the number and time of their calls',
).action(
  withServices(async (services) => {
    const calls = await everyPage<DeprecatedCalls>((limit, last) =>
      services.get(UsageRepository).deprecatedCalls(limit, last),
    );
    return { value: calls, text: () => entriesText(calls) };
  }),
);

/** Returns a command that prints a report of the usage in a range of time. */
function reportCommand(
  name: string,
  description: string,
  read: (reports: UsageRepository, query: ReportOptions) => Promise<Entry[]>,
): Command {
  return command(name, `${description}; requests appear within a second`)
    .addOption(
      periodOption('minutes are kept for 3 days (USAGE_MINUTE_RETENTION), hours for 35, days for 400'),
    )
    .option('--since <iso>', 'only periods that started then or later', parsedBy(instant))
    .option('--until <iso>', 'only periods that started before', parsedBy(instant))
    .action(
      withServices(async (services, { key, quota: quotaId, ...options }: ReportOptions) => {
        const keyId = await findGivenKeyId(services, key);
        const entries = await read(services.get(UsageRepository), { ...options, keyId, quotaId });
        return { value: entries, text: () => entriesText(entries) };
      }),
    );
}

function periodOption(description: string): Option {
  return new Option('--period <period>', description).choices(PERIODS).default('day');
}

function entriesText(entries: Entry[]): string {
  return tableText(
    entries.map(({ keyId, ...entry }) => ({
      from: entry.startsAt,
      name: entry.keyName,
      key: keyId && idCell(keyId),
      operation: entry.operation,
      deprecated: entry.deprecated,
      requests: entry.requests,
      ...entry.statuses,
      refused: entry.refusals,
      last: entry.lastAt,
    })),
  );
}
