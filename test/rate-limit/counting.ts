import { Logger } from '@nestjs/common';
import type { RateLimitDecision, RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { TestClock } from '../support/time/clock.js';
import type { AnyCounterStore, CounterHome } from '../support/counter-stores.js';

export const NOON = Date.UTC(2027, 2, 5, 12);

// Those of the running test:
export let home: CounterHome;
export let clock: TestClock;
export let store: AnyCounterStore;

/** Starts a home for the tests of a block, and opens an empty store at noon for each of them. */
export function openForEach(start: () => Promise<CounterHome>): void {
  beforeAll(async () => {
    Logger.overrideLogger(false);
    home = await start();
  });
  afterAll(() => home.stop());
  beforeEach(async () => {
    clock = new TestClock();
    clock.travelTo(new Date(NOON));
    store = await home.open();
  });
  afterEach(() => home.clear());
}

let buckets = 0;

/** Returns a request for a bucket that has not been counted yet; an address's if it has no limit per day. */
export function newBucket(perMinute = 60, perDay: number | null = 1000): RateLimitRequest {
  buckets += 1;
  return { bucketKey: `${perDay === null ? 'address' : 'quota'}:${buckets}`, perMinute, perDay };
}

/** Sends `count` concurrent requests, spread over the stores in turn. Those to one store share a batch. */
export function consume(
  request: RateLimitRequest,
  count: number,
  ...stores: AnyCounterStore[]
): Promise<RateLimitDecision[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => (stores[index % stores.length] ?? store).consume(request)),
  );
}

/** Sends requests until the bucket is banned, and returns the decision that started the ban. */
export async function provokeBan(request: RateLimitRequest, from = store): Promise<RateLimitDecision> {
  const decisions = await consume(request, requestsBeforeBan(request.perMinute), from);
  const starter = decisions.find(({ ban }) => ban?.started) as RateLimitDecision;
  expect(starter.ban).toEqual({ untilMs: expect.any(Number), started: true });
  return starter;
}

/** Returns how many requests remain in each window. */
export const remaining = ({ windows }: RateLimitDecision) => windows.map((window) => window.remaining);

export const allowed = (decisions: RateLimitDecision[]) => decisions.filter((decision) => decision.allowed);

/** Returns the length of a ban at the time of the decision. */
export const lengthMs = ({ ban, nowMs }: RateLimitDecision) => (ban === null ? null : ban.untilMs - nowMs);

/** Returns when the ban of a decision ends. */
export const banEnd = ({ ban }: RateLimitDecision) => new Date(ban?.untilMs ?? 0);

export const descending = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index);

/**
 * Describes decisions in their order, with the denials that remain until a ban after each denial:
 * `2 allowed, denied with 3 2 1 left, starts a ban, 4 banned`.
 */
export function summarize(decisions: RateLimitDecision[]): string {
  const runs: { text: string; left: (number | null)[] }[] = [];
  for (const decision of decisions) {
    const text = describeDecision(decision);
    const run = runs.at(-1);
    if (run?.text === text) {
      run.left.push(decision.denialsUntilBan);
    } else {
      runs.push({ text, left: [decision.denialsUntilBan] });
    }
  }
  const describeRun = ({ text, left }: (typeof runs)[number]) => {
    if (text === 'denied' && left[0] !== null) {
      return `denied with ${left.join(' ')} left`;
    }
    return text === 'starts a ban' ? text : `${left.length} ${text}`;
  };
  return runs.map(describeRun).join(', ');
}

function describeDecision({ allowed: isAllowed, ban }: RateLimitDecision): string {
  if (ban !== null) {
    return ban.started ? 'starts a ban' : 'banned';
  }
  return isAllowed ? 'allowed' : 'denied';
}
