import pg from 'pg';
import { PeriodicDatabaseTask } from '../../database/periodic-database-task.js';
import { loadSql } from '../../database/query-runner.js';
import { configureSession } from '../../database/session.js';
import type { Clock } from '../../settings/clock.js';
import type { Environment } from '../../settings/environment.js';
import { connectionOptions, endConnection } from './postgres-connection.js';

const DELETE_EXPIRED = loadSql(import.meta.url, 'delete-expired-counters');
const INTERVAL_MS = 60_000;
/** Rows that one statement deletes at most, so that counting never waits long behind it. */
const DELETE_BATCH = 5_000;
/** The statement reads all rows. */
const TIMEOUT_MS = 30_000;

/** Deletes counters whose windows are over, once a minute, on a connection of its own, because that takes long. */
export class CounterCleanup extends PeriodicDatabaseTask {
  /** The connection of the statement in flight. */
  private client: pg.Client | null = null;

  constructor(
    private readonly environment: Environment,
    private readonly clock: Clock,
  ) {
    super(INTERVAL_MS, () => this.deleteExpired(), 'Old counters were not removed');
  }

  override async onApplicationShutdown(): Promise<void> {
    // The statement in flight is cut off: any replica does the rest.
    await Promise.all([super.onApplicationShutdown(), this.client && endConnection(this.client)]);
  }

  /**
   * Deletes one batch.
   *
   * @returns whether there may be more.
   * @throws the driver's error.
   */
  async deleteExpired(): Promise<boolean> {
    const client = new pg.Client(connectionOptions(this.environment, 'cleanup', TIMEOUT_MS));
    // The query in flight rejects with the same error.
    client.on('error', () => {});
    this.client = client;
    try {
      await client.connect();
      await configureSession(client);
      const { rowCount } = await client.query(DELETE_EXPIRED.text, [this.clock.storeOffsetMs, DELETE_BATCH]);
      return rowCount === DELETE_BATCH;
    } finally {
      this.client = null;
      await endConnection(client);
    }
  }
}
