import { Logger } from '@nestjs/common';
import type { RateLimitDecision, RateLimitRequest } from '../src/rate-limit/rules/rate-limit-decision.js';
import type { CounterStore } from '../src/rate-limit/stores/counter-store.js';
import { TestClock } from './support/clock.js';
import { type CounterHome, counterStores } from './support/counter-stores.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_LIMIT = 2_147_483_647;

describe.each(counterStores)('counted in %s,', (storeName, start) => {
  let home: CounterHome;
  let clock: TestClock;
  let store: CounterStore;
  let subjects = 0;

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

  /** A subject that nobody has counted yet. */
  function newSubject(perMinute = 60, perDay: number | null = 1000): RateLimitRequest {
    subjects += 1;
    return { bucketKey: `${perDay === null ? 'address' : 'quota'}:${subjects}`, perMinute, perDay };
  }

  /** So many asks at once, spread over the stores in turn. */
  function takeAtOnce(ask: RateLimitRequest, count: number, from = [store]): Promise<RateLimitDecision[]> {
    return Promise.all(
      Array.from({ length: count }, (_, index) => (from[index % from.length] as CounterStore).consume(ask)),
    );
  }

  const remaining = ({ windows }: RateLimitDecision) => windows.map((window) => window.remaining);
  const allowed = (decisions: RateLimitDecision[]) => decisions.filter((decision) => decision.allowed);
  const descending = (from: number, to: number) =>
    Array.from({ length: from - to + 1 }, (_, index) => from - index);

  describe('a limit', () => {
    it('admits exactly as many of all who ask at once', async () => {
      const ask = newSubject(60, 1000);
      const decisions = await takeAtOnce(ask, 200);
      expect(allowed(decisions)).toHaveLength(60);
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ minuteUsed: 60, dayUsed: 60 });
    });

    it('admits exactly as many of all who ask two replicas at once', async () => {
      const ask = newSubject(60, 1000);
      const decisions = await takeAtOnce(ask, 200, [store, await home.open(clock)]);
      expect(allowed(decisions)).toHaveLength(60);
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ minuteUsed: 60, dayUsed: 60 });
    });

    it('of the day admits exactly as many too', async () => {
      const ask = newSubject(1000, 60);
      const decisions = await takeAtOnce(ask, 200, [store, await home.open(clock)]);
      expect(allowed(decisions)).toHaveLength(60);
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ minuteUsed: 60, dayUsed: 60 });
    });

    it('holds for a subject never seen before, whose first question brings 200 asks', async () => {
      const ask = newSubject(60, 1000);
      const [, ...decisions] = await Promise.all([
        store.consume(newSubject()),
        ...Array.from({ length: 200 }, () => store.consume(ask)),
      ]);
      expect(allowed(decisions)).toHaveLength(60);
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ minuteUsed: 60, dayUsed: 60 });
    });

    it("holds for a stranger's first question too", async () => {
      const stranger = newSubject(30, null);
      const [, ...decisions] = await Promise.all([
        store.consume(newSubject()),
        ...Array.from({ length: 100 }, () => store.consume(stranger)),
      ]);
      expect(allowed(decisions)).toHaveLength(30);
    });

    it('tells each remaining number exactly once, whichever replica is asked', async () => {
      const decisions = allowed(
        await takeAtOnce(newSubject(60, 1000), 200, [store, await home.open(clock), await home.open(clock)]),
      );
      const told = decisions.map(remaining).toSorted(([a = 0], [b = 0]) => b - a);
      expect(told).toEqual(descending(59, 0).map((left) => [left, left + 940]));
    });

    it('tells the numbers of one question in the order of its asks, and those refused what is left', async () => {
      const decisions = await takeAtOnce(newSubject(6, 100), 9);
      expect(decisions.map(({ allowed: yes }) => yes)).toEqual([
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

    it('is counted for each subject by itself, also where one question has several', async () => {
      const [narrow, wide, stranger] = [newSubject(2, 50), newSubject(100, 3), newSubject(1, null)];
      const decisions = await Promise.all(
        [narrow, wide, stranger, narrow, wide, stranger, narrow, wide, wide].map((ask) => store.consume(ask)),
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

    it('that was lowered below what is used leaves nothing remaining, never less; raised again, the rest', async () => {
      const ask = newSubject(60, 1000);
      await takeAtOnce(ask, 10);
      const lowered = await store.consume({ ...ask, perMinute: 5, perDay: 7 });
      expect(lowered.allowed).toBe(false);
      expect(lowered.windows).toMatchObject([
        { name: 'minute', limit: 5, remaining: 0 },
        { name: 'day', limit: 7, remaining: 0 },
      ]);
      const raised = await store.consume({ ...ask, perMinute: 300, perDay: 10_000 });
      expect(raised.allowed).toBe(true);
      expect(remaining(raised)).toEqual([289, 9989]);
    });

    it('of a stranger is the minute alone', async () => {
      const stranger = newSubject(2, null);
      const decisions = await takeAtOnce(stranger, 3);
      expect(decisions.map((decision) => decision.allowed)).toEqual([true, true, false]);
      for (const { windows } of decisions) {
        expect(windows.map(({ name }) => name)).toEqual(['minute']);
      }
    });
  });

  describe('a request takes from both windows or from none', () => {
    it('so that a refusal by the minute never burns the day', async () => {
      const ask = newSubject(5, 100);
      await takeAtOnce(ask, 12);
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ minuteUsed: 5, dayUsed: 5 });
      expect(remaining(await store.consume(ask))).toEqual([0, 95]);
    });

    it('so that a refusal by the day never burns the minute', async () => {
      const ask = newSubject(100, 5);
      await takeAtOnce(ask, 12);
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ minuteUsed: 5, dayUsed: 5 });
      expect(remaining(await store.consume(ask))).toEqual([95, 0]);
    });
  });

  describe('a window', () => {
    const noon = Date.UTC(2027, 2, 5, 12);

    it('of a minute begins anew with the minute, and tells when it ends', async () => {
      clock.travelTo(new Date(noon + 50_000));
      const ask = newSubject(5, 1000);
      const before = await takeAtOnce(ask, 6);
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
      const after = await store.consume(ask);
      expect(after.allowed).toBe(true);
      expect(remaining(after)).toEqual([4, 994]);
      expect(after.windows.map(({ resetSeconds }) => resetSeconds * 1000)).toEqual([
        noon + 2 * MINUTE_MS,
        Date.UTC(2027, 2, 6),
      ]);
    });

    it('of a day begins anew with the UTC day, and tells when it ends', async () => {
      const midnight = Date.UTC(2028, 1, 29);
      clock.travelTo(new Date(midnight - 10_000));
      const ask = newSubject(100, 5);
      expect((await takeAtOnce(ask, 6)).map((decision) => decision.allowed).at(-1)).toBe(false);
      clock.travelTo(new Date(midnight));
      const after = await store.consume(ask);
      expect(after.allowed).toBe(true);
      expect(remaining(after)).toEqual([99, 4]);
      expect(after.windows.map(({ resetSeconds }) => resetSeconds * 1000)).toEqual([
        midnight + MINUTE_MS,
        midnight + DAY_MS,
      ]);
    });

    it('that was used up yesterday leaves nothing behind after a long silence', async () => {
      const ask = newSubject(5, 5);
      await takeAtOnce(ask, 6);
      clock.travel(40 * DAY_MS);
      const later = await store.consume(ask);
      expect(later.allowed).toBe(true);
      expect(remaining(later)).toEqual([4, 4]);
    });

    it('never goes back: a replica whose clock is behind counts in the later window', async () => {
      clock.travelTo(new Date(noon + MINUTE_MS));
      const ask = newSubject(5, 100);
      await takeAtOnce(ask, 3);
      const clockBehind = new TestClock();
      clockBehind.travelTo(new Date(noon + 30_000));
      const behind = await takeAtOnce(ask, 3, [await home.open(clockBehind)]);
      expect(behind.map((decision) => [decision.allowed, ...remaining(decision)])).toEqual([
        [true, 1, 96],
        [true, 0, 95],
        [false, 0, 95],
      ]);
      for (const { windows, nowMs } of behind) {
        expect(windows[0]?.resetSeconds).toBe((noon + 2 * MINUTE_MS) / 1000);
        // The answer's own time is inside that window: it tells no wait longer than a minute.
        expect(nowMs).toBe(noon + MINUTE_MS);
      }
      // What its clock showed is told beside that, also to who looks.
      for (const { clockMs } of [...behind, await (await home.open(clockBehind)).peek(ask)]) {
        expect(clockMs).toBeGreaterThanOrEqual(noon + 30_000);
        expect(clockMs).toBeLessThan(noon + MINUTE_MS);
      }
    });

    it('never goes back to yesterday: a replica whose clock is behind midnight counts in the new day', async () => {
      const midnight = Date.UTC(2027, 2, 6);
      clock.travelTo(new Date(midnight));
      const ask = newSubject(100, 5);
      await takeAtOnce(ask, 5);
      const clockBehind = new TestClock();
      clockBehind.travelTo(new Date(midnight - 30_000));
      const behind = await (await home.open(clockBehind)).consume(ask);
      expect(behind.allowed).toBe(false);
      expect(remaining(behind)).toEqual([95, 0]);
      expect(behind.windows[1]?.resetSeconds).toBe((midnight + DAY_MS) / 1000);
    });
  });

  /** Numbers of the windows that are open. */
  const openWindows = () => ({
    minute: Math.floor(clock.now() / MINUTE_MS),
    day: Math.floor(clock.now() / DAY_MS),
  });

  describe('a look', () => {
    it('tells the windows as they are, and whether a request would be allowed, and takes nothing', async () => {
      const ask = newSubject(3, 100);
      expect(await store.peek(ask)).toMatchObject({ allowed: true, refusalsUntilBan: 3, ban: null });
      expect(remaining(await store.peek(ask))).toEqual([3, 100]);
      expect(await home.counterOf(ask.bucketKey)).toBeUndefined();
      await takeAtOnce(ask, 4);
      const before = await home.counterOf(ask.bucketKey);
      const full = await store.peek(ask);
      expect(full).toMatchObject({ allowed: false, refusalsUntilBan: 2, ban: null });
      expect(remaining(full)).toEqual([0, 97]);
      expect(remaining(await store.peek({ ...ask, perMinute: 10, perDay: 50 }))).toEqual([7, 47]);
      expect(await home.counterOf(ask.bucketKey)).toEqual(before);
    });

    it('is at the windows that are open now', async () => {
      const ask = newSubject(3, 100);
      await takeAtOnce(ask, 4);
      clock.travel(MINUTE_MS);
      const next = await store.peek(ask);
      expect(next).toMatchObject({ allowed: true, refusalsUntilBan: 3 });
      expect(remaining(next)).toEqual([3, 97]);
      expect(next.windows[0]?.resetSeconds).toBe((openWindows().minute + 1) * 60);
      clock.travel(DAY_MS);
      expect(remaining(await store.peek(ask))).toEqual([3, 100]);
    });

    it('at a stranger has the minute alone', async () => {
      const stranger = newSubject(2, null);
      await takeAtOnce(stranger, 1);
      const seen = await store.peek(stranger);
      expect(seen).toMatchObject({ allowed: true, refusalsUntilBan: null, ban: null });
      expect(remaining(seen)).toEqual([1]);
    });

    it('tells the ban that lasts, and none that is over', async () => {
      const ask = newSubject(2, 100);
      const starter = (await takeAtOnce(ask, 4)).at(-1) as RateLimitDecision;
      const untilMs = starter.ban?.untilMs ?? 0;
      const banned = { allowed: false, refusalsUntilBan: 0, ban: { untilMs, started: false } };
      expect(await store.peek(ask)).toMatchObject(banned);
      expect(await (await home.open(clock, '')).peek(ask)).toMatchObject({
        refusalsUntilBan: null,
        ban: null,
      });
      clock.travelTo(new Date(untilMs));
      expect(await store.peek(ask)).toMatchObject({ allowed: true, refusalsUntilBan: 2, ban: null });
    });
  });

  // Nothing is reported to the memory of a replica.
  const describeOfShared = storeName === 'memory' ? describe.skip : describe;
  describeOfShared('what was allowed elsewhere', () => {
    it('is added to the windows that are still open, also beyond their limits', async () => {
      const ask = newSubject(10, 100);
      await takeAtOnce(ask, 4);
      await store.reconcile([{ ...ask, ...openWindows(), minuteUsed: 5, dayUsed: 7 }]);
      expect(remaining(await store.consume(ask))).toEqual([0, 88]);
      await store.reconcile([{ ...ask, ...openWindows(), minuteUsed: 5, dayUsed: 90 }]);
      const seen = await store.peek(ask);
      expect([seen.allowed, ...remaining(seen)]).toEqual([false, 0, 0]);
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ minuteUsed: 15, dayUsed: 102 });
    });

    it('is counted of subjects that were never seen, several at once', async () => {
      const [ask, stranger] = [newSubject(10, 100), newSubject(10, null)];
      await store.reconcile([
        { ...ask, ...openWindows(), minuteUsed: 3, dayUsed: 4 },
        { ...stranger, ...openWindows(), minuteUsed: 6, dayUsed: 6 },
      ]);
      expect(remaining(await store.consume(ask))).toEqual([6, 95]);
      expect(remaining(await store.consume(stranger))).toEqual([3]);
    });

    it('adds nothing to a window that is over', async () => {
      const ask = newSubject(10, 100);
      await takeAtOnce(ask, 4);
      const { minute, day } = openWindows();
      await store.reconcile([{ ...ask, minute: minute - 1, day: day - 1, minuteUsed: 5, dayUsed: 7 }]);
      expect(remaining(await store.consume(ask))).toEqual([5, 95]);
      await store.reconcile([{ ...ask, minute: minute - 1, day, minuteUsed: 5, dayUsed: 7 }]);
      expect(remaining(await store.consume(ask))).toEqual([4, 87]);
    });

    it('takes the place of an earlier window, whose refusals are over', async () => {
      const ask = newSubject(3, 100);
      await takeAtOnce(ask, 4);
      clock.travel(MINUTE_MS);
      await store.reconcile([{ ...ask, ...openWindows(), minuteUsed: 2, dayUsed: 2 }]);
      const seen = await store.consume(ask);
      expect([seen.refusalsUntilBan, ...remaining(seen)]).toEqual([3, 0, 94]);
    });

    it('by a replica that was ahead of the time of the store is of the windows that are open there', async () => {
      const [known, unknown] = [newSubject(10, 100), newSubject(10, 100)];
      await takeAtOnce(known, 3);
      const { minute, day } = openWindows();
      const ahead = { minute: minute + 5, minuteUsed: 4, day: day + 1, dayUsed: 6 };
      await store.reconcile([
        { ...known, ...ahead },
        { ...unknown, ...ahead },
      ]);
      expect(await home.counterOf(known.bucketKey)).toMatchObject({ minute, minuteUsed: 7, day, dayUsed: 9 });
      expect(await home.counterOf(unknown.bucketKey)).toMatchObject({
        minute,
        minuteUsed: 4,
        day,
        dayUsed: 6,
      });
      clock.travel(MINUTE_MS);
      expect(remaining(await store.consume(known))).toEqual([9, 90]);
    });

    it('is added to a window that is stored already, though it begins only later by the time of the store', async () => {
      const ask = newSubject(10, 100);
      clock.travel(MINUTE_MS);
      await takeAtOnce(ask, 3);
      const { minute, day } = openWindows();
      clock.travel(-MINUTE_MS);
      await store.reconcile([{ ...ask, minute, minuteUsed: 4, day, dayUsed: 4 }]);
      await store.reconcile([{ ...ask, minute: minute + 1, minuteUsed: 1, day, dayUsed: 1 }]);
      await store.reconcile([{ ...ask, minute: minute - 1, minuteUsed: 1, day, dayUsed: 1 }]);
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ minute, minuteUsed: 8, day, dayUsed: 9 });
    });

    it('is added to a day that is stored already, though it begins only later by the time of the store', async () => {
      const ask = newSubject(10, 100);
      const midnight = Date.UTC(2027, 2, 6);
      clock.travelTo(new Date(midnight));
      await takeAtOnce(ask, 3);
      const { minute, day } = openWindows();
      clock.travelTo(new Date(midnight - 30_000));
      await store.reconcile([{ ...ask, minute, minuteUsed: 4, day, dayUsed: 4 }]);
      await store.reconcile([{ ...ask, minute: minute - 1, minuteUsed: 1, day: day - 1, dayUsed: 1 }]);
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ minute, minuteUsed: 7, day, dayUsed: 7 });
    });

    it('never makes a count larger than the store can hold, nor keeps the rest of a batch from being added', async () => {
      const [full, anonymous, other] = [
        newSubject(MAX_LIMIT, MAX_LIMIT),
        newSubject(MAX_LIMIT, null),
        newSubject(10, 100),
      ];
      const used = { ...openWindows(), minuteUsed: MAX_LIMIT + 1, dayUsed: MAX_LIMIT + 1 };
      for (let round = 0; round < 2; round += 1) {
        await store.reconcile([
          { ...full, ...used },
          { ...other, ...openWindows(), minuteUsed: 1, dayUsed: 1 },
          { ...anonymous, ...used },
        ]);
      }
      expect(remaining(await store.peek(full))).toEqual([0, 0]);
      expect(remaining(await store.peek(other))).toEqual([8, 98]);
      // An anonymous client has no limit per day: only the store bounds that count.
      clock.travel(MINUTE_MS);
      const next = await Promise.all([anonymous, other].map((ask) => store.consume(ask)));
      expect(next.map(remaining)).toEqual([[MAX_LIMIT - 1], [9, 97]]);
    });

    it('neither starts a ban nor ends one', async () => {
      const ask = newSubject(2, 100);
      const starter = (await takeAtOnce(ask, 4)).at(-1) as RateLimitDecision;
      clock.travel(MINUTE_MS / 2);
      await store.reconcile([{ ...ask, ...openWindows(), minuteUsed: 50, dayUsed: 50 }]);
      expect((await store.consume(ask)).ban).toEqual({ untilMs: starter.ban?.untilMs, started: false });
      expect(await home.counterOf(ask.bucketKey)).toMatchObject({ banLevel: 1 });
    });

    it('may be nothing at all', async () => {
      await expect(store.reconcile([])).resolves.toBeUndefined();
    });
  });
});
