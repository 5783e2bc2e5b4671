import { type Command, Option } from 'commander';
import { KEY_STATES, type KeyWithUsage } from '../keys/key.schemas.js';
import { externalId } from '../keys/quota.schemas.js';
import { KeyReader } from '../keys/key-reader.service.js';
import {
  KEY_SORTS,
  type KeyPosition,
  type KeyQuery,
  keySearch,
  SORT_DEFAULT,
} from '../keys/key-query.schemas.js';
import { SUGGESTION_DAYS } from '../usage/admin-usage.schemas.js';
import { UsageService } from '../usage/usage.service.js';
import { daysOption, KEY_ID, parsedBy, rangeEnd, recordText } from './arguments.js';
import { command, group } from './command.js';
import { everyPage } from './every-page.js';
import { keyChanges } from './key-changes.command.js';
import { findId, idCell } from './record-id.js';
import { keyOutput, SET_FOR_EACH_QUOTA } from './key-output.js';
import { linesText, tableText } from './output/text.js';

interface ListOptions extends Omit<KeyQuery, 'quotaId' | 'limit' | 'cursor'> {
  quota?: string;
}

const keyReads: Command[] = [
  command('list', 'list keys with their usage')
    .option('--plan <plan>', 'only keys on this plan')
    .option('--quota <id>', 'only keys of this quota', recordText)
    .option(
      '--search <text>',
      'only keys whose name, note or external id contains this text, or whose id or key ends with it',
      parsedBy(keySearch),
    )
    .option(
      '--external-id <text>',
      'only keys whose quota has exactly this external id',
      parsedBy(externalId),
    )
    .addOption(new Option('--state <state>', 'only keys in this state').choices(KEY_STATES))
    .option('--banned', 'only keys that are banned now')
    .option('--expires-before <instant>', 'only valid keys that expire before then', rangeEnd)
    .option(
      '--unused-since <instant>',
      'only valid keys that were issued before then and sent no request since',
      rangeEnd,
    )
    .addOption(
      new Option(
        '--sort <order>',
        'oldest or newest first, by name, by last use, by expiry, or valid and suspended keys first',
      )
        .choices(KEY_SORTS)
        .default(SORT_DEFAULT),
    )
    .run(async (services, { quota, ...filters }: ListOptions) => {
      const quotaId = await findId(services, 'quota', quota);
      const keys = await everyPage<KeyWithUsage, KeyPosition>((limit, cursor) =>
        services.get(KeyReader).page({ ...filters, quotaId, limit, cursor }),
      );
      const isGrouped = filters.sort === SORT_DEFAULT;
      return { value: keys, text: () => tableText(isGrouped ? toGroupedRows(keys) : toRows(keys)) };
    }),

  command('show', 'show everything about a key, and its usage, except the key itself')
    .argument(...KEY_ID)
    .run(async (services, id: string) =>
      keyOutput(await services.get(KeyReader).find(await findId(services, 'key', id))),
    ),

  command('scope-suggestion', 'show which scopes the requests of a key needed, and which not')
    .argument(...KEY_ID)
    .addOption(daysOption(SUGGESTION_DAYS))
    .run(async (services, text: string, { days }: { days: number }) => {
      const usage = services.get(UsageService);
      const id = await findId(services, 'key', text);
      const suggestion = await usage.suggestScopes(id, { since: await usage.firstDay(days) });
      const rows = suggestion.scopes.map(({ lastRequestAt: last, clientErrors: errors, ...used }) => ({
        ...used,
        errors,
        last,
      }));
      return { value: suggestion, text: () => tableText(rows) + linesText(`Since ${suggestion.since}.`) };
    }),
];

export const keysCommand = group('keys', 'API keys', [...keyReads, ...keyChanges]).addHelpText(
  'after',
  '\nAn <id> is the id of a key or its ending, as tables on a terminal show it, or the last four ' +
    'characters of the key. Plan, limits and ban are those of its quota: see "quotas".',
);

/** Returns a row for each key. Keys on one quota are together, and the first shows what they share. */
function toGroupedRows(keys: KeyWithUsage[]) {
  const rows = toRows(keys);
  const quotas = new Map<string, typeof rows>();
  for (const [index, { quotaId }] of keys.entries()) {
    quotas.set(quotaId, [...(quotas.get(quotaId) ?? []), rows[index]!]);
  }
  return [...quotas.values()].flatMap(([first, ...others]) => [
    ...(first === undefined ? [] : [first]),
    ...others.map((row) => ({
      ...row,
      name: `└ ${row.name}`,
      ...SHARED,
      ...(row['external id'] !== undefined && { 'external id': '' }),
    })),
  ]);
}

const SHARED = { quota: '', plan: '', 'per minute': '', 'per day': '', 'banned until': '' };

/** Returns a row for each key, with the external ids if there are any. */
function toRows(keys: KeyWithUsage[]) {
  const haveExternalIds = keys.some((key) => key.externalId !== null);
  return keys.map((key) => ({
    name: key.name,
    id: idCell(key.id),
    key: `${key.prefix}…${key.lastFour}`,
    role: key.role,
    'external id': haveExternalIds ? key.externalId : undefined,
    quota: idCell(key.quotaId),
    plan: key.plan,
    'per minute': key.perMinute ?? SET_FOR_EACH_QUOTA,
    'per day': key.perDay ?? SET_FOR_EACH_QUOTA,
    state: key.state,
    expires: key.expiresAt,
    'banned until': key.bannedUntil,
    'last used': key.lastUsedAt,
  }));
}
