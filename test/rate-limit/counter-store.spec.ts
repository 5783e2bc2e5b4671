import { denialsBeforeBan } from '../support/keys/bans.js';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../support/time/clock.js';
import { counterStores } from '../support/counter-stores.js';
import {
  allowed,
  clock,
  consume,
  descending,
  home,
  newBucket,
  NOON,
  openForEach,
  remaining,
  store,
} from './counting.js';
import type { RateLimitDecision, RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';

const MIDNIGHT = Date.UTC(2027, 2, 6);

describe.each(counterStores)('CounterStore in %s', (_name, start) => {
  openForEach(start);

  const openOther = () => home.open();
  const used = async ({ bucketKey }: RateLimitRequest) => {
    const { minuteUsed, dayUsed } = (await home.findCounter(bucketKey)) ?? {};
    return [minuteUsed, dayUsed];
  };
  const resetsMs = ({ windows }: RateLimitDecision) => windows.map(({ resetSeconds }) => resetSeconds * 1000);
  const outcome = (decision: RateLimitDecision) => [decision.allowed, ...remaining(decision)];

  describe('consume', () => {
    it.each([
      ['minute', 60, 1000],
      ['day', 1000, 60],
    ])(
      'allows exactly the limit per %s of concurrent requests at two replicas',
      async (_window, ...limits) => {
        const request = newBucket(...limits);
        const decisions = await consume(request, 200, store, await openOther());
        expect(allowed(decisions)).toHaveLength(60);
        expect(await used(request)).toEqual([60, 60]);
      },
    );

    it.each([
      ['a quota', 1000],
      ['an anonymous client', null],
    ])('allows exactly the limit to %s whose first batch has 200 requests', async (_whose, perDay) => {
      const request = newBucket(60, perDay);
      expect(allowed(await consume(request, 200))).toHaveLength(60);
      expect(await used(request)).toEqual([60, 60]);
    });

    it('reports each remaining number exactly once, whichever replica decides', async () => {
      const decisions = await consume(newBucket(60), 200, store, await openOther(), await openOther());
      const reported = allowed(decisions).map(remaining);
      expect(reported.toSorted(([a = 0], [b = 0]) => b - a)).toEqual(
        descending(59, 0).map((left) => [left, left + 940]),
      );
    });

    it('reports the remaining requests of a batch in order, and the rest to denied requests', async () => {
      expect((await consume(newBucket(6, 100), 8)).map(outcome)).toEqual([
        ...descending(5, 0).map((left) => [true, left, left + 94]),
        [false, 0, 94],
        [false, 0, 94],
      ]);
    });

    it('counts each bucket separately, even when one batch has several', async () => {
      const [narrow, wide, anonymousClient] = [newBucket(2, 50), newBucket(100, 3), newBucket(1, null)];
      const decisions = await Promise.all(
        [narrow, wide, anonymousClient, narrow, wide, anonymousClient, narrow, wide, wide].map((request) =>
          store.consume(request),
        ),
      );
      expect(decisions.map(outcome)).toEqual([
        [true, 1, 49],
        [true, 99, 2],
        [true, 0],
        [true, 0, 48],
        [true, 98, 1],
        [false, 0],
        [false, 0, 48],
        [true, 97, 0],
        [false, 97, 0],
      ]);
    });

    it('returns 0 remaining if the limit is lowered below the usage, the rest if it is raised', async () => {
      const request = newBucket();
      await consume(request, 10);
      const lowered = await store.consume({ ...request, perMinute: 5, perDay: 7 });
      expect(lowered.allowed).toBe(false);
      expect(lowered.windows).toMatchObject([
        { name: 'minute', limit: 5, remaining: 0 },
        { name: 'day', limit: 7, remaining: 0 },
      ]);
      const raised = await store.consume({ ...request, perMinute: 300, perDay: 10_000 });
      expect(outcome(raised)).toEqual([true, 289, 9989]);
    });
  });

  it.each([
    ['the day when the minute is full', 5, 100, [0, 95]],
    ['the minute when the day is full', 100, 5, [95, 0]],
  ])('a denied request uses nothing of %s', async (_what, perMinute, perDay, left) => {
    const request = newBucket(perMinute, perDay);
    await consume(request, 12);
    expect(await used(request)).toEqual([5, 5]);
    expect(remaining(await store.consume(request))).toEqual(left);
  });

  describe('a window', () => {
    it.each([
      ['minute', NOON + MINUTE_MS, [5, 1000], [4, 994], [NOON + MINUTE_MS, MIDNIGHT]],
      ['UTC day', MIDNIGHT, [100, 5], [99, 4], [MIDNIGHT, MIDNIGHT]],
    ])('starts again with the next %s, and reports its end', async (_window, endMs, limits, left, resets) => {
      clock.travelTo(new Date(endMs - 10 * SECOND_MS));
      const request = newBucket(...(limits as [number, number]));
      const before = await consume(request, 6);
      expect(allowed(before)).toHaveLength(5);
      for (const decision of before) {
        expect(resetsMs(decision)).toEqual(resets);
        expect(decision.nowMs).toBeGreaterThanOrEqual(endMs - 10 * SECOND_MS);
        expect(decision.nowMs).toBeLessThan(endMs);
      }
      clock.travelTo(new Date(endMs));
      const after = await store.consume(request);
      expect(outcome(after)).toEqual([true, ...left]);
      const nextDayMs = endMs === MIDNIGHT ? MIDNIGHT + DAY_MS : MIDNIGHT;
      expect(resetsMs(after)).toEqual([endMs + MINUTE_MS, nextDayMs]);
    });

    it('never goes back: once the clock is behind it, requests count in the later window', async () => {
      clock.travelTo(new Date(NOON + MINUTE_MS));
      const request = newBucket(5, 100);
      await consume(request, 3);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      const decisions = await consume(request, 3);
      expect(decisions.map(outcome)).toEqual([
        [true, 1, 96],
        [true, 0, 95],
        [false, 0, 95],
      ]);
      for (const decision of decisions) {
        expect(resetsMs(decision)[0]).toBe(NOON + 2 * MINUTE_MS);
      }
      // The time of the decision is that of the clock, so that a client waits until that window ends.
      for (const { nowMs } of [...decisions, await store.peek(request)]) {
        expect(nowMs).toBeGreaterThanOrEqual(NOON + 30 * SECOND_MS);
        expect(nowMs).toBeLessThan(NOON + MINUTE_MS);
      }
    });

    it('never goes back to yesterday: once the clock is before midnight, the new day counts', async () => {
      clock.travelTo(new Date(MIDNIGHT));
      const request = newBucket(100, 5);
      await consume(request, 5);
      clock.travelTo(new Date(MIDNIGHT - 30 * SECOND_MS));
      const decision = await store.consume(request);
      expect(outcome(decision)).toEqual([false, 95, 0]);
      expect(resetsMs(decision)[1]).toBe(MIDNIGHT + DAY_MS);
      expect(decision.nowMs).toBeLessThan(MIDNIGHT);
    });
  });

  describe('peek', () => {
    it('returns the windows and whether a request would be allowed, and consumes nothing', async () => {
      const request = newBucket(3, 100);
      const empty = await store.peek(request);
      expect(empty).toMatchObject({ allowed: true, denialsUntilBan: denialsBeforeBan(3), ban: null });
      expect(remaining(empty)).toEqual([3, 100]);
      expect(await home.findCounter(request.bucketKey)).toBeUndefined();
      await consume(request, 4);
      const before = await home.findCounter(request.bucketKey);
      const full = await store.peek(request);
      expect(full).toMatchObject({ allowed: false, denialsUntilBan: denialsBeforeBan(3) - 1, ban: null });
      expect(remaining(full)).toEqual([0, 97]);
      expect(remaining(await store.peek({ ...request, perMinute: 10, perDay: 50 }))).toEqual([7, 47]);
      expect(await home.findCounter(request.bucketKey)).toEqual(before);
    });

    it('returns the windows that are open now', async () => {
      const request = newBucket(3, 100);
      await consume(request, 4);
      clock.travel(MINUTE_MS);
      const next = await store.peek(request);
      expect(next).toMatchObject({ allowed: true, denialsUntilBan: denialsBeforeBan(3) });
      expect(remaining(next)).toEqual([3, 97]);
      expect(resetsMs(next)).toEqual([NOON + 2 * MINUTE_MS, MIDNIGHT]);
      clock.travel(DAY_MS);
      expect(remaining(await store.peek(request))).toEqual([3, 100]);
    });

    it('returns only the minute window of an anonymous client', async () => {
      const anonymousClient = newBucket(2, null);
      await store.consume(anonymousClient);
      const seen = await store.peek(anonymousClient);
      expect(seen).toMatchObject({ allowed: true, denialsUntilBan: null, ban: null });
      expect(remaining(seen)).toEqual([1]);
    });
  });

  it('resolves a ping without counting anything', async () => {
    await store.ping();
    expect(await home.bucketKeys()).toStrictEqual([]);
  });
});
