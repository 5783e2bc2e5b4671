import { EXACT_LIMIT } from './data.js';
import { caseName, EACH, replicaCases, STORES } from './replicas.js';
import { summarize } from './results.js';

export const WORKLOADS = { first: 'first page', one: 'by id', create: 'create', mix: 'mix 70/20/10' };

/** Ratios vary by less between runs with this many rounds. */
const MIN_ROUNDS = 8;
/** A quick run starts the service only twice, beside other work of the machine. */
const MIN_STARTS = 3;
/** A run fails when a figure is worse than the recorded one by more than a tenth. */
const TOLERANCE = 0.1;

/**
 * Recorded ratios of requests a second, service / peer, by connections: of first page, by id, create and mix.
 */
const SPEEDS = {
  'fastify-redis': {
    1: [0.98, 0.95, 0.71, 0.97],
    8: [0.89, 0.68, 0.93, 0.81],
    64: [1.23, 1.13, 1.31, 1.09],
    256: [1.49, 1.27, 1.48, 1.35],
  },
  fastify: { 1: [0.59, 0.5, 0.44, 0.56], 8: [0.57, 0.5, 0.56, 0.53], 64: [0.94, 0.77, 1.13, 0.91] },
  nest: { 1: [1.14, 0.96, 0.79, 0.99], 8: [1.7, 1.45, 1.02, 1.36], 64: [2.8, 1.96, 2.28, 2.19] },
};
/** The greatest ratio of the stores' time for a request: two replicas / one, each with the same load. */
const EQUAL_LOAD = 1.3;
/** Recorded ratios to plain creations. */
const CREATIONS = { keyed: { 8: 0.67, 64: 0.66 }, order: { 64: 0.69 } };

/**
 * @type {{ load: object, case?: string, ratio?: string[], figure: string, least?: number, most?: number }[]}
 */
export const GOALS = [
  ...Object.entries(SPEEDS).flatMap(([peer, byConnections]) =>
    Object.entries(byConnections).flatMap(([connections, recorded]) =>
      Object.keys(WORKLOADS).map((workload, index) => ({
        load: { workload, connections: Number(connections) },
        ratio: ['service', peer],
        figure: 'perSecond',
        least: recorded[index] * (1 - TOLERANCE),
      })),
    ),
  ),
  ...Object.entries(CREATIONS).flatMap(([name, byConnections]) =>
    Object.entries(byConnections).map(([connections, recorded]) => ({
      load: { workload: 'create', connections: Number(connections) },
      ratio: [name, 'service'],
      figure: 'perSecond',
      least: recorded * (1 - TOLERANCE),
    })),
  ),
  ...Object.keys(STORES).map((store) => ({
    load: { workload: 'replicas' },
    ratio: [caseName(store, 2, 2 * EACH), caseName(store, 1, EACH)],
    figure: 'storesUs',
    most: EQUAL_LOAD,
  })),
  { load: { workload: 'memory' }, case: 'service', figure: 'mb', most: 248 * (1 + TOLERANCE) },
  { load: { workload: 'start' }, case: 'service', figure: 'ms', most: 1200 },
  ...Object.keys(STORES)
    .flatMap((store) => replicaCases(store))
    .map(({ name }) => ({
      load: { workload: 'exact' },
      case: name,
      figure: 'allowed',
      least: EXACT_LIMIT,
      most: EXACT_LIMIT,
    })),
];

/**
 * Returns a line for each goal that was missed. Ratios of few rounds and times or memory of few starts are
 * not compared, because other load on the machine would fail the run.
 *
 * @param {import('./results.js').Results} results
 */
export function missedGoals(results) {
  return GOALS.flatMap(({ load, case: name, ratio, figure, least = -Infinity, most = Infinity }) => {
    const numbers = ratio ? results.ratios(load, ratio, figure) : results.figures(load, name, figure);
    const { median } = summarize(numbers) ?? {};
    const isJudged = figure === 'allowed' || numbers.length >= (ratio ? MIN_ROUNDS : MIN_STARTS);
    return isJudged && (median < least || median > most)
      ? [
          `${JSON.stringify(load)}: ${figure} of ${ratio?.join(' / ') ?? name} is ` +
            `${median.toFixed(2)}, and the goal is ` +
            (median < least ? `at least ${least.toFixed(2)}` : `at most ${most.toFixed(2)}`),
        ]
      : [];
  });
}
