import { PEERS } from './contestants.js';
import { EXACT_LIMIT, KEYS } from './data.js';
import { summarize } from './results.js';

export const WORKLOADS = { first: 'first page', one: 'by id', create: 'create', mix: 'mix 70/20/10' };

/** Service / peer in requests a second: for first page, by id, create and mix. */
const speed = (peer, connections, ...least) =>
  Object.entries(WORKLOADS).map(([workload, title], index) => ({
    what: `${title} ×${connections}, against ${PEERS[peer].title} (${PEERS[peer].work} work)`,
    load: { workload, connections },
    ratio: ['service', peer],
    figure: 'perSecond',
    least: least[index],
  }));

/** A ratio to plain creations of the service. */
const ofPlain = (what, name, connections, least) => ({
  what: `${what} ×${connections}, against a plain creation`,
  load: { workload: 'create', connections },
  ratio: [name, 'service'],
  figure: 'perSecond',
  least,
});

const latency = (peer) => ({
  what: `p99 at half of its own greatest load, against ${PEERS[peer].title} (${PEERS[peer].work} work)`,
  load: { workload: 'latency' },
  ratio: ['service', peer],
  figure: 'p99Ms',
  most: 1.2,
});

const exact = (replicas) => ({
  what: `requests allowed to a key with ${EXACT_LIMIT} a minute on ${replicas}`,
  load: { workload: 'exact' },
  case: replicas,
  figure: 'allowed',
  least: EXACT_LIMIT,
  most: EXACT_LIMIT,
});

/**
 * The goals. The median of `figure`, of a case or of a ratio between two cases, is at least `least` and at most `most`. A goal
 * that compares speeds holds for each number of keys.
 */
export const GOALS = [
  ...speed('fastify-redis', 256, 1.8, 1.5, 1.5, 1.6),
  ...speed('fastify-redis', 64, 1.8, 1.5, 1.5, 1.6),
  ...speed('fastify-redis', 8, 1.1, 1.1, 1, 1),
  ...speed('fastify-redis', 1, 0.8, 0.8, 0.8, 0.8),
  ...speed('fastify', 64, 1.5, 1, 1.2, 1.3),
  ...speed('fastify', 8, 0.8, 0.8, 0.7, 0.8),
  ...speed('fastify', 1, 0.65, 0.55, 0.5, 0.55),
  ...speed('nest', 64, 3, 3, 3, 3),
  ...speed('nest', 8, 1.5, 1.5, 1.5, 1.5),
  ...speed('nest', 1, 1, 1, 1, 1),
  ofPlain('creation with an Idempotency-Key', 'keyed', 64, 0.6),
  ofPlain('creation with an Idempotency-Key', 'keyed', 8, 0.4),
  ofPlain('order', 'order', 64, 0.7),
  ...Object.entries(WORKLOADS).map(([workload, title]) => ({
    what: `PostgreSQL's CPU a request, ${title} ×8, against the version before`,
    load: { workload, connections: 8 },
    ratio: ['after', 'before'],
    figure: 'postgresUs',
    most: 0.6,
  })),
  latency('fastify-redis'),
  latency('fastify'),
  {
    what: "PostgreSQL's CPU a request, two replicas against one",
    load: { workload: 'replicas' },
    ratio: ['two replicas', 'one replica'],
    figure: 'postgresUs',
    most: 1.3,
  },
  exact('one replica'),
  exact('two replicas'),
  { what: 'memory after load, MB', load: { workload: 'memory' }, case: 'service', figure: 'mb', most: 180 },
  {
    what: 'first response after start, ms',
    load: { workload: 'start' },
    case: 'service',
    figure: 'ms',
    most: 1200,
  },
  {
    what: 'files on the path of GET /v1/pets',
    load: { workload: 'path' },
    case: 'service',
    figure: 'files',
    most: 40,
  },
];

/**
 * Compares every goal with what was measured.
 *
 * @param {import('./results.js').Results} results
 * @returns {{ what: string, goal: string, isRatio: boolean, seen: any[], verdict: string }[]} `seen` has a summary for each of KEYS.
 */
export function judgeGoals(results) {
  return GOALS.map(({ what, load, case: name, ratio, figure, least = -Infinity, most = Infinity }) => {
    const seen = KEYS.map((keys) => {
      const where = { ...load, keys };
      const numbers = ratio ? results.ratios(where, ratio, figure) : results.figures(where, name, figure);
      return summarize(numbers);
    });
    const medians = seen.flatMap((summary) => summary?.median ?? []);
    const isMet = medians.every((median) => median >= least && median <= most);
    return {
      what,
      isRatio: ratio !== undefined,
      goal: least === most ? `${least}` : least > -Infinity ? `≥ ${least}` : `≤ ${most}`,
      seen,
      verdict: medians.length === 0 ? 'not measured' : isMet ? 'met' : 'missed',
    };
  });
}
