/** How many replicas are measured. */
export const REPLICAS = [1, 2, 4, 8];
/** What counts their requests. */
export const STORES = { postgres: 'PostgreSQL', cluster: 'Redis Cluster' };
/**
 * The connections of each replica when every replica has the same load, and of all when they share one load.
 */
export const [EACH, SHARED] = [32, 64];

/** Returns the name of a replica, and of the case of that many replicas with these connections in all. */
export const replicaName = (store, number) => `${store}-${number}`;
export const caseName = (store, replicas, connections) => `${store} ${replicas} × ${connections / replicas}`;

/** Returns the cases of a store: the same load for each replica, and one load that they share. */
export const replicaCases = (store, counts = REPLICAS) =>
  counts.flatMap((replicas) =>
    [...new Set([EACH * replicas, SHARED])].map((connections) => ({
      name: caseName(store, replicas, connections),
      contestants: Array.from({ length: replicas }, (_, index) => replicaName(store, index + 1)),
      connections,
      workload: 'mix',
    })),
  );
