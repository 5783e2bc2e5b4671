import { Injectable } from '@nestjs/common';
import { Batcher } from '../batcher.js';
import { Clock } from '../clock.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import type { TallyEntry } from './tally.js';

const JOURNAL = loadSql(import.meta.url, 'journal-usage');
const FOLD = loadSql(import.meta.url, 'fold-usage');
/** Entries that one statement folds at most. If each is of another key, a slow server takes two of its 3.5 seconds for them. */
const ENTRIES_PER_FOLD = 25_000;
/** Where one takes longer, as keys are more or the server is slower, the next folds half as many: a statement has 3.5 seconds. */
const SLOW_FOLD_MS = 1500;

/** Entries that are written together, once. */
export interface UsageBatch {
  /** The UUID of the process that recorded them. */
  recorderId: string;
  /** Greater than that of every batch which this recorder sealed before. */
  number: number;
  entries: readonly TallyEntry[];
}

/** What was recorded, in the database, before it is added to minutes, hours and days. */
@Injectable()
export class UsageJournal {
  private entriesPerFold = ENTRIES_PER_FOLD;
  /** All who wait for a fold share the next one, so that they do not take the connections of requests. */
  private readonly folding = new Batcher<void, void>(
    async (waiting) => {
      while (await this.foldSome()) {
        // There is more.
      }
      return waiting;
    },
    { name: FOLD.name, maxBatch: Infinity },
  );

  constructor(
    private readonly statements: QueryRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Appends a batch. One that was appended already is not appended again, so whoever does not know what became of it may
   * simply try again.
   *
   * @throws the database's error.
   */
  async append({ recorderId, number, entries }: UsageBatch): Promise<void> {
    await this.statements.run(JOURNAL, [
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
   * Adds everything that was appended before to the minutes, hours and days.
   *
   * @throws the database's error.
   */
  fold(): Promise<void> {
    return this.folding.load();
  }

  /**
   * Folds as much as one statement should.
   *
   * @param until whether what was appended in the current minute is folded too.
   * @returns whether there is more to fold.
   * @throws the database's error.
   */
  async foldSome(until: 'now' | 'this minute' = 'now'): Promise<boolean> {
    const { storeOffsetMs } = this.clock;
    const startMs = performance.now();
    try {
      const [answer] = await this.statements.run<[more: boolean]>(FOLD, [
        this.entriesPerFold,
        storeOffsetMs,
        until === 'now',
      ]);
      return answer?.[0] ?? false;
    } finally {
      const slow = performance.now() - startMs > SLOW_FOLD_MS;
      this.entriesPerFold = Math.min(Math.ceil(this.entriesPerFold * (slow ? 0.5 : 1.25)), ENTRIES_PER_FOLD);
    }
  }
}

/** One column of the entries, as PostgreSQL reads an array: the driver takes longer over a list. */
function arrayOf(
  entries: readonly TallyEntry[],
  column: (entry: TallyEntry) => string | number | boolean,
): string {
  return `{${entries.map(column).join(',')}}`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
