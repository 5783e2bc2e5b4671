import { PeriodicTask } from './periodic-task.js';
import { PrismaService } from '../access/prisma.service.js';
import { namedStatement, type Statement } from '../access/statement.js';
import { MINUTE_MS } from '../../process/time-units.js';

const INTERVAL_MS = MINUTE_MS;
/** The maximum rows that one statement deletes, so that nothing waits long for it. */
const DELETE_BATCH = 5_000;

/**
 * Returns the statement that deletes the rows of a table that meet a condition, at most `$1` of them. Locked
 * rows are skipped, so that a deletion takes part in no deadlock.
 */
export function deletion(table: string, condition: string): Statement {
  return namedStatement(
    `delete-expired-${table}`,
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${table} WHERE ${condition} LIMIT $1 FOR UPDATE SKIP LOCKED))`,
  );
}

/** Deletes expired rows once a minute. */
export abstract class Cleanup extends PeriodicTask {
  /** @param what the name of the rows in the log. */
  constructor(
    private readonly prisma: PrismaService,
    what: string,
    private readonly deletions: Statement[],
  ) {
    super(INTERVAL_MS, () => this.deleteExpired(), `Could not delete expired ${what}`);
  }

  /**
   * Runs each deletion once.
   *
   * @returns whether there may be more to delete.
   * @throws the database's error.
   */
  async deleteExpired(): Promise<boolean> {
    let more = false;
    for (const statement of this.deletions) {
      const deleted = await this.prisma.sql.execute(statement, DELETE_BATCH);
      more ||= deleted === DELETE_BATCH;
    }
    return more;
  }
}
