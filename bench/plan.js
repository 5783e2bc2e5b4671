import { PEERS } from './contestants.js';
import { GOALS, WORKLOADS } from './goals.js';
import { EACH, replicaCases, STORES } from './replicas.js';

export const CONNECTIONS = [1, 8, 64, 256];
export const ROUNDS = 12;
const BUSY = 64;
const FEW = 8;
/** By default the service has slots for 250 requests at once. */
const WIDE = 256;
export const BEFORE_WORKLOADS = ['first', 'one', 'create', 'keyed'];

/**
 * Returns all that is measured. A set has cases, which take turns within each round while all of its
 * contestants run. The contestants of one case share its connections.
 *
 * @param {{ kind: string, before: boolean }} options the kind `quick` has every contestant and workload once,
 *   `replicas` compares numbers of replicas instead; `before` compares with an earlier version instead.
 */
export function planSets({ kind, before }) {
  const quick = kind === 'quick';
  if (kind === 'replicas') {
    return Object.keys(STORES).map((store) => replicasSet(store));
  }
  if (before) {
    return CONNECTIONS.filter((connections) => connections !== WIDE).flatMap((connections) =>
      BEFORE_WORKLOADS.map((workload) => versionSet({ workload, connections })),
    );
  }
  return [
    ...(quick
      ? speedSets(FEW, Object.keys(PEERS))
      : CONNECTIONS.flatMap((connections) => speedSets(connections, peersAt(connections)))),
    latencySet(quick ? FEW : BUSY),
    ...(quick ? Object.keys(STORES).map((store) => replicasSet(store, [2])) : []),
  ];
}

const peersAt = (connections) =>
  Object.keys(PEERS).filter((peer) =>
    GOALS.some(({ load, ratio }) => load.connections === connections && ratio?.includes(peer)),
  );

function speedSets(connections, peers) {
  const service = connections === WIDE ? 'service-256' : 'service';
  return Object.keys(WORKLOADS).map((workload) => {
    const cases = [
      { name: 'service', contestants: [service], workload },
      ...peers.map((name) => ({ name, contestants: [name], workload })),
    ];
    if (workload === 'create') {
      cases.push(
        { name: 'keyed', contestants: [service], workload: 'keyed' },
        { name: 'order', contestants: [service], workload: 'order' },
      );
    }
    return createSet({ workload, connections }, cases);
  });
}

/** The service beside an earlier version. */
const versionSet = (load) =>
  createSet(
    load,
    ['after', 'before'].map((name) => ({ name, contestants: [name], workload: load.workload })),
  );

/** First pages at half of the service's own greatest rate, which is measured at the start of each round. */
const latencySet = (connections) => ({
  ...createSet(
    { workload: 'latency', connections },
    ['service', 'fastify-redis', 'fastify'].map((name) => ({ name, contestants: [name] })),
  ),
  halfLoadOf: { contestants: ['service'], workload: 'first' },
});

/** Replicas of one store, which share the core of one. */
const replicasSet = (store, counts) => ({
  ...createSet({ workload: 'replicas', connections: EACH }, replicaCases(store, counts)),
  isExact: true,
});

/** `id` distinguishes the sets of one load. */
const createSet = (load, cases) => ({ id: cases.map(({ name }) => name).join(), load, cases });
