import { databaseReason } from '../database/availability.js';
import type { RateLimitDecision } from './rate-limit-decision.js';

/** One request that requests for room in the windows of its bucket. */
export interface RateLimitRequest {
  /** Whose windows: `quota:ID` of a client, `address:IP` of a stranger. */
  bucketKey: string;
  perMinute: number;
  /** Absent for strangers, who have no day window. */
  perDay: number | null;
}

/** What was allowed to one bucket without the store, in the last minute and the last day that this happened in. */
export interface UnreportedUsage {
  bucketKey: string;
  perMinute: number;
  /** Absent for strangers, who have no day window. */
  perDay: number | null;
  /** Number of the minute since the Unix epoch. */
  minute: number;
  minuteUsed: number;
  /** Number of the day since the Unix epoch. */
  day: number;
  dayUsed: number;
}

/**
 * Why a question was not answered.
 *
 * - `noConnection`: there is no connection. Nothing was counted.
 * - `failed`: the store answered with an error, or no connection came about in time. Nothing was counted.
 * - `outcomeUnknown`: it was asked, and nobody knows whether it was counted.
 * - `wrongType`: in the place of the bucket's counts the store has something else. Nothing was counted, nor can be until that is
 *   removed; the store is there, and counts other subjects.
 * - `conflict`: each time it was tried, statements of others had changed the same rows meanwhile. Nothing was counted; the store
 *   is there.
 * - `notSent`: it was never asked, because the question before it was not answered.
 */
export type FailureKind = 'noConnection' | 'failed' | 'outcomeUnknown' | 'wrongType' | 'conflict' | 'notSent';

/** A question to a counter store that was not answered, or a part of it that was not. */
export class CounterStoreError extends Error {
  /** The driver's code, if any. */
  readonly code: unknown;
  /** What tells this question from others: where its parts failed in several ways, the errors of all have the same. */
  query: object = this;

  constructor(
    readonly kind: FailureKind,
    override readonly cause: unknown,
  ) {
    const { code, where } = (cause ?? {}) as { code?: unknown; where?: string };
    // PostgreSQL names there the row that somebody else holds.
    super(
      where === undefined ? databaseReason(cause) : `${databaseReason(cause)} (${where.split('\n', 1)[0]})`,
    );
    this.code = code;
  }
}

/** An adding of which some may have been carried out. */
export class PartialReconcileError extends CounterStoreError {
  /** @param notReconciled those that were surely not added; of the others that were not, nobody knows. */
  constructor(
    { kind, cause }: CounterStoreError,
    readonly notReconciled: readonly UnreportedUsage[],
  ) {
    super(kind, cause);
  }
}

/** Where windows are counted. One store serves all replicas. */
export abstract class CounterStore {
  /**
   * Takes one request from every window of the bucket if all have room, else from none, in one atomic step.
   *
   * @throws CounterStoreError when the store is away.
   */
  abstract consume(request: RateLimitRequest): Promise<RateLimitDecision>;

  /**
   * What the bucket's windows, refusals and ban are now, without taking anything; `admitted` tells whether a request
   * now would be.
   *
   * @throws CounterStoreError when the store is away.
   */
  abstract peek(request: RateLimitRequest): Promise<RateLimitDecision>;

  /**
   * Adds what was allowed without the store, also beyond the limits: to each window that is the stored one, or newer. A
   * window never goes back, nor is one opened that begins only later by the store's clock: that counts in the one that is
   * open there. Nothing to add is a question too: whether the store could. A bucket whose place is of the wrong type has no windows,
   * and is passed over.
   *
   * @param taken each bucket once.
   * @throws CounterStoreError when the store is away. Then nothing was added, or nobody knows what, as its kind tells; a
   *   PartlyAddedError tells it of each.
   */
  abstract reconcile(taken: UnreportedUsage[]): Promise<void>;

  /**
   * The subjects that are banned now, and until when.
   *
   * @throws CounterStoreError when the store is away.
   */
  abstract bans(): Promise<Map<string, Date>>;

  /**
   * Ends a bucket's ban. It holds for the next request, wherever that arrives.
   *
   * @returns until when the ban would have lasted, or null when there was none.
   * @throws CounterStoreError when the store is away.
   */
  abstract liftBan(bucketKey: string): Promise<Date | null>;
}
