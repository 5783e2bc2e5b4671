import { access, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { OwnerLock } from './owner-lock.js';
import { findPostgresBinaries } from './postgres-binaries.js';
import { ensureCluster, POSTGRES_USER, readPassword } from './postgres-cluster.js';
import { chooseServerAccount } from './postgres-command.js';
import { HOST, readServerLog, type ServerConfig, startServer, stopServer } from './postgres-server.js';
import { findPostmaster } from './postmaster-pid.js';
import { type RunningServer, ServerRestarter } from './server-restarter.js';

/** A PostgreSQL server that this process started or took over, and owns until it stops it. */
export interface EmbeddedPostgres {
  /** The URL of the database `animal_store`, with the password. */
  readonly url: string;
  /**
   * Stops the server, unless another process owns it by now. Further calls return the same promise.
   *
   * @throws EmbeddedPostgresError if the server does not stop in time.
   */
  stop(): Promise<void>;
}

interface OwnedServer extends RunningServer {
  lock: OwnerLock;
}

const DATABASE = 'animal_store';
/** The database of the owner lock, which every cluster has. */
const LOCK_DATABASE = 'postgres';
const START_TIMEOUT_S = 60;
const RETRY_MS = 50;

/** Error codes of a PostgreSQL that starts, recovers, stops or is full, and of a socket without a listener. */
const NOT_ACCEPTING = new Set(['53300', '57P01', '57P02', '57P03', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);
/** Messages of `pg`, without a code, for a connection that ended during or between queries. */
const CONNECTION_LOST = /^Connection terminated|not queryable$/;

/**
 * Starts the PostgreSQL of a data folder, which is created if it does not exist, or takes over a running server whose owner was
 * killed. A server that ends by itself is restarted on the same port.
 *
 * @param stopping once aborted, the server is not restarted.
 * @throws EmbeddedPostgresError if another process owns the server, or it cannot be started; the message says what to do.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  stopping?: AbortSignal,
): Promise<EmbeddedPostgres> {
  const config = await prepareServer(dataDir);
  const server = await startAndLock(config);
  const restarter = new ServerRestarter(config, server, stopping);
  server.lock.beforeRetake = () => restarter.restartIfEnded();
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= restarter.stop().then(() => stopOwned(config, server)));
  try {
    const { rowCount } = await server.lock.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) {
      await server.lock.query(`CREATE DATABASE ${DATABASE}`);
    }
    return { url: await urlOf(config.clusterFolder, server.port, DATABASE), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Returns the URL of the PostgreSQL that runs in a data folder, whichever process owns it, or null if none accepts connections.
 *
 * @throws EmbeddedPostgresError if the folder belongs to another account.
 */
export async function findEmbeddedPostgres(dataDir: string): Promise<string | null> {
  const clusterFolder = join(dataDir, 'postgres');
  await checkOwner(clusterFolder);
  const postmaster = await findPostmaster(clusterFolder);
  return postmaster?.ready && postmaster.port !== null
    ? urlOf(clusterFolder, postmaster.port, DATABASE)
    : null;
}

async function prepareServer(dataDir: string): Promise<ServerConfig> {
  const dataFolder = await openDataFolder(dataDir);
  // pg_ctl passes the path to a shell in double quotes.
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

/** Creates the folder if needed. Resolves to its real path, which PostgreSQL uses in messages and on its command line. */
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

/** Root may use every cluster, other accounts only their own. */
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

/** Starts the server unless it runs, and acquires its owner lock. Retries until both succeed or the time is over. */
async function startAndLock(config: ServerConfig): Promise<OwnedServer> {
  const { account, binaries, clusterFolder } = config;
  const deadline = Date.now() + START_TIMEOUT_S * 1000;
  for (;;) {
    let failure: string | null = null;
    if ((await findPostmaster(clusterFolder)) === null) {
      await ensureCluster(clusterFolder, binaries, account);
      failure = await startServer(config);
    }
    const server = await tryLock(clusterFolder);
    if (server !== null) {
      return server;
    }
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        failure ??
          `The PostgreSQL that runs in ${clusterFolder} did not accept connections in ${START_TIMEOUT_S} s. ` +
            `The end of its log:\n${await readServerLog(config)}`,
      );
    }
    await sleep(RETRY_MS);
  }
}

/** Acquires the owner lock. Returns null if the server does not accept connections. */
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
  // Overrides a PGSSLMODE that is meant for another server.
  return `postgresql://${POSTGRES_USER}:${password}@${HOST}:${port}/${database}?sslmode=disable`;
}

/** Stops the server before it releases the lock, so that no process takes over a stopping server. */
async function stopOwned(config: ServerConfig, server: OwnedServer): Promise<void> {
  const { lock } = server;
  try {
    if (await isStillOwned(lock)) {
      await stopServer(config, server.pid);
    }
  } finally {
    await lock.release();
  }
}

/** Returns false if the lock was lost with its connection and another process has acquired it. */
async function isStillOwned(lock: OwnerLock): Promise<boolean> {
  try {
    await lock.take();
    return true;
  } catch (error) {
    return !(error instanceof EmbeddedPostgresError);
  }
}
