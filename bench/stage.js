import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startEmbeddedPostgres } from '../dist/database/migrations/embedded/embedded-postgres.js';
import { startRedis, startRedisCluster } from '../test/support/programs/redis.js';
import { checkResponses } from './checks.js';
import { copyTemplate, createTemplate, generateKeys } from './data.js';
import { runWrk } from './load.js';
import { moveToCore, OTHER_CORE, residentMb } from './machine.js';
import { startServer } from './server.js';

/** On the disk that the embedded database of the service would use. */
const DATA_DIR = path.join(import.meta.dirname, '.data');
const TEMPLATE = 'bench_template';
const WARM_UP_CONNECTIONS = 64;

/**
 * Starts PostgreSQL and Redis, and prepares the data. Contestants are started when they are needed, each on a
 * copy of its own.
 *
 * @param {{ node: string, contestants: Record<string, any>, warmUp: string[] }} options
 * @param {(workload: string, name: string, figures: object) => void} record gets the time that a contestant
 *   took to start, and its memory when it is stopped.
 */
export async function openStage({ node, contestants, warmUp }, record) {
  const postgres = await startEmbeddedPostgres(DATA_DIR);
  const running = new Map();
  let redis;
  let cluster;
  const stop = async (name) => {
    const { server } = running.get(name);
    running.delete(name);
    record('memory', name, { mb: residentMb(server.pid) });
    await server.stop();
  };
  const close = async () => {
    await Promise.all([...running.keys()].map(stop));
    await Promise.all([redis?.stop(), cluster?.stop()]);
    await postgres.stop();
    await rm(DATA_DIR, { recursive: true });
  };
  try {
    const postgresPid = Number.parseInt(
      await readFile(path.join(DATA_DIR, 'postgres/postmaster.pid'), 'utf8'),
      10,
    );
    moveToCore(OTHER_CORE, process.pid);
    moveToCore(OTHER_CORE, postgresPid);
    redis = await startRedis();
    const keys = generateKeys();
    await createTemplate(postgres.url, TEMPLATE, keys);
    const { before } = contestants;
    if (before !== undefined) {
      await createTemplate(postgres.url, before.template, keys, before.migrations);
    }
    const keysFile = path.join(DATA_DIR, 'keys.txt');
    await writeFile(keysFile, keys.load.join('\n'), { mode: 0o600 });

    const launch = async (contestant, database) => {
      if (contestant.usesCluster) {
        cluster ??= await startRedisCluster();
      }
      return startServer(node, contestant, keys.load[0], {
        DATABASE_URL: database,
        ...(contestant.usesRedis && { REDIS_URL: redis.url }),
        ...(contestant.usesCluster && { COUNTER_STORE_URL: cluster.masters.map(({ url }) => url).join(',') }),
      });
    };
    const start = async (name) => {
      const contestant = contestants[name];
      const { database = name, template = TEMPLATE } = contestant;
      const sibling = [...running.values()].find((other) => other.database === database);
      const databaseUrl =
        sibling?.databaseUrl ?? (await copyTemplate(postgres.url, template, `bench_${database}`));
      const server = await launch(contestant, databaseUrl);
      running.set(name, { server, database, databaseUrl });
      record('start', name, { ms: server.startMs });
      await checkResponses(contestant, server.url, keys.load[0], databaseUrl);
    };

    return {
      keys,
      keysFile,
      postgresPid,
      /** Of the server and the Cluster. */
      redisPids: () => [redis, ...(cluster?.masters ?? [])].map(({ pid }) => pid),
      close,
      /** Starts a contestant beside the others, on a fresh copy of the data. */
      launchAlone: async (contestant) =>
        launch(contestant, await copyTemplate(postgres.url, TEMPLATE, 'bench_alone')),
      /** Has exactly these contestants running, each checked and warm, and returns them by name. */
      async ensureRunning(names) {
        for (const name of [...running.keys()].filter((each) => !names.includes(each))) {
          await stop(name);
        }
        const missing = names.filter((each) => !running.has(each));
        for (const name of missing) {
          await start(name);
        }
        // All contestants, because one that was idle is slower than one that has just been warmed up.
        for (const workload of missing.length > 0 ? warmUp : []) {
          for (const name of names) {
            await runWrk(running.get(name).server.url, {
              workload,
              connections: WARM_UP_CONNECTIONS,
              keysFile,
            });
          }
        }
        return running;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
