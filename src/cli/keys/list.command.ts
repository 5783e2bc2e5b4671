import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import { KEY_STATES, type KeyState, type KeyWithUsage } from '../../admin/key.schemas.js';
import { KeyListing } from '../../admin/key-listing.service.js';
import { KEY_SORTS, type KeyPosition, type KeySort } from '../../admin/key-query.schemas.js';
import { instantArgument, searchArgument, uuidArgument } from '../arguments.js';
import { everyPage } from '../every-page.js';
import type { Column } from '../output/fit-columns.js';
import { instantCell, printJson, printTable } from '../output/print.js';
import { withServices } from '../services.js';
import { idTexts } from './key-id.js';
import type { Format } from './key-output.js';

interface ListOptions extends Format {
  plan?: string;
  quota?: string;
  search?: string;
  state?: KeyState;
  banned?: true;
  expiresBefore?: Date;
  unusedSince?: Date;
  sort: KeySort;
}

const COLUMNS: Column[] = [
  { head: 'name', fit: 'cut' },
  { head: 'id' },
  { head: 'key', rank: 6 },
  { head: 'role', rank: 5 },
  { head: 'plan', fit: 'cut' },
  { head: 'per minute', rank: 1 },
  { head: 'per day', rank: 2 },
  { head: 'state' },
  { head: 'expires', rank: 3 },
  { head: 'banned until', rank: 4 },
  { head: 'last used', rank: 7 },
];

/** `keys list` */
export function listCommand(): Command {
  return new Command('list')
    .description('list keys with their usage')
    .option('--plan <plan>', 'only keys on this plan')
    .option('--quota <id>', 'only keys of this quota', uuidArgument)
    .option(
      '--search <text>',
      'only keys whose name contains this text, ignoring case, or whose id or key ends with it',
      searchArgument,
    )
    .addOption(new Option('--state <state>', 'only keys in this state').choices(KEY_STATES))
    .option('--banned', 'only keys that are banned now')
    .option('--expires-before <instant>', 'only valid keys that expire before then', instantArgument)
    .option(
      '--unused-since <instant>',
      'only valid keys that were issued before then and sent no request since',
      instantArgument,
    )
    .addOption(
      new Option('--sort <order>', 'oldest, newest, by name, by last use, or by expiry first')
        .choices(KEY_SORTS)
        .default('created'),
    )
    .option('--json', 'print a JSON array, for a program')
    .action(async ({ json, ...filters }: ListOptions) => {
      await withServices(async (services) => {
        const listing = services.get(KeyListing);
        let after: KeyPosition | undefined;
        const all = await everyPage<KeyWithUsage>(async (limit) => {
          const { keys, next } = await listing.page({ ...filters, limit, after });
          after = next ?? undefined;
          return { entries: keys, more: next !== null };
        });
        if (json) {
          printJson(all);
        } else {
          await printKeys(services, all);
        }
      });
    });
}

async function printKeys(services: INestApplicationContext, keys: KeyWithUsage[]): Promise<void> {
  const idText = await idTexts(
    services,
    keys.map(({ id }) => id),
  );
  printTable(
    COLUMNS,
    keys.map((key) => [
      key.name,
      idText(key.id),
      `${key.prefix}…${key.lastFour}`,
      key.role,
      key.plan,
      key.perMinute,
      key.perDay,
      key.state,
      instantCell(key.expiresAt),
      instantCell(key.bannedUntil),
      instantCell(key.lastUsedAt),
    ]),
  );
}
