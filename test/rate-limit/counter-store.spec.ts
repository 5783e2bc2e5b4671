import { Logger } from '@nestjs/common';
import type { RateLimitDecision } from '../../src/rate-limit/rules/rate-limit-decision.js';
import type { CounterStore } from '../../src/rate-limit/stores/counter-store.js';
import { TestClock } from '../support/counters/clock.js';
import {
  allowed,
  consumeAtOnce,
  type CounterHome,
  counterStores,
  descending,
  newBucket,
  remaining,
} from '../support/counters/counter-stores.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe.each(counterStores)('CounterStore in %s', (_name, start) => {
  let home: CounterHome;
  let clock: TestClock;
  let store: CounterStore;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    home = await start();
  });
  afterAll(() => home.stop());

  beforeEach(async () => {
    clock = new TestClock();
    clock.travelToMinuteStart();
    store = await home.open(clock);
  });
  afterEach(() => home.clear());

  describe('consume', () => {
    it('allows exactly the limit of concurrent requests at two replicas', async () => {
      const request = newBucket(60, 1000);
      const decisions = await consumeAtOnce(request, 200, store, await home.open(clock));
      expect(allowed(decisions)).toHaveLength(60);
      expect(await home.counterOf(request.bucketKey)).toMatchObject({ minuteUsed: 60, dayUsed: 60 });
    });

    it('allows exactly the limit per day too', async () => {
      const request = newBucket(1000, 60);
      const decisions = await consumeAtOnce(request, 200, store, await home.open(clock));
      expect(allowed(decisions)).toHaveLength(60);
      expect(await home.counterOf(request.bucketKey)).toMatchObject({ minuteUsed: 60, dayUsed: 60 });
    });

    it.each([
      ['a quota', 1000],
      ['an anonymous client', null],
    ])('allows exactly the limit to %s whose first batch has 200 requests', async (_whose, perDay) => {
      const request = newBucket(60, perDay);
      const [, ...decisions] = await Promise.all([
        store.consume(newBucket()),
        ...Array.from({ length: 200 }, () => store.consume(request)),
      ]);
      expect(allowed(decisions)).toHaveLength(60);
      expect(await home.counterOf(request.bucketKey)).toMatchObject({ minuteUsed: 60, dayUsed: 60 });
    });

    it('reports each remaining number exactly once, whichever replica decides', async () => {
      const decisions = allowed(
        await consumeAtOnce(newBucket(60, 1000), 200, store, await home.open(clock), await home.open(clock)),
      );
      const reported = decisions.map(remaining).toSorted(([a = 0], [b = 0]) => b - a);
      expect(reported).toEqual(descending(59, 0).map((left) => [left, left + 940]));
    });

    it('reports the remaining requests of one batch in order, and the remainder to denied requests', async () => {
      const decisions = await consumeAtOnce(newBucket(6, 100), 9, store);
      expect(decisions.map(({ allowed: isAllowed }) => isAllowed)).toEqual([
        ...Array(6).fill(true),
        ...Array(3).fill(false),
      ]);
      expect(decisions.map(remaining)).toEqual([
        ...descending(5, 0).map((left) => [left, left + 94]),
        [0, 94],
        [0, 94],
        [0, 94],
      ]);
    });

    it('counts each bucket separately, even when one batch has several', async () => {
      const [narrow, wide, anonymousClient] = [newBucket(2, 50), newBucket(100, 3), newBucket(1, null)];
      const decisions = await Promise.all(
        [narrow, wide, anonymousClient, narrow, wide, anonymousClient, narrow, wide, wide].map((request) =>
          store.consume(request),
        ),
      );
      expect(decisions.map((decision) => [decision.allowed, ...remaining(decision)])).toEqual([
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

    it('returns 0 remaining when the limit is lowered below the usage, and the rest when it is raised again', async () => {
      const request = newBucket(60, 1000);
      await consumeAtOnce(request, 10, store);
      const lowered = await store.consume({ ...request, perMinute: 5, perDay: 7 });
      expect(lowered.allowed).toBe(false);
      expect(lowered.windows).toMatchObject([
        { name: 'minute', limit: 5, remaining: 0 },
        { name: 'day', limit: 7, remaining: 0 },
      ]);
      const raised = await store.consume({ ...request, perMinute: 300, perDay: 10_000 });
      expect(raised.allowed).toBe(true);
      expect(remaining(raised)).toEqual([289, 9989]);
    });
  });

  describe('a denied request', () => {
    it.each([
      ['the day when the minute is full', 5, 100, [0, 95]],
      ['the minute when the day is full', 100, 5, [95, 0]],
    ])('uses nothing of %s', async (_what, perMinute, perDay, left) => {
      const request = newBucket(perMinute, perDay);
      await consumeAtOnce(request, 12, store);
      expect(await home.counterOf(request.bucketKey)).toMatchObject({ minuteUsed: 5, dayUsed: 5 });
      expect(remaining(await store.consume(request))).toEqual(left);
    });
  });

  describe('a window', () => {
    const noon = Date.UTC(2027, 2, 5, 12);

    it('starts again with the next minute if it is a minute, and reports its end', async () => {
      clock.travelTo(new Date(noon + 50_000));
      const request = newBucket(5, 1000);
      const before = await consumeAtOnce(request, 6, store);
      expect(allowed(before)).toHaveLength(5);
      for (const { windows, nowMs } of before) {
        expect(windows.map(({ resetSeconds }) => resetSeconds * 1000)).toEqual([
          noon + MINUTE_MS,
          Date.UTC(2027, 2, 6),
        ]);
        expect(nowMs).toBeGreaterThanOrEqual(noon + 50_000);
        expect(nowMs).toBeLessThan(noon + MINUTE_MS);
      }
      clock.travelTo(new Date(noon + MINUTE_MS));
      const after = await store.consume(request);
      expect(after.allowed).toBe(true);
      expect(remaining(after)).toEqual([4, 994]);
      expect(after.windows.map(({ resetSeconds }) => resetSeconds * 1000)).toEqual([
        noon + 2 * MINUTE_MS,
        Date.UTC(2027, 2, 6),
      ]);
    });

    it('starts again with the next UTC day if it is a day, and reports its end', async () => {
      const midnight = Date.UTC(2028, 1, 29);
      clock.travelTo(new Date(midnight - 10_000));
      const request = newBucket(100, 5);
      expect((await consumeAtOnce(request, 6, store)).map((decision) => decision.allowed).at(-1)).toBe(false);
      clock.travelTo(new Date(midnight));
      const after = await store.consume(request);
      expect(after.allowed).toBe(true);
      expect(remaining(after)).toEqual([99, 4]);
      expect(after.windows.map(({ resetSeconds }) => resetSeconds * 1000)).toEqual([
        midnight + MINUTE_MS,
        midnight + DAY_MS,
      ]);
    });

    it('never goes back: a replica whose clock is behind counts in the later window', async () => {
      clock.travelTo(new Date(noon + MINUTE_MS));
      const request = newBucket(5, 100);
      await consumeAtOnce(request, 3, store);
      const clockBehind = new TestClock();
      clockBehind.travelTo(new Date(noon + 30_000));
      const behind = await consumeAtOnce(request, 3, await home.open(clockBehind));
      expect(behind.map((decision) => [decision.allowed, ...remaining(decision)])).toEqual([
        [true, 1, 96],
        [true, 0, 95],
        [false, 0, 95],
      ]);
      for (const { windows, nowMs } of behind) {
        expect(windows[0]?.resetSeconds).toBe((noon + 2 * MINUTE_MS) / 1000);
        // The time of the decision is inside that window, so the wait is at most a minute.
        expect(nowMs).toBe(noon + MINUTE_MS);
      }
      // The server's own clock is reported too, also by `peek`.
      for (const { clockMs } of [...behind, await (await home.open(clockBehind)).peek(request)]) {
        expect(clockMs).toBeGreaterThanOrEqual(noon + 30_000);
        expect(clockMs).toBeLessThan(noon + MINUTE_MS);
      }
    });

    it('never goes back to yesterday: a replica whose clock is before midnight counts in the new day', async () => {
      const midnight = Date.UTC(2027, 2, 6);
      clock.travelTo(new Date(midnight));
      const request = newBucket(100, 5);
      await consumeAtOnce(request, 5, store);
      const clockBehind = new TestClock();
      clockBehind.travelTo(new Date(midnight - 30_000));
      const behind = await (await home.open(clockBehind)).consume(request);
      expect(behind.allowed).toBe(false);
      expect(remaining(behind)).toEqual([95, 0]);
      expect(behind.windows[1]?.resetSeconds).toBe((midnight + DAY_MS) / 1000);
    });
  });

  /** The numbers of the open windows. */
  const openWindows = () => ({
    minute: Math.floor(clock.now() / MINUTE_MS),
    day: Math.floor(clock.now() / DAY_MS),
  });

  describe('peek', () => {
    it('returns the windows and whether a request would be allowed, and consumes nothing', async () => {
      const request = newBucket(3, 100);
      expect(await store.peek(request)).toMatchObject({ allowed: true, refusalsUntilBan: 3, ban: null });
      expect(remaining(await store.peek(request))).toEqual([3, 100]);
      expect(await home.counterOf(request.bucketKey)).toBeUndefined();
      await consumeAtOnce(request, 4, store);
      const before = await home.counterOf(request.bucketKey);
      const full = await store.peek(request);
      expect(full).toMatchObject({ allowed: false, refusalsUntilBan: 2, ban: null });
      expect(remaining(full)).toEqual([0, 97]);
      expect(remaining(await store.peek({ ...request, perMinute: 10, perDay: 50 }))).toEqual([7, 47]);
      expect(await home.counterOf(request.bucketKey)).toEqual(before);
    });

    it('returns the windows that are open now', async () => {
      const request = newBucket(3, 100);
      await consumeAtOnce(request, 4, store);
      clock.travel(MINUTE_MS);
      const next = await store.peek(request);
      expect(next).toMatchObject({ allowed: true, refusalsUntilBan: 3 });
      expect(remaining(next)).toEqual([3, 97]);
      expect(next.windows[0]?.resetSeconds).toBe((openWindows().minute + 1) * 60);
      clock.travel(DAY_MS);
      expect(remaining(await store.peek(request))).toEqual([3, 100]);
    });

    it('returns only the minute window of an anonymous client', async () => {
      const anonymousClient = newBucket(2, null);
      await consumeAtOnce(anonymousClient, 1, store);
      const seen = await store.peek(anonymousClient);
      expect(seen).toMatchObject({ allowed: true, refusalsUntilBan: null, ban: null });
      expect(remaining(seen)).toEqual([1]);
    });

    it('returns an active ban, and none that is over', async () => {
      const request = newBucket(2, 100);
      const starter = (await consumeAtOnce(request, 4, store)).at(-1) as RateLimitDecision;
      const untilMs = starter.ban?.untilMs ?? 0;
      const banned = { allowed: false, refusalsUntilBan: 0, ban: { untilMs, started: false } };
      expect(await store.peek(request)).toMatchObject(banned);
      expect(await (await home.open(clock, '')).peek(request)).toMatchObject({
        refusalsUntilBan: null,
        ban: null,
      });
      clock.travelTo(new Date(untilMs));
      expect(await store.peek(request)).toMatchObject({ allowed: true, refusalsUntilBan: 2, ban: null });
    });
  });

  it('resolves a ping without counting anything', async () => {
    await store.ping();
    expect(await home.bucketKeys()).toEqual([]);
  });
});
