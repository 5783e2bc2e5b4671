import { readFileSync } from 'node:fs';
import path from 'node:path';
import { REPLICAS, replicaName, STORES } from './replicas.js';

const here = (...names) => path.join(import.meta.dirname, ...names);

/** What `npm start` gives to `node`. */
const { start } = JSON.parse(readFileSync(here('..', 'package.json'), 'utf8')).scripts;
const program = /\bnode (.+?\.js)/.exec(start)[1].split(' ');
const runFrom = (folder) => [...program.slice(0, -1), path.resolve(folder, program.at(-1))];

const service = {
  title: 'this service',
  program: runFrom(here('..')),
  // Orders are experimental, and measured.
  env: { APP_ENV: 'production', HOST: '127.0.0.1', EXPERIMENTAL: 'true' },
};
/** An earlier version, on a database with its own tables. */
const earlier = (folder) => ({
  ...service,
  program: runFrom(folder),
  template: 'bench_template_before',
  migrations: path.resolve(folder, 'prisma', 'migrations'),
});
const fastify = { title: 'Fastify, pg', program: [here('peers', 'fastify.js')] };

/**
 * What users would write instead. A peer with `usesRedis` gets REDIS_URL, and does equal work: its replicas
 * share the counters.
 */
export const PEERS = {
  'fastify-redis': { ...fastify, title: 'Fastify, pg, Redis', usesRedis: true },
  fastify,
  nest: { title: 'stock NestJS, Prisma', program: [here('peers', 'nest', 'dist', 'main.js')] },
};

/** Replicas of a store share a database. Those with `usesCluster` count in a Redis Cluster. */
const replicas = Object.fromEntries(
  Object.keys(STORES).flatMap((store) =>
    Array.from({ length: Math.max(...REPLICAS) }, (_, index) => [
      replicaName(store, index + 1),
      { ...service, database: store, usesCluster: store === 'cluster', hasMetrics: true },
    ]),
  ),
);

/**
 * Returns the contestants that are measured, by name. `program` is given to Node; contestants that name the
 * same `database` share it.
 *
 * @param {string | undefined} before folder of a built earlier version of the service.
 */
export const listContestants = (before) => ({
  service,
  'service-256': { ...service, env: { ...service.env, MAX_CONCURRENT_REQUESTS_PER_OPERATION: '1000' } },
  ...replicas,
  // Compared on equally fresh data.
  ...(before && { before: earlier(before), after: service }),
  ...PEERS,
});
