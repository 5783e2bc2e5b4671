import { Command, type CommanderError, Option } from 'commander';
import { z } from 'zod';
import { parsedBy } from '../src/cli/arguments.js';
import { Refusal } from '../dev/refusal.js';

/**
 * Where a run has the service count: in its database, which `patroni` fails over; in a Redis or a Cluster of
 * it, which is Valkey for two of them; or in a Redis that `sentinel` fails over.
 */
export const STORES = [
  'postgres',
  'patroni',
  'redis',
  'cluster',
  'sentinel',
  'valkey',
  'valkey-cluster',
] as const;
export type StoreName = (typeof STORES)[number];

export interface Options {
  minutes: number;
  replicas: number;
  store: StoreName;
  seed: number;
  /** The release or git revision whose replicas are replaced by those of this tree, and vice versa. */
  upgradeFrom?: string;
}

const MAX_SEED = 2 ** 31 - 1;

/**
 * Reads the options of `npm run chaos`. Without `--seed`, each run has another one.
 *
 * @throws Refusal that names the option and what it accepts.
 */
export function readOptions(args: string[]): Options {
  const seed = Math.floor(Math.random() * MAX_SEED);
  return new Command('npm run chaos --')
    .option(
      '--minutes <number>',
      'of planned faults; undoing takes longer',
      parseNumber('number', 0.5, 24 * 60),
      10,
    )
    .option('--replicas <count>', 'of the service', parseNumber('whole number', 1, 8), 3)
    .addOption(
      new Option('--store <name>', 'of the counters; patroni and sentinel fail over')
        .choices(STORES)
        .default('postgres'),
    )
    .option('--seed <number>', 'of the schedule of faults', parseNumber('whole number', 0, MAX_SEED), seed)
    .option(
      '--upgrade-from <release>',
      'its version, "last" or a git revision; replaced and put back in turn',
    )
    .allowExcessArguments(false)
    .configureOutput({ writeErr: () => {} })
    .exitOverride(({ message, exitCode }: CommanderError) => {
      if (exitCode === 0) {
        process.exit(); // It has printed the help.
      }
      throw new Refusal(
        `${message}\nThe options are --minutes, --replicas, --store, --seed and --upgrade-from.`,
      );
    })
    .parse(args, { from: 'user' })
    .opts<Options>();
}

function parseNumber(kind: 'number' | 'whole number', least: number, greatest: number) {
  const message = `must be a ${kind} from ${least} to ${greatest}`;
  const range = z.coerce.number(message).min(least, message).max(greatest, message);
  return parsedBy(kind === 'number' ? range : range.int(message));
}
