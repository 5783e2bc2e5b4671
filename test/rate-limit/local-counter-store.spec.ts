import { Logger } from '@nestjs/common';
import { readEnvironment } from '../../src/settings/environment.js';
import type { RateLimitDecision, RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { LocalCounterStore } from '../../src/rate-limit/stores/local-counter-store.js';
import { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { TestClock } from '../support/counters/clock.js';
import { newBucket } from '../support/counters/counter-stores.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { openQueries } from '../support/database/queries.js';

const NOON = Date.UTC(2027, 2, 5, 12);

let database: TestDatabase;
let clock: TestClock;
let shared: PostgresCounterStore;
let local: LocalCounterStore;
/** The time of the local store, as last reported by the shared store. */
let nowMs: number;

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
  shared = new PostgresCounterStore(environment, clock, openQueries(environment));
  local = new LocalCounterStore(() => nowMs, environment.BAN_DURATIONS);
});
afterEach(() => shared.onApplicationShutdown());

/** Returns a generator of numbers from 0 to 1, the same in every run. */
function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Consumes from both stores, expects the same decision, and returns it. */
async function expectSame(request: RateLimitRequest): Promise<RateLimitDecision> {
  const decision = await shared.consume(request);
  nowMs = decision.clockMs;
  expect(local.consume(request)).toEqual(decision);
  return decision;
}

describe('LocalCounterStore, beside the shared store', () => {
  it.each([1, 2, 3])('decides the same for any sequence of requests over time (%i)', async (seed) => {
    const random = randomness(seed);
    const requests = [newBucket(3, 40), newBucket(2, 5), newBucket(4, null), newBucket(1, 1000)];
    const lifted: [Date | null, Date | null][] = [];
    const seen = { allowed: 0, denied: 0, bans: 0 };
    for (let step = 0; step < 500; step += 1) {
      const request = requests[Math.floor(random() * requests.length)] as RateLimitRequest;
      const decision = await expectSame(
        random() < 0.1 && request.perDay ? { ...request, perMinute: 6 } : request,
      );
      seen.allowed += decision.allowed ? 1 : 0;
      seen.denied += decision.allowed ? 0 : 1;
      seen.bans += decision.ban?.started ? 1 : 0;
      const dice = random();
      if (dice < 0.02) {
        clock.travel(Math.floor(86_400_000 * random() * 3));
      } else if (dice < 0.1) {
        clock.travel(Math.floor(90_000 * random()));
      }
      if (dice > 0.98) {
        lifted.push([await shared.liftBan(request.bucketKey), local.liftBan(request.bucketKey)]);
      }
    }
    expect(lifted.map(([, here]) => here)).toEqual(lifted.map(([there]) => there));
    expect(Math.min(seen.allowed, seen.denied, seen.bans)).toBeGreaterThan(5);
  });

  it('decides the same when the clock goes back: the later window stays in force', async () => {
    const request = newBucket(3, 1000);
    await expectSame(request);
    clock.travel(-300_000);
    await expectSame(request);
    nowMs -= 300_000;
    expect(local.consume(request).nowMs).toBe(NOON);
  });

  it('decides the same for a request that meets a ban', async () => {
    const request = newBucket(1, 1000);
    await expectSame(request);
    const { ban } = await expectSame(request);
    expect(local.peek(request).ban).toEqual({ untilMs: ban?.untilMs, started: false });
    expect((await shared.bans()).get(request.bucketKey)).toEqual(new Date(ban?.untilMs ?? 0));
  });
});

describe('LocalCounterStore', () => {
  it('has bounded memory: it evicts the least recently used bucket, and addresses never evict quotas', () => {
    const small = new LocalCounterStore(() => nowMs, [], 100);
    const client = newBucket();
    small.consume(client);
    for (let address = 0; address < 10_000; address += 1) {
      small.consume({ bucketKey: `address:${address}`, perMinute: 300, perDay: null });
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
