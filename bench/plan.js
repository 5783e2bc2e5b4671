import { PEERS } from './contestants.js';
import { KEYS } from './data.js';
import { GOALS, WORKLOADS } from './goals.js';

export const CONNECTIONS = [64, 8, 1, 256];
export const ROUNDS = 30;
const BUSY = 64;
const FEW = 8;
/** By default the service returns 503 to more than 250 requests at once. */
const WIDE = 256;

/**
 * Returns all that is measured, the most important first. A set has cases, which take turns within each round while all of
 * its contestants run. The contestants of one case share its connections.
 *
 * @param {{ quick: boolean, before: boolean }} options `quick` has every contestant and workload once; `before` compares an
 *   earlier version too.
 */
export function planSets({ quick, before }) {
  const everyone = Object.keys(PEERS);
  if (quick) {
    return [...speedSets(FEW, KEYS[0], everyone), latencySet(FEW), replicasSet()];
  }
  const [usual, single] = KEYS;
  const [busy, few, ...rest] = CONNECTIONS;
  const withGoals = (connections, keys) => speedSets(connections, keys, peersWithGoals(connections));
  const others = (connections, keys) =>
    speedSets(
      connections,
      keys,
      everyone.filter((peer) => !peersWithGoals(connections).includes(peer)),
    );
  return [
    ...[busy, few].flatMap((connections) => withGoals(connections, usual)),
    latencySet(BUSY),
    replicasSet(),
    ...rest.flatMap((connections) => withGoals(connections, usual)),
    ...(before ? versionSets() : []),
    ...CONNECTIONS.flatMap((connections) => withGoals(connections, single)),
    ...KEYS.flatMap((keys) => CONNECTIONS.flatMap((connections) => others(connections, keys))),
  ];
}

const peersWithGoals = (connections) =>
  Object.keys(PEERS).filter((peer) =>
    GOALS.some(({ load, ratio }) => load.connections === connections && ratio?.includes(peer)),
  );

function speedSets(connections, keys, peers) {
  const service = connections === WIDE ? 'service-256' : 'service';
  return Object.keys(WORKLOADS).map((workload) => {
    const cases = [
      { name: 'service', contestants: [service], workload },
      ...peers.map((name) => ({ name, contestants: [name], workload })),
    ];
    // Once for each load is enough.
    if (workload === 'create' && peers.includes('fastify-redis')) {
      cases.push(
        { name: 'keyed', contestants: [service], workload: 'keyed' },
        { name: 'order', contestants: [service], workload: 'order' },
      );
    }
    return setOf({ workload, connections, keys }, cases);
  });
}

/** The service beside an earlier version. */
const versionSets = () =>
  Object.keys(WORKLOADS).map((workload) =>
    setOf({ workload, connections: FEW, keys: KEYS[0] }, [
      { name: 'after', contestants: ['after'], workload },
      { name: 'before', contestants: ['before'], workload },
    ]),
  );

/** First pages at half of the service's own greatest rate, which is measured at the begin of each round. */
const latencySet = (connections) => ({
  ...setOf(
    { workload: 'latency', connections, keys: KEYS[0] },
    ['service', 'fastify-redis', 'fastify'].map((name) => ({ name, contestants: [name] })),
  ),
  halfLoadOf: { contestants: ['service'], workload: 'first' },
});

/** The same connections on one replica and on two, which share the core of the one. */
const replicasSet = () => ({
  ...setOf({ workload: 'replicas', connections: BUSY, keys: KEYS[0] }, [
    { name: 'one replica', contestants: ['service'], workload: 'mix' },
    { name: 'two replicas', contestants: ['replica-1', 'replica-2'], workload: 'mix' },
  ]),
  isExact: true,
});

/** `id` distinguishes the sets of one load. */
const setOf = (load, cases) => ({ id: cases.map(({ name }) => name).join(), load, cases });
