import { parseArgs } from 'node:util';
import { CONTESTANTS } from './contestants.js';
import { Refusal } from './refusal.js';
import { WORKLOADS } from './workloads.js';

const QUICK = {
  only: ['service', 'bare-pipelined', 'fastify', 'nest-fastify'],
  workloads: ['first', 'deep', 'one', 'create', 'mix'],
  connections: [64],
  rounds: 3,
  seconds: 1,
  startWarmUpSeconds: 3,
  warmUpSeconds: 0,
  halfLoad: false,
};

const FULL = {
  only: Object.keys(CONTESTANTS),
  workloads: Object.keys(WORKLOADS),
  connections: [64, 8],
  rounds: 3,
  seconds: 5,
  startWarmUpSeconds: 10,
  warmUpSeconds: 1,
  halfLoad: true,
};

/**
 * What `npm run bench` is to measure.
 *
 * @param {string[]} words of the command line.
 * @throws Refusal
 */
export function readOptions(words) {
  const { quick = false, ...given } = parse(words, {
    quick: { type: 'boolean' },
    only: { type: 'string' },
    workloads: { type: 'string' },
    connections: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    into: { type: 'string' },
  });
  const usual = quick ? QUICK : FULL;
  return {
    ...usual,
    only: given.only === 'all' ? FULL.only : (names(given, 'only', Object.keys(CONTESTANTS)) ?? usual.only),
    workloads: names(given, 'workloads', Object.keys(WORKLOADS)) ?? usual.workloads,
    connections: numbers(given, 'connections') ?? usual.connections,
    rounds: oneNumber(given, 'rounds') ?? usual.rounds,
    seconds: oneNumber(given, 'seconds') ?? usual.seconds,
    into: given.into,
  };
}

/**
 * What `npm run bench:growth` is to measure.
 *
 * @param {string[]} sections that there are.
 * @throws Refusal
 */
export function readGrowthOptions(words, sections) {
  const given = parse(words, {
    only: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    into: { type: 'string' },
  });
  return {
    only: names(given, 'only', sections) ?? sections,
    rounds: oneNumber(given, 'rounds') ?? 3,
    seconds: oneNumber(given, 'seconds') ?? 5,
    into: given.into,
  };
}

/**
 * @param {string[]} args
 * @param {import('node:util').ParseArgsConfig['options']} options
 * @returns {Record<string, any>}
 */
function parse(args, options) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new Refusal(`${error.message}. There are ${known.join(', ')}.`, { cause: error });
  }
}

function names(given, option, known) {
  const wanted = given[option]?.split(',');
  const unknown = wanted?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Refusal(`--${option}: there is no "${unknown}", only ${known.join(', ')}.`);
  }
  return wanted && [...new Set(wanted)];
}

function numbers(given, option) {
  const wanted = given[option]?.split(',');
  const wrong = wanted?.find((number) => !/^[1-9]\d{0,3}$/.test(number));
  if (wrong !== undefined) {
    throw new Refusal(`--${option}: "${wrong}" is no whole number from 1 to 9999.`);
  }
  return wanted && [...new Set(wanted)].map(Number);
}

function oneNumber(given, option) {
  const [first, second] = numbers(given, option) ?? [];
  if (second !== undefined) {
    throw new Refusal(`--${option}: one number is enough.`);
  }
  return first;
}
