import type { RateLimitDecision, RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../support/time/clock.js';
import { sharedStores } from '../support/counter-stores.js';
import {
  banEnd,
  clock,
  consume,
  descending,
  home,
  lengthMs,
  newBucket,
  NOON,
  openForEach,
  provokeBan,
  remaining,
  store,
  summarize,
} from './counting.js';

/** The limit per minute, whatever the service's rule is: the tests are of what stores do with a threshold. */
jest.mock('../../src/rate-limit/rules/ban.js', () => ({
  ...jest.requireActual('../../src/rate-limit/rules/ban.js'),
  banThreshold: ({ perMinute, perDay }: RateLimitRequest, banDurations: number[]) =>
    banDurations.length > 0 && perDay !== null ? perMinute : null,
}));

describe.each(sharedStores)('bans counted in %s', (_name, start) => {
  openForEach(start);

  const open = (banDurations?: string) => home.open(banDurations);

  /** Consumes `count` times, one after another. */
  async function consumeInTurn(request: RateLimitRequest, count: number): Promise<RateLimitDecision[]> {
    const decisions: RateLimitDecision[] = [];
    for (let consumed = 0; consumed < count; consumed += 1) {
      decisions.push(await store.consume(request));
    }
    return decisions;
  }

  const summarizeBatch = async (request: RateLimitRequest, count: number, from = store) =>
    summarize(await consume(request, count, from));

  /** Returns what is stored of the usage and the bans of a bucket. */
  async function findCounter({ bucketKey }: RateLimitRequest) {
    const { minuteUsed, dayUsed, denials, bannedUntil, banLevel } = (await home.findCounter(bucketKey)) ?? {};
    return { minuteUsed, dayUsed, denials, bannedUntil, banLevel };
  }

  describe('a ban', () => {
    it('is started by the denial that reaches the threshold within a minute, and by no other', async () => {
      const request = newBucket(5);
      const decisions = await consumeInTurn(request, 12);
      expect(summarize(decisions)).toBe('5 allowed, denied with 4 3 2 1 left, starts a ban, 2 banned');
      expect(decisions.slice(0, 5).map(({ denialsUntilBan }) => denialsUntilBan)).toEqual([5, 5, 5, 5, 5]);
      const [starter, ...others] = decisions.slice(9) as [RateLimitDecision, ...RateLimitDecision[]];
      expect(lengthMs(starter)).toBe(MINUTE_MS);
      const { untilMs } = starter.ban ?? {};
      const banned = { allowed: false, denialsUntilBan: 0, ban: { untilMs, started: false } };
      expect(others).toMatchObject([banned, banned]);
      expect(await findCounter(request)).toEqual({
        minuteUsed: 5,
        dayUsed: 5,
        denials: 0,
        bannedUntil: banEnd(starter),
        banLevel: 1,
      });
    });

    it('is also started by denials of the day', async () => {
      const decisions = await consumeInTurn(newBucket(5, 2), 8);
      expect(summarize(decisions)).toBe('2 allowed, denied with 4 3 2 1 left, starts a ban, 1 banned');
      expect(remaining(decisions.at(-1) as RateLimitDecision)).toEqual([3, 0]);
    });

    it('is not started by denials of the previous minute', async () => {
      const request = newBucket(5);
      clock.travelTo(new Date(NOON + 58 * SECOND_MS));
      expect(await summarizeBatch(request, 9)).toBe('5 allowed, denied with 4 3 2 1 left');
      clock.travelTo(new Date(NOON + MINUTE_MS));
      const next = await consumeInTurn(request, 10);
      expect(summarize(next)).toBe('5 allowed, denied with 4 3 2 1 left, starts a ban');
      expect(next[0]?.denialsUntilBan).toBe(5);
    });

    it('ends at its exact millisecond: requests are allowed, and denials count from zero', async () => {
      const request = newBucket(5);
      const end = banEnd(await provokeBan(request));
      clock.travelTo(new Date(end.getTime() - SECOND_MS));
      expect(await summarizeBatch(request, 1)).toBe('1 banned');
      clock.travelTo(end);
      expect(await summarizeBatch(request, 6)).toBe('5 allowed, denied with 4 left');
    });

    it('is not extended by requests during it, which use nothing of the windows', async () => {
      const request = newBucket(5, 1000);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      const end = banEnd(await provokeBan(request));
      const before = await findCounter(request);
      expect(await summarizeBatch(request, 40)).toBe('40 banned');
      expect(await findCounter(request)).toEqual(before);
      clock.travel(45 * SECOND_MS);
      const later = await consume(request, 40);
      expect(summarize(later)).toBe('40 banned');
      expect(later.map(remaining)).toEqual(later.map(() => [5, 995]));
      expect(await findCounter(request)).toEqual({ ...before, minuteUsed: 0 });
      clock.travelTo(end);
      expect(remaining(await store.consume(request))).toEqual([4, 994]);
    });

    it('starts and ends by the clock of now while the windows begin later', async () => {
      const request = newBucket(5);
      clock.travel(HOUR_MS);
      await consume(request, 5);
      clock.travel(-HOUR_MS);
      const starter = (await consume(request, 5)).at(-1) as RateLimitDecision;
      expect(starter.ban?.started).toBe(true);
      expect(Math.abs((lengthMs(starter) ?? 0) - MINUTE_MS)).toBeLessThan(SECOND_MS);
      expect(banEnd(starter).getTime()).toBeLessThan(NOON + 2 * MINUTE_MS);
      clock.travelTo(banEnd(starter));
      expect(await summarizeBatch(request, 1)).toBe('denied with 4 left');
    });

    it('applies to one bucket, even when one batch has several', async () => {
      const [rude, polite] = [newBucket(1), newBucket(5)];
      const decisions = await Promise.all(
        [rude, polite, rude, polite, rude, polite].map((request) => store.consume(request)),
      );
      expect(summarize(decisions)).toBe('2 allowed, starts a ban, 1 allowed, 1 banned, 1 allowed');
    });

    it('never applies to an anonymous client, however many requests it sends', async () => {
      const anonymous = newBucket(5, null);
      expect(await summarizeBatch(anonymous, 30)).toBe('5 allowed, 25 denied');
      expect(await summarizeBatch(anonymous, 30)).toBe('30 denied');
      expect(await findCounter(anonymous)).toMatchObject({ bannedUntil: null, banLevel: 0 });
      expect(await store.bans()).toEqual(new Map());
    });
  });

  describe('denials until a ban', () => {
    it('increase when the threshold is raised within the minute', async () => {
      const request = newBucket(5);
      expect(await summarizeBatch(request, 9)).toBe('5 allowed, denied with 4 3 2 1 left');
      const raised = await consumeInTurn({ ...request, perMinute: 8 }, 8);
      expect(raised[0]?.denialsUntilBan).toBe(4);
      expect(summarize(raised)).toBe('3 allowed, denied with 3 2 1 left, starts a ban, 1 banned');
    });

    it('are one when the threshold is lowered below the denials already counted', async () => {
      const request = newBucket(5);
      expect(await summarizeBatch(request, 8)).toBe('5 allowed, denied with 4 3 2 left');
      expect(await summarizeBatch({ ...request, perMinute: 2 }, 3)).toBe('starts a ban, 2 banned');
    });
  });

  describe('requests in one batch', () => {
    it.each([
      ['a new bucket', 0],
      ['a known bucket', 1],
    ])('are decided one by one for %s', async (_kind, usedBefore) => {
      const request = newBucket(5);
      await consume(request, usedBefore);
      clock.travel(MINUTE_MS);
      const decisions = await consume(request, 20);
      expect(summarize(decisions)).toBe('5 allowed, denied with 4 3 2 1 left, starts a ban, 10 banned');
      expect(decisions.map(lengthMs)).toEqual([...Array(9).fill(null), ...Array(11).fill(MINUTE_MS)]);
      expect(await findCounter(request)).toMatchObject({
        minuteUsed: 5,
        dayUsed: 5 + usedBefore,
        denials: 0,
        banLevel: 1,
      });
    });

    it('continue where the previous batch ended', async () => {
      const request = newBucket(5);
      expect(await summarizeBatch(request, 7)).toBe('5 allowed, denied with 4 3 left');
      expect(await summarizeBatch(request, 1)).toBe('denied with 2 left');
      expect(await summarizeBatch(request, 12)).toBe('denied with 1 left, starts a ban, 10 banned');
    });

    it('report each number of denials once across three replicas, of which one starts the ban', async () => {
      const replicas = [store, await open(), await open()];
      for (let round = 0; round < 5; round += 1) {
        const request = newBucket(30);
        const decisions = await consume(request, 120, ...replicas);
        const inOrder = decisions.toSorted(
          (a, b) =>
            Number(b.allowed) - Number(a.allowed) ||
            (b.denialsUntilBan ?? 0) - (a.denialsUntilBan ?? 0) ||
            Number(b.ban?.started) - Number(a.ban?.started),
        );
        expect(summarize(inOrder)).toBe(
          `30 allowed, denied with ${descending(29, 1).join(' ')} left, starts a ban, 60 banned`,
        );
        const end = banEnd(inOrder.at(-1) as RateLimitDecision);
        expect(inOrder.slice(59).map(banEnd)).toEqual(Array(61).fill(end));
        expect(await findCounter(request)).toEqual({
          minuteUsed: 30,
          dayUsed: 30,
          denials: 0,
          bannedUntil: end,
          banLevel: 1,
        });
      }
    });
  });

  describe('ban durations', () => {
    /**
     * Provokes `count` bans, each as soon as the one before is over, and returns the decisions that started
     * them.
     */
    async function bansInARow(request: RateLimitRequest, count: number, from = store) {
      const starters: RateLimitDecision[] = [];
      for (let started = 0; started < count; started += 1) {
        const starter = await provokeBan(request, from);
        starters.push(starter);
        clock.travelTo(new Date(Math.ceil(banEnd(starter).getTime() / MINUTE_MS) * MINUTE_MS));
      }
      return starters;
    }

    it.each([
      ['1 min, 5 min, 1 h and 24 h', undefined, [MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, DAY_MS, DAY_MS, DAY_MS]],
      ['those of BAN_DURATIONS', '30s,2d', [30 * SECOND_MS, 2 * DAY_MS, 2 * DAY_MS]],
    ])('are %s, and the last repeats', async (_which, setting, lengths) => {
      const starters = await bansInARow(newBucket(5), lengths.length, await open(setting));
      expect(starters.map(lengthMs)).toEqual(lengths);
    });

    it.each([
      ['just short of one day after a third ban', 3, DAY_MS - 10 * SECOND_MS, 24 * HOUR_MS],
      ['one day', 3, DAY_MS, HOUR_MS],
      ['just short of two days', 3, 2 * DAY_MS - 10 * SECOND_MS, HOUR_MS],
      ['two days', 3, 2 * DAY_MS, 5 * MINUTE_MS],
      ['three days', 3, 3 * DAY_MS, MINUTE_MS],
      ['thirty days', 3, 30 * DAY_MS, MINUTE_MS],
      ['two days after the last level, however often it was repeated', 7, 2 * DAY_MS, HOUR_MS],
    ])('fall by one level for each full 24 hours: %s', async (_days, bans, waitMs, nextMs) => {
      const request = newBucket(5);
      const last = (await bansInARow(request, bans)).at(-1) as RateLimitDecision;
      clock.travelTo(new Date(banEnd(last).getTime() + waitMs));
      expect(lengthMs(await provokeBan(request))).toBe(nextMs);
    });

    it('stop at their last level when the list became shorter', async () => {
      const request = newBucket(5);
      await bansInARow(request, 4);
      expect(lengthMs(await provokeBan(request, await open('10s,20s')))).toBe(20 * SECOND_MS);
    });

    it('ban nobody when the list is empty', async () => {
      const request = newBucket(5);
      const lenient = await open('');
      expect(await summarizeBatch(request, 30, lenient)).toBe('5 allowed, 25 denied');
      expect(await summarizeBatch(request, 30, lenient)).toBe('30 denied');
      expect(await findCounter(request)).toMatchObject({ denials: 55, bannedUntil: null, banLevel: 0 });
    });

    it('suspend active bans when the list is empty; those hold again on a replica with bans', async () => {
      const request = newBucket(5);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      const end = banEnd(await provokeBan(request));
      clock.travelTo(new Date(NOON + MINUTE_MS));
      const lenient = await open('');
      expect(await lenient.bans()).toEqual(new Map());
      expect(await summarizeBatch(request, 7, lenient)).toBe('5 allowed, 2 denied');
      const again = await store.consume(request);
      expect([summarize([again]), banEnd(again)]).toEqual(['1 banned', end]);
      expect(await store.bans()).toEqual(new Map([[request.bucketKey, end]]));
    });
  });

  describe('CounterStore.liftBan', () => {
    it('ends the ban for the next request on every replica', async () => {
      const request = newBucket(5);
      const end = banEnd(await provokeBan(request));
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      expect(await (await open()).liftBan(request.bucketKey)).toEqual(end);
      expect(await summarizeBatch(request, 1)).toBe('denied with 4 left');
      clock.travelTo(new Date(NOON + MINUTE_MS));
      expect(await summarizeBatch(request, 2)).toBe('2 allowed');
    });

    it('keeps the ban level, which falls from that moment on', async () => {
      const request = newBucket(5);
      for (const lastsMs of [MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, 24 * HOUR_MS]) {
        expect(lengthMs(await provokeBan(request))).toBe(lastsMs);
        clock.travel(MINUTE_MS);
        await store.liftBan(request.bucketKey);
      }
      clock.travel(2 * DAY_MS);
      expect(lengthMs(await provokeBan(request))).toBe(HOUR_MS);
    });

    it('returns null when there is no ban: none yet, one lifted already, or one that has ended', async () => {
      const request = newBucket(5);
      expect(await store.liftBan(request.bucketKey)).toBeNull();
      expect(await summarizeBatch(request, 7)).toBe('5 allowed, denied with 4 3 left');
      expect(await store.liftBan(request.bucketKey)).toBeNull();
      expect(await summarizeBatch(request, 3)).toBe('denied with 2 1 left, starts a ban');
      expect(await store.liftBan(request.bucketKey)).not.toBeNull();
      expect(await store.liftBan(request.bucketKey)).toBeNull();
      clock.travel(MINUTE_MS);
      clock.travelTo(banEnd(await provokeBan(request)));
      expect(await store.liftBan(request.bucketKey)).toBeNull();
    });

    it('returns nothing to the windows, and keeps other bans', async () => {
      const [lifted, other] = [newBucket(5), newBucket(5)];
      await provokeBan(lifted);
      const kept = await provokeBan(other);
      await store.liftBan(lifted.bucketKey);
      expect(await findCounter(lifted)).toMatchObject({ minuteUsed: 5, dayUsed: 5, denials: 0 });
      expect(await store.bans()).toEqual(new Map([[other.bucketKey, banEnd(kept)]]));
    });

    it('resets the denials of the minute, including those counted by a replica without bans', async () => {
      const request = newBucket(5);
      await provokeBan(request);
      await consume(request, 3, await open(''));
      expect(await findCounter(request)).toMatchObject({ denials: 3 });
      await store.liftBan(request.bucketKey);
      expect(await findCounter(request)).toMatchObject({ denials: 0, banLevel: 1 });
      expect(await summarizeBatch(request, 1)).toBe('denied with 4 left');
    });
  });

  it('CounterStore.peek returns an active ban, and none that is over', async () => {
    const request = newBucket(2, 100);
    const { untilMs } = (await provokeBan(request)).ban ?? { untilMs: 0 };
    const banned = { allowed: false, denialsUntilBan: 0, ban: { untilMs, started: false } };
    expect(await store.peek(request)).toMatchObject(banned);
    expect(await (await open('')).peek(request)).toMatchObject({ denialsUntilBan: null, ban: null });
    clock.travelTo(new Date(untilMs));
    expect(await store.peek(request)).toMatchObject({ allowed: true, ban: null });
  });

  it('CounterStore.bans returns the active bans with their ends, by the clock of the store', async () => {
    const [first, second, never] = [newBucket(5), newBucket(1), newBucket(5)];
    const early = banEnd(await provokeBan(first));
    clock.travelTo(new Date(NOON + 30 * SECOND_MS));
    const late = banEnd(await provokeBan(second));
    await consume(never, 9);
    const other = await open();
    const both: [string, Date][] = [
      [first.bucketKey, early],
      [second.bucketKey, late],
    ];
    expect(await other.bans()).toEqual(new Map(both));
    clock.travelTo(early);
    expect(await other.bans()).toEqual(new Map(both.slice(1)));
    clock.travelTo(late);
    expect(await other.bans()).toEqual(new Map());
  });
});
