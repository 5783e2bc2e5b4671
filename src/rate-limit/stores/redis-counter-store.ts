import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Batcher, BatchItemError } from '../../database/batcher.js';
import { Clock } from '../../settings/clock.js';
import { ENVIRONMENT, type Environment } from '../../settings/environment.js';
import {
  decisionsFor,
  type CountedBucket,
  previewOf,
  groupByBucket,
  type RateLimitDecision,
  type RateLimitRequest,
} from '../rules/rate-limit-decision.js';
import {
  CounterStore,
  CounterStoreError,
  PartialReconcileError,
  type UnreportedUsage,
} from './counter-store.js';
import type { ScriptName } from './redis-client.js';
import { type Call, RedisConnection } from './redis-connection.js';
import { quotaBucketKey } from '../rules/bucket-key.js';

/** The reply of consume.lua. */
type Reply = [
  allowed: number,
  denied: number,
  refusals: number,
  bannedUntilMs: number | null,
  minute: number,
  minuteUsed: number,
  day: number,
  dayUsed: number,
  nowMs: number,
  clockMs: number,
];

/**
 * Counts in Redis or Valkey, exactly across replicas. Requests that arrive while a batch is in flight go in the next one,
 * which has one call of consume.lua for each bucket.
 */
@Injectable()
export class RedisCounterStore extends CounterStore implements OnModuleInit, OnApplicationShutdown {
  private readonly batcher = new Batcher((requests: RateLimitRequest[]) => this.consumeAll(requests), {
    name: 'count',
  });
  /** The metrics of `consume`. */
  readonly batches = this.batcher.metrics;
  private readonly connection: RedisConnection;

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly clock: Clock,
  ) {
    super();
    this.connection = new RedisConnection(environment.COUNTER_STORE ?? []);
  }

  /** @throws InvalidEnvironmentError when the server of COUNTER_STORE must not count. */
  onModuleInit(): Promise<void> {
    return this.connection.start();
  }

  onApplicationShutdown(): void {
    this.connection.close();
  }

  consume(request: RateLimitRequest): Promise<RateLimitDecision> {
    return this.batcher.load(request);
  }

  async peek(request: RateLimitRequest): Promise<RateLimitDecision> {
    const reply = await this.runOne('consumeRequests', this.consumeCall({ ...request, count: 0 }));
    return previewOf(countedOf(reply as Reply), request, this.environment.BAN_DURATIONS);
  }

  async reconcile(usage: UnreportedUsage[]): Promise<void> {
    if (usage.length === 0) {
      return this.connection.ping();
    }
    const calls = usage.map(({ bucketKey, perDay, minute, minuteUsed, day, dayUsed }): Call => {
      const kind = perDay === null ? '' : '1';
      return [this.keyOf(bucketKey), minute, minuteUsed, day, dayUsed, kind, this.clock.storeOffsetMs];
    });
    const replies = await this.connection.run('reconcileUsage', calls);
    // Nothing can ever be added to a key of the wrong type.
    const failure = replies.filter(isFailure).find(({ kind }) => kind !== 'wrongType');
    if (failure !== undefined) {
      throw new PartialReconcileError(
        failure,
        usage.filter((_each, index) => isNotAdded(replies[index])),
      );
    }
  }

  async bans(): Promise<Map<string, Date>> {
    if (this.environment.BAN_DURATIONS.length === 0) {
      return new Map();
    }
    const bans = await this.connection.bans(this.keyOf(quotaBucketKey('*')), this.clock.storeOffsetMs);
    return new Map(Array.from(bans, ([key, untilMs]) => [this.bucketKeyOf(key), new Date(untilMs)]));
  }

  async liftBan(bucketKey: string): Promise<Date | null> {
    const untilMs = await this.runOne('liftBan', [this.keyOf(bucketKey), this.clock.storeOffsetMs]);
    return untilMs === null ? null : new Date(untilMs as number);
  }

  private async consumeAll(requests: RateLimitRequest[]): Promise<(RateLimitDecision | BatchItemError)[]> {
    const batch = groupByBucket(requests);
    const calls = [...batch.buckets.values()].map((bucket) => this.consumeCall(bucket));
    const replies = await this.connection.run('consumeRequests', calls);
    if (isFailure(replies[0]) && replies.every(isFailure)) {
      // Requests queued behind this batch have waited as long already.
      this.batcher.rejectQueued(new CounterStoreError('notSent', replies[0]));
    }
    const outcomes = [...batch.buckets.keys()].map((bucketKey, index) => {
      const reply = replies[index];
      return [bucketKey, isFailure(reply) ? new BatchItemError(reply) : countedOf(reply as Reply)] as const;
    });
    return decisionsFor(batch, new Map(outcomes), this.environment.BAN_DURATIONS);
  }

  /** @throws CounterStoreError when the call failed. */
  private async runOne(script: ScriptName, call: Call): Promise<unknown> {
    const [reply] = await this.connection.run(script, [call]);
    if (isFailure(reply)) {
      throw reply;
    }
    return reply;
  }

  private consumeCall({ bucketKey, count, perMinute, perDay }: RateLimitRequest & { count: number }): Call {
    const { clock, environment } = this;
    const banDurations = environment.BAN_DURATIONS;
    return [this.keyOf(bucketKey), count, perMinute, perDay ?? '', clock.storeOffsetMs, ...banDurations];
  }

  /** Production and staging may share a Redis. The braces keep all keys of a bucket on one master of a Cluster. */
  private keyOf(bucketKey: string): string {
    return `animal-store:${this.environment.APP_ENV}:{${bucketKey}}`;
  }

  private bucketKeyOf(key: string): string {
    return key.slice(this.keyOf('').length - 1, -1);
  }
}

/** Whether the usage of this reply was surely not added, and can be later. */
const isNotAdded = (reply: unknown) =>
  isFailure(reply) && reply.kind !== 'wrongType' && reply.kind !== 'outcomeUnknown';

const isFailure = (reply: unknown): reply is CounterStoreError => reply instanceof CounterStoreError;

function countedOf(reply: Reply): CountedBucket {
  const [allowed, denied, refusals, untilMs, minute, minuteUsed, day, dayUsed, nowMs, clockMs] = reply;
  const bannedUntil = untilMs === null ? null : new Date(untilMs);
  return { allowed, denied, refusals, bannedUntil, minute, minuteUsed, day, dayUsed, nowMs, clockMs };
}
