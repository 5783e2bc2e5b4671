import { Command, Option } from 'commander';
import { KEY_STATES, type KeyState, type KeyWithUsage } from '../../admin/keys/key.schemas.js';
import { KeyListing } from '../../admin/keys/key-listing.service.js';
import { KEY_SORTS, type KeyPosition, type KeySort } from '../../admin/keys/key-query.schemas.js';
import { KeyRateLimit } from '../../admin/keys/key-rate-limit.service.js';
import type { RateLimitStatus } from '../../rate-limit/rate-limit-status.schema.js';
import { instantArgument, searchArgument, uuidArgument } from '../arguments.js';
import { everyPage } from '../every-page.js';
import { type Format, print, printFields, printTable } from '../output/print.js';
import { withServices } from '../services.js';
import {
  issueCommand,
  labelCommand,
  planCommand,
  revokeCommand,
  rotateCommand,
  unbanCommand,
} from './key-changes.command.js';
import { idCell, findKeyId } from './key-id.js';
import { printKey } from './key-output.js';

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

/** `keys …` */
export function keysCommand(): Command {
  return new Command('keys')
    .description('API keys')
    .addHelpText('after', '\nAn <id> is the id of a key or its ending, as tables on a terminal show it.')
    .addCommand(issueCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(labelCommand())
    .addCommand(rotateCommand())
    .addCommand(revokeCommand())
    .addCommand(planCommand())
    .addCommand(unbanCommand())
    .addCommand(rateLimitCommand());
}

/** `keys list` */
function listCommand(): Command {
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
        await print(all, { json }, () => printTable(all.map(toRow)));
      });
    });
}

/** `keys show` */
function showCommand(): Command {
  return new Command('show')
    .description('show everything about a key, and its usage, except the key itself')
    .argument('<id>', 'id of the key')
    .option('--json', 'print one JSON object, for a program')
    .action(async (id: string, format: Format) => {
      await withServices(async (services) => {
        await printKey(await services.get(KeyListing).find(await findKeyId(services, id)), format);
      });
    });
}

/** `keys rate-limit` */
function rateLimitCommand(): Command {
  return new Command('rate-limit')
    .description("show the windows and the ban of a key's quota, without counting against it")
    .argument('<id>', 'id of the key')
    .option('--json', 'print one JSON object, for a program')
    .action(async (id: string, format: Format) => {
      await withServices(async (services) => {
        const status = await services.get(KeyRateLimit).find(await findKeyId(services, id));
        await print(status, format, printStatus);
      });
    });
}

function toRow(key: KeyWithUsage) {
  return {
    name: key.name,
    id: idCell(key.id),
    key: `${key.prefix}…${key.lastFour}`,
    role: key.role,
    plan: key.plan,
    'per minute': key.perMinute,
    'per day': key.perDay,
    state: key.state,
    expires: key.expiresAt,
    'banned until': key.bannedUntil,
    'last used': key.lastUsedAt,
  };
}

function printStatus({ plan, windows, refusalsUntilBan, bannedUntil }: RateLimitStatus): void {
  const remaining = windows.map(({ name, limit, remaining: left, reset }): [string, string] => [
    `this ${name}`,
    `${left} of ${limit} requests remain until ${new Date(reset * 1000).toISOString()}`,
  ]);
  printFields({
    plan,
    ...Object.fromEntries(remaining),
    'refusals until ban': refusalsUntilBan,
    'banned until': bannedUntil,
  });
}
