import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Batcher, FailedAsk } from '../batcher.js';
import { Clock } from '../clock.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import type { Admission } from './admission.js';
import { bansAreOn } from './ban.js';
import { answersTo, type Counted, outlookOf, sumUp } from './batch.js';
import { type Ask, CounterStore, CounterStoreError, PartlyAddedError, type Taken } from './counter-store.js';
import { type Call, RedisConnection } from './redis-connection.js';
import { quotaSubject } from './subject.js';

/** What take.lua returns. */
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
 * the next one, which has one call of take.lua for each subject.
 */
@Injectable()
export class RedisCounterStore extends CounterStore implements OnModuleInit, OnApplicationShutdown {
  private readonly batcher = new Batcher((asks: Ask[]) => this.takeAll(asks), { name: 'count' });
  /** The takings. */
  readonly questions = this.batcher.questions;
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

  take(ask: Ask): Promise<Admission> {
    return this.batcher.ask(ask);
  }

  async look(ask: Ask): Promise<Admission> {
    const [reply] = await this.connection.run('takeRequests', [this.callOf({ ...ask, asked: 0 })]);
    return outlookOf(countedOf(expectAnswer(reply) as Reply), ask, this.environment.BAN_DURATIONS);
  }

  async add(taken: Taken[]): Promise<void> {
    if (taken.length === 0) {
      return this.connection.ping();
    }
    const calls = taken.map(({ subject, perDay, minute, minuteUsed, day, dayUsed }): Call => {
      const kind = perDay === null ? '' : '1';
      return [this.keyOf(subject), minute, minuteUsed, day, dayUsed, kind, this.clock.storeOffsetMs];
    });
    const outcomes = await this.connection.run('addRequests', calls);
    const failures = outcomes.filter((outcome) => outcome instanceof CounterStoreError);
    const failure = failures.find(({ kind }) => kind !== 'spoilt');
    if (failure !== undefined) {
      throw new PartlyAddedError(
        failure,
        taken.filter((_one, index) => wasSurelyNotAdded(outcomes[index])),
      );
    }
  }

  async bans(): Promise<Map<string, Date>> {
    if (!bansAreOn(this.environment.BAN_DURATIONS)) {
      return new Map();
    }
    const fields = await this.connection.fields(this.keyOf(quotaSubject('*')), 'bannedUntil');
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

  private async takeAll(asks: Ask[]): Promise<(Admission | FailedAsk)[]> {
    const batch = sumUp(asks);
    const replies = await this.connection.run(
      'takeRequests',
      [...batch.sums.values()].map((sum) => this.callOf(sum)),
    );
    for (const reply of replies) {
      if (reply instanceof CounterStoreError) {
        reply.question = replies;
      }
    }
    const [failure] = replies;
    if (
      failure instanceof CounterStoreError &&
      replies.every((reply) => reply instanceof CounterStoreError)
    ) {
      // Who gathered behind it has waited as long already.
      this.batcher.dismiss(new CounterStoreError('withdrawn', failure));
    }
    const outcomes = new Map(
      [...batch.sums.keys()].map((subject, index) => {
        const reply = replies[index];
        // The others may have been answered: each subject is counted by itself.
        const outcome = reply instanceof CounterStoreError ? new FailedAsk(reply) : countedOf(reply as Reply);
        return [subject, outcome];
      }),
    );
    return answersTo(batch, outcomes, this.environment.BAN_DURATIONS);
  }

  private callOf({ subject, asked, perMinute, perDay }: Ask & { asked: number }): Call {
    const { clock, environment } = this;
    const ladder = environment.BAN_DURATIONS;
    return [this.keyOf(subject), asked, perMinute, perDay ?? '', clock.storeOffsetMs, ...ladder];
  }

  /** Redis may serve production and staging alike. The braces have a Cluster keep all keys of a subject on one server. */
  private keyOf(subject: string): string {
    return `animal-store:${this.environment.APP_ENV}:{${subject}}`;
  }

  private subjectOf(key: string): string {
    return key.slice(this.keyOf('').length - 1, -1);
  }
}

/** A spoilt one is not told again: it can never be added. */
function wasSurelyNotAdded(outcome: unknown): boolean {
  return outcome instanceof CounterStoreError && outcome.kind !== 'unanswered' && outcome.kind !== 'spoilt';
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
]: Reply): Counted {
  const bannedUntil = untilMs === null ? null : new Date(untilMs);
  return { granted, refused, refusals, bannedUntil, minute, minuteUsed, day, dayUsed, nowMs, clockMs };
}

/** @throws the error that came in place of an answer. */
function expectAnswer(answer: unknown): unknown {
  if (answer instanceof CounterStoreError) {
    throw answer;
  }
  return answer;
}
