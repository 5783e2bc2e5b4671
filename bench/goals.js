import { median, ratioOf } from './statistics.js';
import { WORKLOADS } from './workloads.js';

const CONNECTIONS = 64;
const FLOORS = ['bare', 'bare-pipelined'];

/** How many times as fast as a peer the service is to be. */
const SPEEDS = [
  {
    peers: ['fastify'],
    title: 'Fastify + pg',
    first: 2,
    filtered: 2,
    deep: 1,
    one: 1.3,
    create: 1.3,
    mix: 1.3,
  },
  {
    peers: FLOORS,
    title: 'the faster node:http + pg',
    first: 1.3,
    filtered: 1.3,
    deep: 0.7,
    one: 0.9,
    create: 1.2,
    mix: 1,
  },
  {
    peers: ['nest-fastify'],
    title: 'NestJS + Fastify + Prisma',
    first: 6,
    filtered: 6,
    deep: 3,
    one: 4,
    create: 3,
    mix: 4,
  },
  {
    ours: 'service-redis',
    peers: ['fastify-redis'],
    title: 'Fastify + pg, both counting in Redis',
    mix: 1.3,
  },
];

const MOST_LATENCY_MS = 0.3;
const MOST_MEMORY_MB = 200;
const LONGEST_START_MS = 1500;

/**
 * What is to be reached, what was seen, and whether that is enough; of what was measured alone.
 *
 * @returns {{ what: string, goal: string, seen: string, reached: boolean }[]}
 */
export function judgeGoals({ turns }) {
  const loadsOf = (name, workload) =>
    turns[name]
      ?.map(({ loads }) => loads[`${workload} ${CONNECTIONS}`])
      .filter((load) => load !== undefined) ?? [];
  return [...speedGoals(loadsOf), ...costGoals(loadsOf), ...otherGoals(turns)];
}

function speedGoals(loadsOf) {
  const speedsOf = (name, workload) => loadsOf(name, workload).map(({ perSecond }) => perSecond);
  return SPEEDS.flatMap(({ ours = 'service', peers, title, ...goals }) =>
    Object.entries(goals).flatMap(([workload, goal]) => {
      const own = speedsOf(ours, workload);
      const [fastest] = peers
        .map((peer) => speedsOf(peer, workload))
        .filter((speeds) => speeds.length > 0)
        .toSorted((one, other) => median(other) - median(one));
      if (own.length === 0 || fastest === undefined) {
        return [];
      }
      const seen = ratioOf(own, fastest).median;
      return [goalOf(`${WORKLOADS[workload]}, against ${title}`, `≥ ${goal}`, seen.toFixed(2), seen >= goal)];
    }),
  );
}

/** What a request costs of server and PostgreSQL together, against Fastify; nothing where the machine does not tell. */
function costGoals(loadsOf) {
  const costsOf = (name, workload) =>
    loadsOf(name, workload)
      .filter(({ serverUs }) => serverUs !== null)
      .map(({ serverUs, postgresUs }) => serverUs + postgresUs);
  return Object.keys(WORKLOADS).flatMap((workload) => {
    const own = costsOf('service', workload);
    const theirs = costsOf('fastify', workload);
    return own.length > 0 && theirs.length > 0
      ? [noMoreThanFastify(`CPU a request, ${WORKLOADS[workload]}`, own, theirs)]
      : [];
  });
}

/** Round by round, as speeds are compared. */
function noMoreThanFastify(what, own, theirs) {
  const ratio = ratioOf(own, theirs).median;
  return goalOf(`${what}, of that of Fastify`, '≤ 1.00', ratio.toFixed(2), ratio <= 1);
}

function otherGoals({ service, fastify }) {
  if (service === undefined) {
    return [];
  }
  const of = (read) => median(service.map(read));
  const goals = [];
  if (fastify !== undefined) {
    const more = of(({ moderate }, round) => moderate.p50Ms - fastify[round].moderate.p50Ms);
    goals.push(
      goalOf(
        'p50 at 500 requests/s, above that of Fastify',
        `≤ ${MOST_LATENCY_MS} ms`,
        `${more.toFixed(2)} ms`,
        more <= MOST_LATENCY_MS,
      ),
    );
    if (fastify[0].half !== null) {
      const p99sOf = (turns) => turns.map(({ half }) => half.p99Ms);
      goals.push(noMoreThanFastify('p99 at half load', p99sOf(service), p99sOf(fastify)));
    }
  }
  const memoryMb = of(({ memoryBytes }) => (memoryBytes ?? 0) / 1e6);
  if (memoryMb > 0) {
    goals.push(
      goalOf(
        'memory after load',
        `< ${MOST_MEMORY_MB} MB`,
        `${memoryMb.toFixed(0)} MB`,
        memoryMb < MOST_MEMORY_MB,
      ),
    );
  }
  const startMs = of((turn) => turn.startMs);
  goals.push(
    goalOf(
      'start to first answer',
      `< ${LONGEST_START_MS} ms`,
      `${startMs.toFixed(0)} ms`,
      startMs < LONGEST_START_MS,
    ),
  );
  return goals;
}

/** A goal, and what was seen of it. */
export const goalOf = (what, goal, seen, reached) => ({ what, goal, seen, reached });
