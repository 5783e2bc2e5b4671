import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import { KEY_STATES, type Key, type KeyState } from '../../admin/key.schemas.js';
import { KeyService } from '../../admin/key.service.js';
import { searchArgument } from '../arguments.js';
import { everyPage } from '../every-page.js';
import type { Column } from '../output/fit-columns.js';
import { instantCell, printJson, printTable } from '../output/print.js';
import { withServices } from '../services.js';
import { idTexts } from './key-id.js';
import type { Format } from './key-output.js';

interface ListOptions extends Format {
  plan?: string;
  search?: string;
  state?: KeyState;
  banned?: true;
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
];

/** `keys list` */
export function listCommand(): Command {
  return new Command('list')
    .description('list keys, oldest first')
    .option('--plan <plan>', 'only keys on this plan')
    .option(
      '--search <text>',
      'only keys whose name contains this text, ignoring case, or whose id or key ends with it',
      searchArgument,
    )
    .addOption(new Option('--state <state>', 'only keys in this state').choices(KEY_STATES))
    .option('--banned', 'only keys that are banned now')
    .option('--json', 'print a JSON array, for a program')
    .action(async ({ json, ...filters }: ListOptions) => {
      await withServices(async (services) => {
        const keys = services.get(KeyService);
        const all = await everyPage<Key>(async (limit, last) => {
          const page = await keys.page({ ...filters, limit, after: last?.id });
          return { entries: page.keys, more: page.more };
        });
        if (json) {
          printJson(all);
        } else {
          await printKeys(services, all);
        }
      });
    });
}

async function printKeys(services: INestApplicationContext, keys: Key[]): Promise<void> {
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
    ]),
  );
}
