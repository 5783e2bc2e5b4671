import { databaseReason } from '../../database/availability.js';
import { UnavailableError } from '../../errors/unavailable-error.js';
import type { RateLimitDecision, RateLimitRequest } from '../rules/rate-limit-decision.js';

/** What was allowed of a bucket without the store, in the last minute and the last day that this happened in. */
export interface UnreportedUsage extends RateLimitRequest {
  /** Number of the minute since the Unix epoch. */
  minute: number;
  minuteUsed: number;
  /** Number of the day since the Unix epoch. */
  day: number;
  dayUsed: number;
}

/**
 * Why a query failed.
 *
 * - `noConnection`: there is no connection. Nothing was counted.
 * - `failed`: the store returned an error, or no connection came about in time. Nothing was counted.
 * - `outcomeUnknown`: it was sent, and may have been counted or not.
 * - `wrongType`: the store has something else under the bucket's key. Nothing was counted, nor can be until that is removed;
 *   the store is there, and counts other buckets.
 * - `conflict`: at each try, other statements had changed the same rows meanwhile. Nothing was counted; the store is there.
 * - `notSent`: it was never sent, because the query before it failed.
 */
export type FailureKind = 'noConnection' | 'failed' | 'outcomeUnknown' | 'wrongType' | 'conflict' | 'notSent';

/** A query to a counter store that failed, or a part of it. */
export class CounterStoreError extends UnavailableError {
  readonly store = 'The counter store, which holds the bans,';
  /** The driver's code, if any. */
  readonly code: unknown;
  /** Identifies the query: where its parts failed in several ways, their errors have the same. */
  query: object = this;

  constructor(
    readonly kind: FailureKind,
    override readonly cause: unknown,
  ) {
    const { code, where } = (cause ?? {}) as { code?: unknown; where?: string };
    // Of a row that is locked, PostgreSQL's `where` names the place.
    super(
      where === undefined ? databaseReason(cause) : `${databaseReason(cause)} (${where.split('\n', 1)[0]})`,
    );
    this.code = code;
  }
}

/** Returns whether a query that failed has surely counted nothing. */
export function wasNotCounted(error: unknown): boolean {
  return error instanceof CounterStoreError && error.kind !== 'outcomeUnknown';
}

/** A reconciliation of which some may have been carried out. */
export class PartialReconcileError extends CounterStoreError {
  /** @param notReconciled what was surely not added; of the rest that failed, the outcome is unknown. */
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
   * Counts one request in every window of its bucket if all have room, else in none, in one atomic step.
   *
   * @throws CounterStoreError when the store is away.
   */
  abstract consume(request: RateLimitRequest): Promise<RateLimitDecision>;

  /**
   * Returns the bucket's windows, refusals and ban, and whether a request would be allowed now. Counts nothing.
   *
   * @throws CounterStoreError when the store is away.
   */
  abstract peek(request: RateLimitRequest): Promise<RateLimitDecision>;

  /**
   * Adds what was allowed without the store, also beyond the limits, to each window that is the stored one or newer. A
   * window never goes back; one that begins only later by the store's clock counts in the one that is open there. A bucket
   * of the wrong type is left out. An empty list checks whether the store could add.
   *
   * @param usage each bucket once.
   * @throws CounterStoreError when the store is away. Then nothing was added, or the outcome is unknown, by its kind; a
   *   PartialReconcileError lists what was surely not added.
   */
  abstract reconcile(usage: UnreportedUsage[]): Promise<void>;

  /**
   * Returns the ends of all bans in force, by bucket key.
   *
   * @throws CounterStoreError when the store is away.
   */
  abstract bans(): Promise<Map<string, Date>>;

  /**
   * Ends the ban of a bucket, from the next request on, wherever that arrives.
   *
   * @returns when the ban would have ended, or null when there was none.
   * @throws CounterStoreError when the store is away.
   */
  abstract liftBan(bucketKey: string): Promise<Date | null>;
}
