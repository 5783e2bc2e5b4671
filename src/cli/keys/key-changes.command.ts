import { Command, Option } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import type { Key } from '../../admin/keys/key.schemas.js';
import { KeyService } from '../../admin/keys/key.service.js';
import { type ActorOptions, toActor, withActor } from '../actor.js';
import {
  durationArgument,
  EXIT_USAGE,
  instantArgument,
  nameArgument,
  noteArgument,
  positiveInteger,
} from '../arguments.js';
import { confirm } from '../output/confirmation.js';
import type { Format } from '../output/print.js';
import { withServices } from '../services.js';
import { findKeyId } from './key-id.js';
import { keyText, limitsText, printIssued, printKey } from './key-output.js';

const OVERLAP_DEFAULT = '24h';

/** The options of every command here. */
interface ChangeOptions extends Format, ActorOptions {
  yes?: true;
}

/** A quota's own limits, which override its plan's. */
interface OwnLimits {
  perMinute?: number;
  perDay?: number;
}

interface IssueOptions extends ChangeOptions, OwnLimits {
  name: string;
  note?: string;
  plan: string;
  role: 'client' | 'admin';
  expires?: Date;
}

interface LabelOptions extends ChangeOptions {
  name?: string;
  /** False for `--no-note`. */
  note?: string | false;
}

interface RotateOptions extends ChangeOptions {
  overlap: number;
  expires?: Date;
}

/** `keys issue` */
export function issueCommand(): Command {
  const command = changeCommand('issue', 'issue a key with a quota of its own; the key is shown only once')
    .requiredOption('--name <name>', 'name of the key', nameArgument)
    .option('--note <text>', 'note of administrators on the key', noteArgument)
    .requiredOption('--plan <plan>', 'free, pro, business, enterprise, or a plan of your own')
    .addOption(new Option('--role <role>', 'role of the key').choices(['client', 'admin']).default('client'))
    .option('--expires <instant>', 'when it expires, such as 2027-01-01T00:00:00Z', instantArgument);
  return withOwnLimits(command)
    .addHelpText('after', '\nExample:\n  animal-store keys issue --name "Ann\'s shop" --plan pro')
    .action(async ({ as, json, expires, ...input }: IssueOptions) => {
      requireBothOrNone(input, command);
      await withServices(async (services) => {
        const keys = services.get(KeyService);
        await printIssued(await keys.issue({ ...input, expiresAt: expires }, toActor({ as })), { json });
      });
    });
}

/** `keys label` */
export function labelCommand(): Command {
  const command = keyCommand('label', 'set the name of a key and the note on it; what is not given stays');
  return command
    .option('--name <name>', 'name of the key', nameArgument)
    .option('--note <text>', 'note of administrators on the key', noteArgument)
    .option('--no-note', 'remove the note')
    .action(async (id: string, { name, note, ...options }: LabelOptions) => {
      if (name === undefined && note === undefined) {
        command.error('error: give --name, --note or --no-note', { exitCode: EXIT_USAGE });
      }
      const change = { name, note: note === false ? null : note };
      await changeKey(id, options, (keys, keyId) => keys.label(keyId, change, toActor(options)));
    });
}

/** `keys rotate` */
export function rotateCommand(): Command {
  return keyCommand('rotate', 'issue a successor on the same quota; both work until the overlap ends')
    .addOption(
      new Option('--overlap <duration>', 'how long both keys work, such as 90s, 30m, 24h, 7d, or 0')
        .argParser(durationArgument)
        .default(durationArgument(OVERLAP_DEFAULT), OVERLAP_DEFAULT),
    )
    .option(
      '--expires <instant>',
      'when the successor expires (default: when the old key was to expire)',
      instantArgument,
    )
    .action(async (id: string, options: RotateOptions) => {
      await withServices(async (services) => {
        const keys = services.get(KeyService);
        const oldId = await findKeyId(services, id);
        const input = { overlapMs: options.overlap, expiresAt: options.expires };
        const issued = await keys.rotate(oldId, input, toActor(options));
        const { state, expiresAt } = await keys.find(oldId);
        const end =
          state === 'rotating' ? `The old key works until ${expiresAt}.` : 'The old key no longer works.';
        await printIssued(issued, options, end);
      });
    });
}

/** `keys revoke` */
export function revokeCommand(): Command {
  return keyCommand('revoke', 'revoke a key immediately and permanently')
    .option('--yes', 'do not ask for confirmation')
    .action(async (id: string, options: ChangeOptions) => {
      await changeKey(id, options, async (keys, keyId) => {
        const key = await keys.find(keyId);
        if (key.revokedAt === null) {
          await confirm(`Revoke ${keyText(key)} immediately and permanently?`, options);
        }
        return keys.revoke(keyId, toActor(options));
      });
    });
}

/** `keys plan` */
export function planCommand(): Command {
  const command = withOwnLimits(
    keyCommand('plan', "put a key's quota on a plan; the counts of the current windows are kept"),
  );
  return command
    .argument('<plan>', 'name of the plan')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store keys plan 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 pro\n' +
        '  animal-store keys plan 0f8f6a11 enterprise --per-minute 5000 --per-day 1000000',
    )
    .action(async (id: string, plan: string, options: ChangeOptions & OwnLimits) => {
      requireBothOrNone(options, command);
      const { perMinute, perDay } = options;
      await changeKey(id, options, async (keys, keyId) => {
        const key = await keys.find(keyId);
        const own =
          perMinute !== undefined && perDay !== undefined ? `, ${limitsText({ perMinute, perDay })}` : '';
        await confirm(
          `Move ${keyText(key)} from plan ${key.plan}, ${limitsText(key)}, to plan ${plan}${own}?`,
          options,
        );
        return keys.changePlan(keyId, { plan, perMinute, perDay }, toActor(options));
      });
    });
}

/** `keys unban` */
export function unbanCommand(): Command {
  return keyCommand('unban', 'end the ban of a key immediately').action(
    async (id: string, options: ChangeOptions) => {
      await changeKey(id, options, (keys, keyId) => keys.unban(keyId, toActor(options)));
    },
  );
}

function changeCommand(name: string, description: string): Command {
  return withActor(new Command(name))
    .description(description)
    .option('--json', 'print one JSON object, for a program');
}

/** Returns a command that changes one key. */
function keyCommand(name: string, description: string): Command {
  return changeCommand(name, description).argument('<id>', 'id of the key');
}

/** Changes a key, and prints it afterwards. */
function changeKey(
  id: string,
  format: Format,
  change: (keys: KeyService, keyId: string) => Promise<Key>,
): Promise<void> {
  return withServices(async (services: INestApplicationContext) => {
    const keyId = await findKeyId(services, id);
    await printKey(await change(services.get(KeyService), keyId), format);
  });
}

function withOwnLimits(command: Command): Command {
  return command
    .option('--per-minute <n>', "own limit per minute instead of the plan's, with --per-day", positiveInteger)
    .option('--per-day <n>', "own limit per day instead of the plan's, with --per-minute", positiveInteger);
}

/** Ends the command as wrong usage if one limit is given without the other. */
function requireBothOrNone({ perMinute, perDay }: OwnLimits, command: Command): void {
  if ((perMinute === undefined) !== (perDay === undefined)) {
    command.error('error: --per-minute and --per-day go together', { exitCode: EXIT_USAGE });
  }
}
