import { Injectable } from '@nestjs/common';
import { Batcher } from '../database/batches/batcher.js';
import { PeriodicTask } from '../database/batches/periodic-task.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { loadSql, namedStatement } from '../database/access/statement.js';
import type { UsageCounts } from './rules/usage-counts.js';

/**
 * A batch that is sent again, because its outcome was unknown, is stored once, even if it was aggregated.
 */
const APPEND = namedStatement(
  'journal-usage',
  `INSERT INTO usage_batches (id, written_at, size, entries)
   VALUES ($1::uuid, statement_timestamp(), $2::int, $3::json)
   ON CONFLICT DO NOTHING`,
);
const AGGREGATE = loadSql<{ more: boolean }>(import.meta.url, 'aggregate-usage');
/** The maximum delay between the end of a minute and its aggregation, by whichever replica runs first. */
const INTERVAL_MS = 5000;
/**
 * The maximum entries of one statement. If each has another key, a slow server takes one of the statement's
 * 3.5 seconds.
 */
const MAX_ENTRIES = 10_000;

/**
 * The journal of usage in the database: batches that are not yet in the rows of minutes, hours and days. It
 * is aggregated into these before they are read, and after the end of each minute, so that it stays short.
 */
@Injectable()
export class UsageJournal extends PeriodicTask {
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

  constructor(private readonly prisma: PrismaService) {
    super(INTERVAL_MS, () => this.aggregateSome('this minute'), 'Could not aggregate usage');
  }

  /** @throws the database's error. */
  async append({ id, size, entries }: Pick<UsageCounts, 'id' | 'size' | 'entries'>): Promise<void> {
    await this.prisma.sql.execute(APPEND, id, size, JSON.stringify(entries));
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
    const values = [MAX_ENTRIES, until === 'now'];
    const [row] = await this.prisma.sql.query(AGGREGATE, ...values);
    return row?.more ?? false;
  }
}
