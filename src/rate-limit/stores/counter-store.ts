import { databaseReason } from '../../database/access/availability.js';
import { Batcher } from '../../database/batches/batcher.js';
import { DeadlineError } from '../../database/access/deadline.js';
import { UnavailableError } from '../../database/access/unavailable-error.js';
import type { Environment } from '../../process/settings/environment.js';
import { banThreshold } from '../rules/ban.js';
import {
  type BucketRequests,
  type BucketState,
  type CountedBucket,
  decisionsFor,
  groupByBucket,
  previewDecision,
  type RateLimitDecision,
  type RateLimitRequest,
} from '../rules/rate-limit-decision.js';

/** The time for the reply to a query, including the connection if that is not open yet. */
export const REPLY_DEADLINE_MS = 750;
/**
 * The time for the reply to a ping, for which no request waits. To open its connection takes several round
 * trips: too long for a query if the server is far away, or has just come back and serves all who waited.
 */
export const PING_DEADLINE_MS = 2 * REPLY_DEADLINE_MS;
/**
 * Time without a reply after which a connection is checked before it sends a count. Load balancers and NAT
 * silently forget a quiet connection, some after a minute.
 */
export const QUIET_MS = 10_000;
/** The time for that check; the rest of the deadline is for a new connection. */
export const CHECK_DEADLINE_MS = 200;

/**
 * Codes of a connection for which this process or (SQLSTATE class 53) PostgreSQL lacks resources: the store
 * may still be available.
 */
const NOT_REFUSED = /^(EMFILE|ENFILE|ENOBUFS|ENOMEM|EADDRNOTAVAIL|53\d{3})$/;

export const COUNTER_STORE = 'The counter store, which holds the bans,';

/**
 * Returns the error that all requests of a failed query have in common. Its reason is:
 *
 * - `refused`: the store refused the connection, or replied that it cannot count at all.
 * - `silent`: there was no reply within the deadline, though this process was not late.
 * - `notConnected`: the connection took too long, so the query was neither silent nor answered.
 * - `failed`: anything else, such as a value that the store rejected.
 *
 * @param isConnected whether the connection was open.
 */
export function counterStoreError(
  cause: unknown,
  isConnected: boolean,
  reason: string = reasonOf(cause, isConnected),
): UnavailableError {
  return new UnavailableError(COUNTER_STORE, reason, databaseReason(cause), { cause });
}

function reasonOf(cause: unknown, isConnected: boolean): string {
  if (cause instanceof DeadlineError) {
    return cause.wasLate ? 'failed' : 'silent';
  }
  const { code } = cause as { code?: unknown };
  if (!isConnected && code === 'ETIMEDOUT') {
    return 'notConnected';
  }
  return isConnected || NOT_REFUSED.test(String(code)) ? 'failed' : 'refused';
}

/**
 * Counts windows exactly across replicas. Requests that arrive while a batch is in flight go in the next one,
 * in which those of a bucket are counted together. `consume`, `peek` and `ping` throw UnavailableError if
 * their query fails.
 */
export abstract class CounterStore {
  private readonly batcher = new Batcher((requests: RateLimitRequest[]) => this.decide(requests), {
    name: 'count-requests',
  });
  readonly batches = this.batcher.metrics;
  warnings: { code: 'eviction_policy_unknown'; message: string }[] = [];

  constructor(protected readonly environment: Environment) {}

  /** Counts one request, in one atomic step, in every window of its bucket, or in none if one is full. */
  consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    return this.batcher.load(request);
  }

  rejectQueued(reason: Error): void {
    this.batcher.rejectQueued(reason);
  }

  /** Returns the decision that a request would get now. Counts nothing. */
  async peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    const threshold = banThreshold(request, this.environment.BAN_DURATIONS);
    return previewDecision(await this.read(request), request, threshold);
  }

  /** Returns the ends of all bans in force, or of those of some buckets, by bucket key. */
  async bans(bucketKeys?: readonly string[]): Promise<Map<string, Date>> {
    return this.environment.BAN_DURATIONS.length === 0 ? new Map() : this.readBans(bucketKeys);
  }

  abstract ping(): Promise<void>;

  /** Replaces a connection that leaves queries without a reply, unless that happens by itself. */
  reconnect(): void {}

  /** Ends the ban of a bucket, and returns when it would have ended; null if there was none. */
  abstract liftBan(bucketKey: string): Promise<Date | null>;

  protected abstract count(buckets: Map<string, BucketRequests>): Promise<Map<string, CountedBucket | Error>>;

  protected abstract read(request: RateLimitRequest): Promise<BucketState>;

  protected abstract readBans(bucketKeys?: readonly string[]): Promise<Map<string, Date>>;

  private async decide(requests: RateLimitRequest[]): Promise<(RateLimitDecision | Error)[]> {
    const buckets = groupByBucket(requests, this.environment.BAN_DURATIONS);
    return decisionsFor(requests, buckets, await this.count(buckets));
  }
}
