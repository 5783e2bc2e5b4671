import pg from 'pg';
import { loadSql, retryConflicts } from '../../database/query-runner.js';
import { configureOnConnect } from '../../database/session.js';
import type { Clock } from '../../settings/clock.js';
import type { Environment } from '../../settings/environment.js';
import { connectionOptions } from './postgres-connection.js';

const LIFT_BAN = loadSql(import.meta.url, 'lift-ban');
/** There may be tens of thousands of bans. */
const TIMEOUT_MS = 3000;
const IDLE_MS = 10_000;

/** Lists and lifts bans, on connections beside the one that counts. */
export class PostgresBans {
  /** Two connections, so that no query waits for one that waits for a row. */
  private readonly pool: pg.Pool;

  constructor(
    environment: Environment,
    private readonly clock: Clock,
  ) {
    this.pool = new pg.Pool({
      ...connectionOptions(environment, 'bans', TIMEOUT_MS),
      idleTimeoutMillis: IDLE_MS,
      max: 2,
      onConnect: configureOnConnect,
      // A server that is gone must not keep the process alive.
      allowExitOnIdle: true,
    });
    // The query in flight, if any, rejects with the same error.
    this.pool.on('error', () => {});
  }

  /** Returns the ends of all bans in force, by bucket key. */
  async list(): Promise<Map<string, Date>> {
    const { rows } = await this.pool.query<{ bucket_key: string; banned_until: Date }>(
      `SELECT bucket_key, banned_until FROM rate_limit_counters
       WHERE banned_until > statement_timestamp() + make_interval(secs => $1::float8 / 1000)`,
      [this.clock.storeOffsetMs],
    );
    return new Map(rows.map(({ bucket_key, banned_until }) => [bucket_key, banned_until]));
  }

  /** Ends the ban of a bucket, and returns when it would have ended, or null when there was none. */
  async lift(bucketKey: string): Promise<Date | null> {
    const { rows } = await retryConflicts(() =>
      this.pool.query<{ banned_until: Date }>(LIFT_BAN.text, [this.clock.storeOffsetMs, bucketKey]),
    );
    return rows[0]?.banned_until ?? null;
  }

  end(): Promise<void> {
    return this.pool.end();
  }
}
