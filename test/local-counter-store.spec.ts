import { Logger } from '@nestjs/common';
import { readEnvironment } from '../src/environment.js';
import type { RateLimitDecision, RateLimitRequest } from '../src/rate-limit/rules/rate-limit-decision.js';
import { LocalCounterStore } from '../src/rate-limit/stores/local-counter-store.js';
import { PostgresCounterStore } from '../src/rate-limit/stores/postgres-counter-store.js';
import { TestClock } from './support/clock.js';
import { createDatabase, type TestDatabase } from './support/database.js';

const NOON = Date.UTC(2027, 2, 5, 12);

let database: TestDatabase;
let clock: TestClock;
let shared: PostgresCounterStore;
let local: LocalCounterStore;
/** The time of the local store: the shared one's, as it told it last. */
let nowMs: number;
let subjects = 0;

beforeAll(async () => {
  Logger.overrideLogger(false);
  database = await createDatabase();
});
afterAll(() => database.drop());

beforeEach(() => {
  clock = new TestClock();
  clock.travelTo(new Date(NOON));
  nowMs = NOON;
  const environment = readEnvironment({ APP_ENV: 'staging', DATABASE_URL: database.url });
  shared = new PostgresCounterStore(environment, clock);
  local = new LocalCounterStore(() => nowMs, environment.BAN_DURATIONS);
});
afterEach(() => shared.onApplicationShutdown());

function newSubject(perMinute = 60, perDay: number | null = 1000): RateLimitRequest {
  subjects += 1;
  return { bucketKey: `${perDay === null ? 'address' : 'quota'}:${subjects}`, perMinute, perDay };
}

/** Numbers from 0 to 1 that are the same in every run. */
function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** The shared store's answer, which the local one gives too. */
async function expectSame(ask: RateLimitRequest): Promise<RateLimitDecision> {
  const decision = await shared.consume(ask);
  nowMs = decision.clockMs;
  expect(local.consume(ask)).toEqual(decision);
  return decision;
}

describe('the local store answers as the shared one does', () => {
  it.each([1, 2, 3])('to any sequence of requests over time (%i)', async (seed) => {
    const random = randomness(seed);
    const asks = [newSubject(3, 40), newSubject(2, 5), newSubject(4, null), newSubject(1, 1000)];
    const lifted: [Date | null, Date | null][] = [];
    const seen = { allowed: 0, refused: 0, bans: 0 };
    for (let step = 0; step < 500; step += 1) {
      const ask = asks[Math.floor(random() * asks.length)] as RateLimitRequest;
      const decision = await expectSame(random() < 0.1 && ask.perDay ? { ...ask, perMinute: 6 } : ask);
      seen.allowed += decision.allowed ? 1 : 0;
      seen.refused += decision.allowed ? 0 : 1;
      seen.bans += decision.ban?.started ? 1 : 0;
      const dice = random();
      if (dice < 0.02) {
        clock.travel(Math.floor(86_400_000 * random() * 3));
      } else if (dice < 0.1) {
        clock.travel(Math.floor(90_000 * random()));
      }
      if (dice > 0.98) {
        lifted.push([await shared.liftBan(ask.bucketKey), local.liftBan(ask.bucketKey)]);
      }
    }
    expect(lifted.map(([, here]) => here)).toEqual(lifted.map(([there]) => there));
    expect(Math.min(seen.allowed, seen.refused, seen.bans)).toBeGreaterThan(5);
  });

  it('to a clock that goes back: the later window counts', async () => {
    const ask = newSubject(3, 1000);
    await expectSame(ask);
    clock.travel(-300_000);
    await expectSame(ask);
    nowMs -= 300_000;
    expect(local.consume(ask).nowMs).toBe(NOON);
  });

  it('to who meets a ban', async () => {
    const ask = newSubject(1, 1000);
    await expectSame(ask);
    const { ban } = await expectSame(ask);
    expect(local.peek(ask).ban).toEqual({ untilMs: ban?.untilMs, started: false });
    expect((await shared.bans()).get(ask.bucketKey)).toEqual(new Date(ban?.untilMs ?? 0));
  });
});

describe('the memory of the local store', () => {
  it('is bounded: the one not seen for the longest begins anew, and strangers forget no client', () => {
    const small = new LocalCounterStore(() => nowMs, [], 100);
    const client = newSubject();
    small.consume(client);
    for (let stranger = 0; stranger < 10_000; stranger += 1) {
      small.consume({ bucketKey: `address:${stranger}`, perMinute: 300, perDay: null });
    }
    const { quotas, addresses } = small['counters'];
    expect([quotas.size, addresses.size]).toEqual([1, 100]);
    expect(small.consume(client).windows[0]?.remaining).toBe(58);
    for (let other = 0; other < 100; other += 1) {
      small.consume({ ...client, bucketKey: `quota:other-${other}` });
    }
    expect(small.consume(client).windows[0]?.remaining).toBe(59);
  });
});
