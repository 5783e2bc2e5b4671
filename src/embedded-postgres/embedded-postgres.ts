import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { urlOf } from './postgres-cluster.js';
import { findPostmaster } from './postmaster-pid.js';
import { prepareServer } from './server-config.js';
import { ServerOwner } from './server-owner.js';

/** A PostgreSQL server that this process started or took over, and owns until it stops it. */
export interface EmbeddedPostgres {
  /** The URL of the database `animal_store`, with the password. */
  readonly url: string;
  /**
   * Stops the server, unless another process owns it by now.
   *
   * @throws EmbeddedPostgresError if the server does not stop in time.
   */
  stop(): Promise<void>;
}

const DATABASE = 'animal_store';

/**
 * Starts the PostgreSQL of a data folder, which is created if it does not exist, or takes over a running server whose owner was
 * killed. A server that ends by itself is restarted on the same port.
 *
 * @param stopping once aborted, the server is not restarted.
 * @throws EmbeddedPostgresError if another process owns the server, or it cannot be started; the message says what to do.
 */
export function startEmbeddedPostgres(dataDir: string, stopping?: AbortSignal): Promise<EmbeddedPostgres> {
  return explainFailure(dataDir, async () => {
    const config = await prepareServer(dataDir);
    const owner = new ServerOwner(config, stopping);
    const { lock, port } = await owner.acquire();
    try {
      const { rowCount } = await lock.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
      if (rowCount === 0) {
        await lock.query(`CREATE DATABASE ${DATABASE}`);
      }
      return { url: await urlOf(config.clusterFolder, port, DATABASE), stop: () => owner.stop() };
    } catch (error) {
      await owner.stop();
      throw error;
    }
  });
}

/**
 * Returns the URL of the PostgreSQL that runs in a data folder, whichever process owns it, or null if none accepts connections.
 *
 * @throws EmbeddedPostgresError if the folder belongs to another account.
 */
export function findEmbeddedPostgres(dataDir: string): Promise<string | null> {
  return explainFailure(dataDir, async () => {
    const clusterFolder = join(dataDir, 'postgres');
    const postmaster = await findPostmaster(clusterFolder);
    return postmaster?.ready ? urlOf(clusterFolder, postmaster.port, DATABASE) : null;
  });
}

/** Adds what to do to an error of the file system, a program or PostgreSQL, all of which have a code. */
async function explainFailure<Result>(dataDir: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) {
      throw cause;
    }
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL in ${dataDir} cannot be used: ${cause.message}. Run the service as the user who first started it ` +
        `there (root needs setpriv, as PostgreSQL does not run as root), or set DATA_DIR or DATABASE_URL.`,
      { cause },
    );
  }
}
