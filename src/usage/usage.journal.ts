import { Injectable } from '@nestjs/common';
import { Batcher } from '../database/batcher.js';
import { Clock } from '../settings/clock.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import type { UsageEntry } from './rules/usage-counts.js';

const APPEND = loadSql(import.meta.url, 'journal-usage');
const AGGREGATE = loadSql(import.meta.url, 'aggregate-usage');
/** The maximum entries of one statement. If each has another key, a slow server takes two of the statement's 3.5 seconds. */
const MAX_ENTRIES = 25_000;
/** After a slower statement, the next one takes half as many entries. The limit of a statement is 3.5 seconds. */
const SLOW_MS = 1500;

/** Entries that are appended together, exactly once. */
export interface UsageBatch {
  /** The UUID of the process that recorded them. */
  recorderId: string;
  /** Greater than the number of every earlier batch of this recorder. */
  number: number;
  entries: readonly UsageEntry[];
}

/** The journal of usage in the database: batches that are not yet in the rows of minutes, hours and days. */
@Injectable()
export class UsageJournal {
  private maxEntries = MAX_ENTRIES;
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
  ) {}

  /**
   * Appends a batch. A batch that was appended before is not appended again, so an append with an unknown outcome can be retried.
   *
   * @throws the database's error.
   */
  async append({ recorderId, number, entries }: UsageBatch): Promise<void> {
    await this.queries.run(APPEND, [
      recorderId,
      number,
      this.clock.storeOffsetMs,
      arrayOf(entries, ({ keyId }) => keyId),
      arrayOf(entries, ({ quotaId }) => quotaId),
      arrayOf(entries, ({ minute }) => minute),
      arrayOf(entries, ({ operation }) => quoted(operation)),
      arrayOf(entries, ({ deprecated }) => deprecated),
      arrayOf(entries, ({ succeeded }) => succeeded),
      arrayOf(entries, ({ redirected }) => redirected),
      arrayOf(entries, ({ clientErrors }) => clientErrors),
      arrayOf(entries, ({ serverErrors }) => serverErrors),
      arrayOf(entries, ({ refusals }) => refusals),
      arrayOf(entries, ({ lastAtMs }) => Math.round(lastAtMs)),
    ]);
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
    const { storeOffsetMs } = this.clock;
    const startMs = performance.now();
    try {
      const [row] = await this.queries.run<[more: boolean]>(AGGREGATE, [
        this.maxEntries,
        storeOffsetMs,
        until === 'now',
      ]);
      return row?.[0] ?? false;
    } finally {
      const slow = performance.now() - startMs > SLOW_MS;
      this.maxEntries = Math.min(Math.ceil(this.maxEntries * (slow ? 0.5 : 1.25)), MAX_ENTRIES);
    }
  }
}

/** Returns one column of the entries as an array literal of PostgreSQL, which is faster than the driver's conversion of a list. */
function arrayOf(
  entries: readonly UsageEntry[],
  column: (entry: UsageEntry) => string | number | boolean,
): string {
  return `{${entries.map(column).join(',')}}`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
