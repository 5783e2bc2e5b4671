import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Batcher, BatchItemError } from '../batcher.js';
import { Clock } from '../clock.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import {
  decisionsFor,
  type CountedBucket,
  previewOf,
  groupByBucket,
  type RateLimitDecision,
  type RateLimitRequest,
} from './rate-limit-decision.js';
import {
  CounterStore,
  CounterStoreError,
  PartialReconcileError,
  type UnreportedUsage,
} from './counter-store.js';
import { type Call, RedisConnection } from './redis-connection.js';
import { quotaBucketKey } from './bucket-key.js';

/** What consume.lua returns. */
type Reply = [
  granted: number,
  refused: number,
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
 * Counts in Redis or Valkey, exactly across replicas. All requests that arrive while one question is under way go in
 * the next one, which has one call of consume.lua for each subject.
 */
@Injectable()
export class RedisCounterStore extends CounterStore implements OnModuleInit, OnApplicationShutdown {
  private readonly batcher = new Batcher((requests: RateLimitRequest[]) => this.takeAll(requests), {
    name: 'count',
  });
  /** The takings. */
  readonly questions = this.batcher.metrics;
  private readonly connection: RedisConnection;

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly clock: Clock,
  ) {
    super();
    this.connection = new RedisConnection(environment.COUNTER_STORE ?? []);
  }

  /** @throws InvalidEnvironmentError when the server of COUNTER_STORE is not fit to count. */
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
    const [reply] = await this.connection.run('consumeRequests', [this.callOf({ ...request, count: 0 })]);
    return previewOf(countedOf(expectAnswer(reply) as Reply), request, this.environment.BAN_DURATIONS);
  }

  async reconcile(taken: UnreportedUsage[]): Promise<void> {
    if (taken.length === 0) {
      return this.connection.ping();
    }
    const calls = taken.map(({ bucketKey, perDay, minute, minuteUsed, day, dayUsed }): Call => {
      const kind = perDay === null ? '' : '1';
      return [this.keyOf(bucketKey), minute, minuteUsed, day, dayUsed, kind, this.clock.storeOffsetMs];
    });
    const outcomes = await this.connection.run('reconcileUsage', calls);
    const failures = outcomes.filter((outcome) => outcome instanceof CounterStoreError);
    const failure = failures.find(({ kind }) => kind !== 'wrongType');
    if (failure !== undefined) {
      throw new PartialReconcileError(
        failure,
        taken.filter((_one, index) => wasSurelyNotAdded(outcomes[index])),
      );
    }
  }

  async bans(): Promise<Map<string, Date>> {
    if (this.environment.BAN_DURATIONS.length === 0) {
      return new Map();
    }
    const fields = await this.connection.fields(this.keyOf(quotaBucketKey('*')), 'bannedUntil');
    const lasting = fields.filter(
      ({ value, nowMs }) => value !== null && Number(value) > nowMs + this.clock.storeOffsetMs,
    );
    return new Map(lasting.map(({ key, value }) => [this.subjectOf(key), new Date(Number(value))]));
  }

  async liftBan(subject: string): Promise<Date | null> {
    const call: Call = [this.keyOf(subject), this.clock.storeOffsetMs];
    const [reply] = await this.connection.run('liftBan', [call]);
    const untilMs = expectAnswer(reply) as number | null;
    return untilMs === null ? null : new Date(untilMs);
  }

  private async takeAll(requests: RateLimitRequest[]): Promise<(RateLimitDecision | BatchItemError)[]> {
    const batch = groupByBucket(requests);
    const replies = await this.connection.run(
      'consumeRequests',
      [...batch.buckets.values()].map((bucket) => this.callOf(bucket)),
    );
    for (const reply of replies) {
      if (reply instanceof CounterStoreError) {
        reply.query = replies;
      }
    }
    const [failure] = replies;
    if (
      failure instanceof CounterStoreError &&
      replies.every((reply) => reply instanceof CounterStoreError)
    ) {
      // Who gathered behind it has waited as long already.
      this.batcher.rejectQueued(new CounterStoreError('notSent', failure));
    }
    const outcomes = new Map(
      [...batch.buckets.keys()].map((subject, index) => {
        const reply = replies[index];
        // The others may have been answered: each subject is counted by itself.
        const outcome =
          reply instanceof CounterStoreError ? new BatchItemError(reply) : countedOf(reply as Reply);
        return [subject, outcome];
      }),
    );
    return decisionsFor(batch, outcomes, this.environment.BAN_DURATIONS);
  }

  private callOf({ bucketKey, count, perMinute, perDay }: RateLimitRequest & { count: number }): Call {
    const { clock, environment } = this;
    const banDurations = environment.BAN_DURATIONS;
    return [this.keyOf(bucketKey), count, perMinute, perDay ?? '', clock.storeOffsetMs, ...banDurations];
  }

  /** Redis may serve production and staging alike. The braces have a Cluster keep all keys of a subject on one server. */
  private keyOf(subject: string): string {
    return `animal-store:${this.environment.APP_ENV}:{${subject}}`;
  }

  private subjectOf(key: string): string {
    return key.slice(this.keyOf('').length - 1, -1);
  }
}

/** A of the wrong type one is not told again: it can never be added. */
function wasSurelyNotAdded(outcome: unknown): boolean {
  return (
    outcome instanceof CounterStoreError && outcome.kind !== 'outcomeUnknown' && outcome.kind !== 'wrongType'
  );
}

function countedOf([
  granted,
  refused,
  refusals,
  untilMs,
  minute,
  minuteUsed,
  day,
  dayUsed,
  nowMs,
  clockMs,
]: Reply): CountedBucket {
  const bannedUntil = untilMs === null ? null : new Date(untilMs);
  return {
    allowed: granted,
    denied: refused,
    refusals,
    bannedUntil,
    minute,
    minuteUsed,
    day,
    dayUsed,
    nowMs,
    clockMs,
  };
}

/** @throws the error that came in place of an answer. */
function expectAnswer(answer: unknown): unknown {
  if (answer instanceof CounterStoreError) {
    throw answer;
  }
  return answer;
}
