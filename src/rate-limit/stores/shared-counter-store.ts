import { Batcher } from '../../database/batcher.js';
import type { Clock } from '../../settings/clock.js';
import type { Environment } from '../../settings/environment.js';
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
import { CounterStore } from './counter-store.js';

/**
 * Counts exactly across replicas. Requests that arrive while a batch is in flight go in the next one, in which those of a bucket are
 * counted together.
 */
export abstract class SharedCounterStore extends CounterStore {
  private readonly batcher = new Batcher((requests: RateLimitRequest[]) => this.decide(requests), {
    name: 'count',
  });
  /** The metrics of `consume`. */
  readonly batches = this.batcher.metrics;

  constructor(
    protected readonly environment: Environment,
    protected readonly clock: Clock,
  ) {
    super();
  }

  consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    return this.batcher.load(request);
  }

  async peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    return previewDecision(await this.read(request), request, this.environment.BAN_DURATIONS);
  }

  async bans(): Promise<Map<string, Date>> {
    return this.environment.BAN_DURATIONS.length === 0 ? new Map() : this.readBans();
  }

  /** Counts the requests of each bucket in one atomic step. */
  protected abstract count(buckets: Map<string, BucketRequests>): Promise<Map<string, CountedBucket | Error>>;

  protected abstract read(request: RateLimitRequest): Promise<BucketState>;

  protected abstract readBans(): Promise<Map<string, Date>>;

  private async decide(requests: RateLimitRequest[]) {
    const batch = groupByBucket(requests);
    return decisionsFor(batch, await this.count(batch.buckets), this.environment.BAN_DURATIONS);
  }
}
