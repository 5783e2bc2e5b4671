import { Clock } from '../settings/clock.js';
import { PeriodicDatabaseTask } from './periodic-task.js';
import { QueryRunner, type Statement } from './query-runner.js';

const INTERVAL_MS = 60_000;
/** The maximum rows that one statement deletes, so that nothing waits long for it. */
const DELETE_BATCH = 5_000;

/**
 * A statement that deletes expired rows, and returns one row for each: at most `$1`. `$2` is the milliseconds to add to the server's
 * clock, which all replicas share; `$3` and further are its own.
 */
interface Deletion {
  statement: Statement;
  values?: unknown[];
}

/** Deletes expired rows once a minute. */
export abstract class Cleanup extends PeriodicDatabaseTask {
  /** @param what the name of the rows in the log. */
  constructor(
    private readonly queries: QueryRunner,
    private readonly clock: Clock,
    what: string,
    private readonly deletions: Deletion[],
  ) {
    super(INTERVAL_MS, () => this.deleteExpired(), `Expired ${what} were not deleted`);
  }

  /**
   * Runs each statement once.
   *
   * @returns whether there may be more to delete.
   * @throws the database's error.
   */
  async deleteExpired(): Promise<boolean> {
    let more = false;
    for (const { statement, values = [] } of this.deletions) {
      const deleted = await this.queries.run(statement, [DELETE_BATCH, this.clock.storeOffsetMs, ...values]);
      more ||= deleted.length === DELETE_BATCH;
    }
    return more;
  }
}
