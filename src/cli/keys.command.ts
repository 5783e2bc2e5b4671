import { Command, Option } from 'commander';
import { TERMINAL } from '../admin/audit.js';
import type { IssuedKey, Key } from '../admin/key.schemas.js';
import { KeyService } from '../admin/key.service.js';
import { durationArgument, EXIT_USAGE, instantArgument, nameArgument, positiveInteger } from './arguments.js';
import { everyPage } from './every-page.js';
import { printFacts, printJson, printLines, printTable } from './output.js';
import { withServices } from './services.js';

interface Format {
  json?: true;
}

interface OwnLimits {
  perMinute?: number;
  perDay?: number;
}

interface IssueOptions extends Format, OwnLimits {
  name: string;
  plan: string;
  role: 'client' | 'admin';
  expires?: Date;
}

/** `keys …` */
export function keysCommand(): Command {
  const keys = new Command('keys')
    .description('API keys')
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store keys issue --name "Ann\'s shop" --plan pro\n  animal-store keys list --banned',
    );
  ownLimits(keys.command('issue'))
    .description('issue a key, on a quota of its own; the key is shown this once')
    .requiredOption('--name <name>', 'what the key is for', nameArgument)
    .requiredOption('--plan <plan>', 'free, pro, business, enterprise, or a plan of your own')
    .addOption(
      new Option('--role <role>', 'what the key may do').choices(['client', 'admin']).default('client'),
    )
    .option('--expires <instant>', 'when it expires, such as 2027-01-01T00:00:00Z', instantArgument)
    .option('--json', 'print one JSON object, for a program')
    .addHelpText('after', '\nExample:\n  animal-store keys issue --name "Ann\'s shop" --plan pro')
    .action(async ({ json, expires, ...order }: IssueOptions, command: Command) => {
      requireBothOrNone(order, command);
      await withServices(async (services) => {
        const issued = await services.get(KeyService).issue({ ...order, expiresAt: expires }, TERMINAL);
        printIssued(issued, json);
      });
    });

  keys
    .command('list')
    .description('list keys, oldest first')
    .option('--plan <plan>', 'only those on this plan')
    .option('--banned', 'only those that are banned now')
    .option('--json', 'print a JSON array, for a program')
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store keys list --plan free\n  animal-store keys list --banned --json',
    )
    .action(async ({ json, plan, banned }: Format & { plan?: string; banned?: true }) => {
      await withServices(async (services) => {
        const service = services.get(KeyService);
        const all = await everyPage<Key>(async (limit, last) => {
          const page = await service.page({ plan, banned, limit, after: last?.id });
          return { entries: page.keys, more: page.more };
        });
        if (json) {
          printJson(all);
        } else {
          printTable(
            [
              'id',
              'name',
              'key',
              'role',
              'plan',
              'per minute',
              'per day',
              'state',
              'expires',
              'banned until',
            ],
            all.map((key) => [
              key.id,
              key.name,
              `${key.prefix}…${key.lastFour}`,
              key.role,
              key.plan,
              key.perMinute,
              key.perDay,
              key.state,
              key.expiresAt,
              key.bannedUntil,
            ]),
          );
        }
      });
    });

  keys
    .command('show')
    .description('show all of a key but the key itself')
    .argument('<id>', 'id of the key')
    .option('--json', 'print one JSON object, for a program')
    .addHelpText('after', '\nExample:\n  animal-store keys show 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11')
    .action((id: string, { json }: Format) => onKey(json, (service) => service.find(id)));

  keys
    .command('rotate')
    .description('issue a successor on the same quota; both work until the overlap ends')
    .argument('<id>', 'id of the key')
    .option(
      '--overlap <duration>',
      'how long both keys work, such as 90s, 30m, 24h, 7d, or 0',
      durationArgument,
      86_400_000,
    )
    .option('--expires <instant>', 'when the successor expires; else as the old key was to', instantArgument)
    .option('--json', 'print one JSON object, for a program')
    .addHelpText(
      'after',
      '\nExample:\n  animal-store keys rotate 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 --overlap 24h',
    )
    .action(async (id: string, { json, overlap, expires }: Format & { overlap: number; expires?: Date }) => {
      await withServices(async (services) => {
        const order = { overlapMs: overlap, expiresAt: expires };
        printIssued(await services.get(KeyService).rotate(id, order, TERMINAL), json);
      });
    });

  keys
    .command('revoke')
    .description('take a key back, at once and for good')
    .argument('<id>', 'id of the key')
    .option('--json', 'print one JSON object, for a program')
    .addHelpText('after', '\nExample:\n  animal-store keys revoke 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11')
    .action((id: string, { json }: Format) => onKey(json, (service) => service.revoke(id, TERMINAL)));

  ownLimits(keys.command('plan'))
    .description("put a key's quota on a plan; what it has used is kept")
    .argument('<id>', 'id of the key')
    .argument('<plan>', 'name of the plan')
    .option('--json', 'print one JSON object, for a program')
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store keys plan 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 pro\n' +
        '  animal-store keys plan 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 enterprise --per-minute 5000 --per-day 1000000',
    )
    .action(async (id: string, plan: string, { json, ...limits }: Format & OwnLimits, command: Command) => {
      requireBothOrNone(limits, command);
      await onKey(json, (service) => service.changePlan(id, { plan, ...limits }, TERMINAL));
    });

  keys
    .command('unban')
    .description('end the ban of a key at once')
    .argument('<id>', 'id of the key')
    .option('--json', 'print one JSON object, for a program')
    .addHelpText('after', '\nExample:\n  animal-store keys unban 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11')
    .action((id: string, { json }: Format) => onKey(json, (service) => service.unban(id, TERMINAL)));

  return keys;
}

function ownLimits(command: Command): Command {
  return command
    .option(
      '--per-minute <n>',
      "own limit per minute in place of the plan's, with --per-day",
      positiveInteger,
    )
    .option('--per-day <n>', "own limit per day in place of the plan's, with --per-minute", positiveInteger);
}

function requireBothOrNone({ perMinute, perDay }: OwnLimits, command: Command): void {
  if ((perMinute === undefined) !== (perDay === undefined)) {
    command.error('error: --per-minute and --per-day go together', { exitCode: EXIT_USAGE });
  }
}

async function onKey(json: true | undefined, work: (service: KeyService) => Promise<Key>): Promise<void> {
  await withServices(async (services) => {
    const key = await work(services.get(KeyService));
    if (json) {
      printJson(key);
    } else {
      printFacts(factsOf(key));
    }
  });
}

function printIssued(issued: IssuedKey, json: true | undefined): void {
  if (json) {
    printJson(issued);
    return;
  }
  printFacts({ key: issued.key, ...factsOf(issued) });
  printLines('The key is not shown again.');
}

function factsOf(key: Key) {
  const numbers = `${key.perMinute ?? 'no'} requests per minute, ${key.perDay ?? 'none'} per day`;
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    plan: `${key.plan}, ${numbers}${key.ownLimits ? ' (its own)' : ''}`,
    state: key.state,
    shown: `${key.prefix}…${key.lastFour}`,
    quota: key.quotaId,
    issued: key.createdAt,
    expires: key.expiresAt ?? 'never',
    ...(key.revokedAt !== null && { revoked: key.revokedAt }),
    ...(key.bannedUntil !== null && { 'banned until': key.bannedUntil }),
    ...(key.predecessorId !== null && { succeeds: key.predecessorId }),
    ...(key.successorId !== null && { 'succeeded by': key.successorId }),
  };
}
