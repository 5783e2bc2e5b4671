import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The key of the advisory lock in the database `postgres`: two arbitrary numbers that never change. */
const LOCK = [1_634_627_937, 1];
const APPLICATION = 'animal-store owner, process ';
/** PostgreSQL releases the lock of a killed owner once it notices the closed connection, which takes a moment. */
const LOCK_TIMEOUT_MS = 1000;
const RETRY_MS = 50;
const RETAKE_MS = 500;
const CONNECT_TIMEOUT_MS = 5000;

/**
 * The ownership of an embedded PostgreSQL: an advisory lock in the server, held by a connection. The lock ends with the process. If only
 * the connection is lost, or the server ends, the lock is acquired again.
 */
export class OwnerLock {
  private client: pg.Client | null = null;
  private taking: Promise<void> | null = null;
  private released = false;

  /** Runs before each attempt to acquire a lost lock again. Never rejects. */
  beforeRetake: () => Promise<void> = () => Promise.resolve();

  constructor(private readonly url: string) {}

  /**
   * Acquires the lock unless it is already held.
   *
   * @throws EmbeddedPostgresError if another process holds it; the error of the connection if that fails.
   */
  async take(): Promise<void> {
    if (this.client === null) {
      // One attempt at a time, as two connections of this process would compete for the lock.
      this.taking ??= this.connectAndLock().finally(() => (this.taking = null));
      await this.taking;
    }
  }

  /** Runs one statement on the connection that holds the lock. */
  async query(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
    if (this.client === null) {
      throw new Error('The owner lock is not held.');
    }
    return this.client.query(text, values);
  }

  /** Releases the lock permanently. Never rejects. */
  async release(): Promise<void> {
    this.released = true;
    await this.client?.end().catch(() => undefined);
  }

  private async connectAndLock(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: APPLICATION + process.pid,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await lock(client);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    this.client = client;
    client.once('end', () => {
      this.client = null;
      this.retakeLater();
    });
  }

  private retakeLater(): void {
    const retake = async () => {
      if (!this.released) {
        await this.beforeRetake();
        await this.take().catch(() => this.retakeLater());
      }
    };
    setTimeout(() => void retake(), RETAKE_MS).unref();
  }
}

async function lock(client: pg.Client): Promise<void> {
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS taken', LOCK);
    if (rows[0].taken) {
      return;
    }
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(await describeHolder(client));
    }
    await sleep(RETRY_MS);
  }
}

async function describeHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query(
    `SELECT pid, application_name, current_setting('data_directory') AS folder
       FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND classid = $1 AND objid = $2 AND granted`,
    LOCK,
  );
  const holder = rows[0];
  const owner = String(holder?.application_name ?? '').replace(APPLICATION, '') || 'unknown';
  return (
    `The embedded PostgreSQL${holder ? ` in ${holder.folder}` : ''} is in use by another animal-store process ` +
    `(process ${owner}${holder ? `, PostgreSQL backend ${holder.pid}` : ''}). ` +
    `Stop it, or set DATA_DIR or DATABASE_URL.`
  );
}
