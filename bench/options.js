import { parseArgs } from 'node:util';
import { CONTESTANTS } from './contestants.js';
import { WORKLOADS } from './workloads.js';

/** What is wrong with the options; the message says all there is to know. */
export class OptionError extends Error {}

const QUICK = {
  only: ['service', 'bare-pipelined', 'fastify', 'nest-fastify'],
  workloads: ['first', 'deep', 'one', 'create', 'mix'],
  connections: [64],
  rounds: 3,
  seconds: 1,
  more: { startWarmUpSeconds: 3, warmUpSeconds: 0, halfLoad: false },
};

const FULL = {
  only: Object.keys(CONTESTANTS),
  workloads: Object.keys(WORKLOADS),
  connections: [64, 8],
  rounds: 3,
  seconds: 5,
  more: { startWarmUpSeconds: 5, warmUpSeconds: 1, halfLoad: true },
};

/**
 * What to measure.
 *
 * @param {string[]} words of the command line.
 * @throws OptionError
 */
export function readOptions(words) {
  const { quick = false, ...given } = parse(words);
  const usual = quick ? QUICK : FULL;
  return {
    only: names(given.only, '--only', Object.keys(CONTESTANTS)) ?? usual.only,
    workloads: names(given.workloads, '--workloads', Object.keys(WORKLOADS)) ?? usual.workloads,
    connections: numbers(given.connections, '--connections') ?? usual.connections,
    rounds: numbers(given.rounds, '--rounds')?.[0] ?? usual.rounds,
    seconds: numbers(given.seconds, '--seconds')?.[0] ?? usual.seconds,
    ...usual.more,
  };
}

function parse(words) {
  try {
    return parseArgs({
      args: words,
      options: {
        quick: { type: 'boolean' },
        only: { type: 'string' },
        workloads: { type: 'string' },
        connections: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new OptionError(
      `${error.message}. There are --quick, --only, --workloads, --connections, --rounds, --seconds.`,
    );
  }
}

function names(text, option, known) {
  const given = text?.split(',');
  const unknown = given?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new OptionError(`${option}: there is no "${unknown}", only ${known.join(', ')}.`);
  }
  return given;
}

function numbers(text, option) {
  const given = text?.split(',');
  const wrong = given?.find((number) => !/^[1-9]\d{0,4}$/.test(number));
  if (wrong !== undefined) {
    throw new OptionError(`${option}: "${wrong}" is no whole number from 1 to 99999.`);
  }
  return given?.map(Number);
}
