/** How many replicas are measured. */
export const REPLICAS = [1, 2, 4, 8];
/** What counts their requests. */
export const STORES = { postgres: 'PostgreSQL', cluster: 'Redis Cluster' };
/** The connections of each replica when every replica has the same load, and of all when they share one load. */
export const [EACH, SHARED] = [32, 64];

/** Returns the name of a replica, and of the case of that many replicas with these connections in all. */
export const replicaName = (store, number) => `${store}-${number}`;
export const caseName = (store, replicas, connections) => `${store} ${replicas} × ${connections / replicas}`;

/** The numbers of replicas with the connections in all: the same load for each replica, and one load that they share. */
export const replicaLoads = (counts = REPLICAS) => [
  ...counts.map((replicas) => [replicas, EACH * replicas]),
  ...counts.filter((replicas) => EACH * replicas !== SHARED).map((replicas) => [replicas, SHARED]),
];

/** Returns the cases of a store. */
export const replicaCases = (store, counts) =>
  replicaLoads(counts).map(([replicas, connections]) => ({
    name: caseName(store, replicas, connections),
    contestants: Array.from({ length: replicas }, (_, index) => replicaName(store, index + 1)),
    connections,
    workload: 'mix',
  }));
