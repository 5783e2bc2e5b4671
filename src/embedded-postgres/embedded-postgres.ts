import { access, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { OwnerLock } from './owner-lock.js';
import { findPostgresBinaries } from './postgres-binaries.js';
import { ensureCluster, POSTGRES_USER, readPassword } from './postgres-cluster.js';
import { chooseServerAccount } from './postgres-command.js';
import { HOST, readServerLog, type ServerPlace, startServer, stopServer } from './postgres-server.js';
import { findPostmaster } from './postmaster-pid.js';
import { type RunningServer, ServerRestarter } from './server-restarter.js';

/** A PostgreSQL that this process has started, or taken over, and owns until it stops it. */
export interface EmbeddedPostgres {
  /** Of the database `animal_store`; holds the password. */
  readonly url: string;
  /**
   * Stops the server, unless another process owns it by now. Calling it again waits for the same end.
   *
   * @throws EmbeddedPostgresError when the server does not stop in time.
   */
  stop(): Promise<void>;
}

interface OwnedServer extends RunningServer {
  lock: OwnerLock;
}

const DATABASE = 'animal_store';
/** The database that is always there, where the owner lock is. */
const LOCK_DATABASE = 'postgres';
const PATIENCE_S = 60;
const RETRY_MS = 50;

/** What PostgreSQL answers when it starts, recovers, stops or is full, and a socket when nobody listens. */
const NOT_ACCEPTING = new Set(['53300', '57P01', '57P02', '57P03', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);
/** What `pg` says, without a code, of a connection that ended under a question or between two. */
const CONNECTION_LOST = /^Connection terminated|not queryable$/;

/**
 * Starts the PostgreSQL of a data folder, created when absent, or takes over one that runs there without an
 * owner because its owner was killed. A server that ends by itself is started again, on the same port.
 *
 * @param stopping once aborted, it is not started again.
 * @throws EmbeddedPostgresError when another process owns it, or it cannot be had; the message says what to do.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  stopping?: AbortSignal,
): Promise<EmbeddedPostgres> {
  const place = await openPlace(dataDir);
  const server = await startAndLock(place);
  const restarter = new ServerRestarter(place, server, stopping);
  server.lock.beforeRetake = () => restarter.restartIfEnded();
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= restarter.stop().then(() => stopOwned(place, server)));
  try {
    const { rowCount } = await server.lock.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) {
      await server.lock.query(`CREATE DATABASE ${DATABASE}`);
    }
    return { url: await urlOf(place.clusterFolder, server.port, DATABASE), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The URL of the PostgreSQL that runs in a data folder now, whoever owns it, or null when none accepts connections.
 *
 * @throws EmbeddedPostgresError when the folder is of another account.
 */
export async function findEmbeddedPostgres(dataDir: string): Promise<string | null> {
  const clusterFolder = join(dataDir, 'postgres');
  await checkOwner(clusterFolder);
  const postmaster = await findPostmaster(clusterFolder);
  return postmaster?.ready && postmaster.port !== null
    ? urlOf(clusterFolder, postmaster.port, DATABASE)
    : null;
}

async function openPlace(dataDir: string): Promise<ServerPlace> {
  const dataFolder = await openDataFolder(dataDir);
  // pg_ctl hands the path to a shell between double quotes.
  if (platform() !== 'win32' && /["$`\\\n]/.test(dataFolder)) {
    throw new EmbeddedPostgresError(
      `PostgreSQL cannot be started in ${dataFolder}, because of the quote, $, \` or \\ in its path. Set DATA_DIR.`,
    );
  }
  const clusterFolder = join(dataFolder, 'postgres');
  await checkOwner(clusterFolder);
  return {
    dataFolder,
    clusterFolder,
    account: await chooseServerAccount(clusterFolder),
    binaries: await findPostgresBinaries(),
  };
}

/** Resolves to its real path, which is how PostgreSQL names it. */
async function openDataFolder(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.W_OK);
    return await realpath(dataDir);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The data folder cannot be used (${(cause as Error).message}). Set DATA_DIR or DATABASE_URL.`,
      { cause },
    );
  }
}

/** Root may use every cluster; everybody else only their own. */
async function checkOwner(clusterFolder: string): Promise<void> {
  const own = process.getuid?.() ?? 0;
  let owner: number;
  try {
    owner = (await stat(clusterFolder)).uid;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return;
    }
    owner = -1;
  }
  if (own !== 0 && owner !== own) {
    throw new EmbeddedPostgresError(
      `${clusterFolder} belongs to another user${owner < 0 ? '' : ` (${owner})`} than this process (${own}). ` +
        `Run it as the user who first started it here, or set DATA_DIR or DATABASE_URL.`,
    );
  }
}

/** Starts the server unless it runs, and takes its owner lock; again until both are there. */
async function startAndLock(place: ServerPlace): Promise<OwnedServer> {
  const { account, binaries, clusterFolder } = place;
  const deadline = Date.now() + PATIENCE_S * 1000;
  for (;;) {
    let failure: string | null = null;
    if ((await findPostmaster(clusterFolder)) === null) {
      await ensureCluster(clusterFolder, binaries, account);
      failure = await startServer(place);
    }
    const server = await tryLock(clusterFolder);
    if (server !== null) {
      return server;
    }
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        failure ??
          `The PostgreSQL that runs in ${clusterFolder} did not accept connections in ${PATIENCE_S} s. ` +
            `The end of its log:\n${await readServerLog(place)}`,
      );
    }
    await sleep(RETRY_MS);
  }
}

/** Null when the server does not accept connections now. */
async function tryLock(clusterFolder: string): Promise<OwnedServer | null> {
  const postmaster = await findPostmaster(clusterFolder);
  if (!postmaster?.ready || postmaster.port === null) {
    return null;
  }
  const { pid, port } = postmaster;
  const lock = new OwnerLock(await urlOf(clusterFolder, port, LOCK_DATABASE));
  try {
    await lock.take();
    return { lock, pid, port };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (NOT_ACCEPTING.has(code ?? '') || CONNECTION_LOST.test(message)) {
      return null;
    }
    throw error;
  }
}

async function urlOf(clusterFolder: string, port: number, database: string): Promise<string> {
  const password = await readPassword(clusterFolder);
  // Said here, as a PGSSLMODE meant for another server would count otherwise.
  return `postgresql://${POSTGRES_USER}:${password}@${HOST}:${port}/${database}?sslmode=disable`;
}

/** Stops the server while still owning it, so that nobody takes over one that is about to stop. */
async function stopOwned(place: ServerPlace, server: OwnedServer): Promise<void> {
  const { lock } = server;
  try {
    if (await isStillOurs(lock)) {
      await stopServer(place, server.pid);
    }
  } finally {
    await lock.release();
  }
}

/** False when the lock was lost with its connection, and another process took it before we could again. */
async function isStillOurs(lock: OwnerLock): Promise<boolean> {
  try {
    await lock.take();
    return true;
  } catch (error) {
    return !(error instanceof EmbeddedPostgresError);
  }
}
