import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';

const MAIN = path.join(import.meta.dirname, '..', '..', '..', 'dist', 'main.js');
const SHIFTABLE_CLOCK = new URL('shiftable-clock.js', import.meta.url).href;

/** Settings of this machine that the service must not inherit. */
const CLEAN = {
  DATABASE_URL: '',
  DIRECT_DATABASE_URL: '',
  COUNTER_STORE_URL: '',
  APP_ENV: '',
  NODE_ENV: '',
  HOST: '',
  EXPERIMENTAL: '',
  PORT: '0',
  // Once this schema is there, its functions take the place of PostgreSQL's own.
  PGOPTIONS: '-csearch_path=public,test_clock,pg_catalog',
};

/**
 * Starts the real service with a PostgreSQL of its own, open to pages of every origin. `travel` moves the
 * clocks of both on by milliseconds.
 */
export async function startService() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'animal-store-client-'));
  const child = spawn(process.execPath, ['--import', SHIFTABLE_CLOCK, MAIN], {
    // No .env lies here.
    cwd: dataDir,
    env: { ...process.env, ...CLEAN, DATA_DIR: path.join(dataDir, 'data'), CORS_ORIGINS: '*' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'close');
  const exited = once(child, 'exit');
  const stop = async () => {
    if (child.connected) {
      // The channel of the clock would keep it running.
      child.disconnect();
      child.kill('SIGTERM');
      // Without the channel, 'close' may never come.
      await exited;
    }
    await rm(dataDir, { recursive: true });
  };
  let offsetMs = 0;
  const travel = async (milliseconds) => {
    offsetMs += Math.ceil(milliseconds);
    await moveDatabase(path.join(dataDir, 'data'), offsetMs);
    child.send(offsetMs);
    await once(child, 'message');
  };
  try {
    const url = await findAddress(child, ended);
    const keys = JSON.parse(await readFile(path.join(dataDir, 'data', 'demo-keys.json'), 'utf8'));
    return { url, adminKey: keys.admin, travel, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Has the database of the service add milliseconds to the time of this machine. */
async function moveDatabase(dataDir, offsetMs) {
  const connectionString = await readFile(path.join(dataDir, 'postgres', 'animal_store.url'), 'utf8');
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('CREATE SCHEMA IF NOT EXISTS test_clock');
  for (const name of ['statement_timestamp', 'clock_timestamp']) {
    await client.query(`
      CREATE OR REPLACE FUNCTION test_clock.${name}() RETURNS timestamptz STABLE LANGUAGE sql
      RETURN pg_catalog.${name}() + make_interval(secs => ${offsetMs} / 1000.0)`);
  }
  await client.end();
}

function findAddress({ stdout }, ended) {
  return new Promise((resolve, reject) => {
    let output = '';
    stdout.setEncoding('utf8').on('data', (text) => {
      // Later output is not needed, but must be read.
      output = (output + text).slice(-10_000);
      const [, address] = /Animal Store listens on (http:\/\/[^\s,]+)/.exec(output) ?? [];
      if (address !== undefined) {
        resolve(address);
      }
    });
    ended.then(() => reject(new Error(`The service did not start:\n${output}`)), reject);
  });
}
