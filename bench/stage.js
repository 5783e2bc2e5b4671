import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startEmbeddedPostgres } from '../dist/embedded-postgres/embedded-postgres.js';
import { findPostmaster } from '../dist/embedded-postgres/postmaster-pid.js';
import { makeTemplate } from './data.js';
import { moveToCores, OTHER_CORES } from './machine.js';
import { cpuUsOfTree } from './processes.js';
import { startRedis } from './redis.js';

/** On the disk that the service's own demonstration would use. */
const DATA_DIR = path.join(import.meta.dirname, '.data');
const CURSORS = 10_000;
const PAGE = 20;

/**
 * Starts what everybody stands on: the service's embedded PostgreSQL as it is, with the data in a template, and a
 * Redis where one is asked for.
 *
 * @param {{ animals: number, keys: number, redis?: boolean }} needs
 */
export async function openStage({ animals, keys: keyCount, redis: needsRedis = false }) {
  const postgres = await startEmbeddedPostgres(DATA_DIR);
  let redis = null;
  const close = async () => {
    await redis?.stop();
    await postgres.stop();
    await rm(DATA_DIR, { recursive: true });
  };
  try {
    const { pid: postgresPid } = await findPostmaster(path.join(DATA_DIR, 'postgres'));
    moveToCores(OTHER_CORES, process.pid);
    moveToCores(OTHER_CORES, postgresPid);
    redis = needsRedis ? await startRedis() : null;
    const keys = await makeTemplate(postgres.url, { animals, keys: keyCount });
    const files = { keys: path.join(DATA_DIR, 'keys.txt'), cursors: path.join(DATA_DIR, 'cursors.txt') };
    await writeFile(files.keys, keys.join('\n'), { mode: 0o600 });
    return {
      serverUrl: postgres.url,
      redisUrl: redis?.url,
      postgresPid,
      keys,
      files,
      animals,
      /** All that this bench has used of the processors. */
      ownCpuUs: () => cpuUsOfTree(process.pid) + cpuUsOfTree(postgresPid),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Writes places in the list for wrk to read, as a contestant names them.
 *
 * @param {{ files: { cursors: string }, animals: number }} stage
 * @param {{ cursorOf: (id: number) => string }} contestant
 * @param {number[]} places random ones, unless they are given.
 */
export async function writeCursors({ files, animals }, { cursorOf }, places = randomPlaces(animals)) {
  await writeFile(files.cursors, places.map(cursorOf).join('\n'));
}

function randomPlaces(animals) {
  const last = Math.max(1, animals - PAGE);
  return Array.from({ length: CURSORS }, () => Math.floor(Math.random() * last));
}
