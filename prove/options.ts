import { parseArgs } from 'node:util';
import { Refusal } from './refusal.js';

/** The stores of counters that a run can try; `postgres` counts in the service's own database. */
export const STORES = ['postgres', 'redis', 'cluster', 'sentinel'] as const;
export type StoreName = (typeof STORES)[number];

export interface Options {
  minutes: number;
  replicas: number;
  store: StoreName;
  seed: number;
}

const DEFAULTS = { minutes: '10', replicas: '3', store: 'postgres' } as const;
const MAX_MINUTES = 24 * 60;
const MAX_REPLICAS = 8;
const MAX_SEED = 2 ** 31 - 1;

/**
 * Reads the options of `npm run prove`. Without `--seed`, each run has another one.
 *
 * @throws Refusal that names the option and what it accepts.
 */
export function readOptions(args: string[]): Options {
  const { minutes, replicas, store, seed } = parse(args);
  return {
    minutes: readNumber('minutes', minutes ?? DEFAULTS.minutes, 0.5, MAX_MINUTES),
    replicas: readInteger('replicas', replicas ?? DEFAULTS.replicas, 1, MAX_REPLICAS),
    store: readStore(store ?? DEFAULTS.store),
    seed: seed === undefined ? Math.floor(Math.random() * MAX_SEED) : readInteger('seed', seed, 0, MAX_SEED),
  };
}

function parse(args: string[]) {
  const option = { type: 'string' } as const;
  try {
    return parseArgs({ args, options: { minutes: option, replicas: option, store: option, seed: option } })
      .values;
  } catch (error) {
    const message = `${(error as Error).message}\nThe options are --minutes, --replicas, --store and --seed.`;
    throw new Refusal(message, { cause: error });
  }
}

function readNumber(name: string, text: string, least: number, greatest: number): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= greatest)) {
    throw new Refusal(`--${name} must be a number from ${least} to ${greatest}, not "${text}".`);
  }
  return value;
}

function readInteger(name: string, text: string, least: number, greatest: number): number {
  if (!/^\d+$/.test(text) || Number(text) < least || Number(text) > greatest) {
    throw new Refusal(`--${name} must be a whole number from ${least} to ${greatest}, not "${text}".`);
  }
  return Number(text);
}

function readStore(text: string): StoreName {
  const store = STORES.find((name) => name === text);
  if (store === undefined) {
    throw new Refusal(`--store must be one of ${STORES.join(', ')}, not "${text}".`);
  }
  return store;
}
