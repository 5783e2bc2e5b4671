import { Injectable } from '@nestjs/common';
import { Batcher } from '../database/batcher.js';
import { PeriodicDatabaseTask } from '../database/periodic-database-task.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { Clock } from '../settings/clock.js';
import { COUNTS, type UsageEntry } from './rules/usage-counts.js';

const APPEND = loadSql(import.meta.url, 'journal-usage');
const AGGREGATE = loadSql(import.meta.url, 'aggregate-usage');
/** The maximum delay between the end of a minute and its aggregation, by whichever replica runs first. */
const INTERVAL_MS = 5000;
/** The maximum entries of one statement. If each has another key, a slow server takes one of the statement's 3.5 seconds. */
const MAX_ENTRIES = 10_000;

/** The columns of a batch, in the order of the parameters of `journal-usage.sql`. */
const COLUMNS = ['keyId', 'quotaId', 'minute', 'operation', 'deprecated', ...COUNTS, 'lastAtMs'] as const;

/** Entries that are appended together, exactly once. */
export interface UsageBatch {
  /** The UUID of the process that recorded them. */
  recorderId: string;
  /** Greater than the number of every earlier batch of this recorder. */
  number: number;
  entries: readonly UsageEntry[];
}

/**
 * The journal of usage in the database: batches that are not yet in the rows of minutes, hours and days. It is aggregated into these
 * before they are read, and after the end of each minute, so that it stays short.
 */
@Injectable()
export class UsageJournal extends PeriodicDatabaseTask {
  /** Concurrent callers share the next aggregation, so that they leave connections to requests. */
  private readonly aggregations = new Batcher<void, void>(
    async (callers) => {
      while (await this.aggregateSome()) {
        // There is more.
      }
      return callers;
    },
    { name: AGGREGATE.name, maxBatch: Infinity },
  );

  constructor(
    private readonly queries: QueryRunner,
    private readonly clock: Clock,
  ) {
    super(INTERVAL_MS, () => this.aggregateSome('this minute'), 'Usage stays in the journal for now');
  }

  /**
   * Appends a batch. A batch that was appended before is not appended again, so an append with an unknown outcome can be retried.
   *
   * @throws the database's error.
   */
  async append({ recorderId, number, entries }: UsageBatch): Promise<void> {
    const columns = COLUMNS.map((column) => arrayOf(entries, column));
    await this.queries.run(APPEND, [recorderId, number, this.clock.storeOffsetMs, ...columns]);
  }

  /**
   * Aggregates everything that was appended before into minutes, hours and days.
   *
   * @throws the database's error.
   */
  aggregate(): Promise<void> {
    return this.aggregations.load();
  }

  /**
   * Aggregates as much as one statement should.
   *
   * @param until `now` to include the batches of the current minute.
   * @returns whether there is more to aggregate.
   * @throws the database's error.
   */
  async aggregateSome(until: 'now' | 'this minute' = 'now'): Promise<boolean> {
    const values = [MAX_ENTRIES, this.clock.storeOffsetMs, until === 'now'];
    const [row] = await this.queries.run<[more: boolean]>(AGGREGATE, values);
    return row?.[0] ?? false;
  }
}

/** Returns a column of the entries as an array literal of PostgreSQL, which is faster than the driver's conversion of a list. */
function arrayOf(entries: readonly UsageEntry[], column: keyof UsageEntry): string {
  const values =
    column === 'operation'
      ? entries.map(({ operation }) => `"${operation.replaceAll(/["\\]/g, '\\$&')}"`)
      : entries.map((entry) => entry[column]);
  return `{${values.join(',')}}`;
}
