import { Logger } from '@nestjs/common';
import type { RateLimitDecision, RateLimitRequest } from '../../src/rate-limit/rules/rate-limit-decision.js';
import type { CounterStore } from '../../src/rate-limit/stores/counter-store.js';
import { TestClock } from '../support/counters/clock.js';
import {
  type CounterHome,
  counterStores,
  descending,
  describeDecision,
  endOf,
  lengthMs,
  newBucket,
  remaining,
  times,
} from '../support/counters/counter-stores.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOON = Date.UTC(2027, 2, 5, 12);

describe.each(counterStores)('bans counted in %s', (_name, start) => {
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
    clock.travelTo(new Date(NOON));
    store = await home.open(clock);
  });
  afterEach(() => home.clear());

  const open = (banDurations?: string) => home.open(clock, banDurations);

  /** Consumes `count` times, one after another. */
  async function consumeTimes(
    request: RateLimitRequest,
    count: number,
    from = store,
  ): Promise<RateLimitDecision[]> {
    const decisions: RateLimitDecision[] = [];
    for (let consumed = 0; consumed < count; consumed += 1) {
      decisions.push(await from.consume(request));
    }
    return decisions;
  }

  /** Consumes `count` times in one batch. */
  async function consumeInBatch(
    request: RateLimitRequest,
    count: number,
    from = store,
  ): Promise<RateLimitDecision[]> {
    // The first request is sent at once and alone; the others queue behind it and share a batch.
    const [, ...decisions] = await Promise.all([
      from.consume(newBucket(5)),
      ...Array.from({ length: count }, () => from.consume(request)),
    ]);
    return decisions;
  }

  /** Consumes within this minute until the bucket is banned, and returns the decision that started the ban. */
  async function provokeBan(request: RateLimitRequest, from = store): Promise<RateLimitDecision> {
    const starter = (await consumeInBatch(request, request.perMinute * 2, from)).at(-1) as RateLimitDecision;
    expect(starter.ban).toEqual({ untilMs: expect.any(Number), started: true });
    return starter;
  }

  /** Returns what is stored of the usage and the bans of a bucket. */
  async function counterOf({ bucketKey }: RateLimitRequest) {
    const { minuteUsed, dayUsed, refusals, bannedUntil, banLevel } = (await home.counterOf(bucketKey)) ?? {};
    return { minuteUsed, dayUsed, refusals, bannedUntil, banLevel };
  }

  describe('a ban', () => {
    it('is started by the refusal that reaches the limit per minute within a minute, and by no other', async () => {
      const request = newBucket(5);
      const decisions = await consumeTimes(request, 12);
      expect(decisions.map(describeDecision)).toEqual([
        ...times(5, 'allowed'),
        ...descending(4, 1).map((left) => `denied, ${left} until a ban`),
        'starts a ban',
        'banned',
        'banned',
      ]);
      expect(decisions.slice(0, 5).map(({ refusalsUntilBan }) => refusalsUntilBan)).toEqual([5, 5, 5, 5, 5]);
      const [starter, ...others] = decisions.slice(9) as [RateLimitDecision, ...RateLimitDecision[]];
      expect(lengthMs(starter)).toBe(MINUTE_MS);
      for (const { allowed, refusalsUntilBan, ban } of others) {
        expect({ allowed, refusalsUntilBan, untilMs: ban?.untilMs }).toEqual({
          allowed: false,
          refusalsUntilBan: 0,
          untilMs: starter.ban?.untilMs,
        });
      }
      expect(await counterOf(request)).toEqual({
        minuteUsed: 5,
        dayUsed: 5,
        refusals: 0,
        bannedUntil: endOf(starter),
        banLevel: 1,
      });
    });

    it('is also started by refusals of the day', async () => {
      const decisions = await consumeTimes(newBucket(5, 2), 8);
      expect(decisions.map(describeDecision)).toEqual([
        'allowed',
        'allowed',
        ...descending(4, 1).map((left) => `denied, ${left} until a ban`),
        'starts a ban',
        'banned',
      ]);
      expect(remaining(decisions.at(-1) as RateLimitDecision)).toEqual([3, 0]);
    });

    it('is not started by refusals of the previous minute', async () => {
      const request = newBucket(5);
      clock.travelTo(new Date(NOON + 58 * SECOND_MS));
      expect((await consumeTimes(request, 9)).map(describeDecision).at(-1)).toBe('denied, 1 until a ban');
      clock.travelTo(new Date(NOON + MINUTE_MS));
      const next = await consumeTimes(request, 10);
      expect(next.map(describeDecision)).toEqual([
        ...times(5, 'allowed'),
        ...descending(4, 1).map((left) => `denied, ${left} until a ban`),
        'starts a ban',
      ]);
      expect(next[0]?.refusalsUntilBan).toBe(5);
    });

    it('ends at its exact millisecond: requests are allowed again, and refusals count from zero', async () => {
      const request = newBucket(5);
      const starter = await provokeBan(request);
      clock.travelTo(new Date(endOf(starter).getTime() - SECOND_MS));
      expect(describeDecision(await store.consume(request))).toBe('banned');
      clock.travelTo(endOf(starter));
      expect((await consumeTimes(request, 6)).map(describeDecision)).toEqual([
        ...times(5, 'allowed'),
        'denied, 4 until a ban',
      ]);
    });

    it('is not extended by requests during it, which use nothing of the windows', async () => {
      const request = newBucket(5, 1000);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      const starter = await provokeBan(request);
      const before = await counterOf(request);
      expect((await consumeInBatch(request, 40)).map(describeDecision)).toEqual(times(40, 'banned'));
      expect(await counterOf(request)).toEqual(before);
      clock.travel(45 * SECOND_MS);
      const later = await consumeInBatch(request, 40);
      expect(later.map(describeDecision)).toEqual(times(40, 'banned'));
      expect(later.map(remaining)).toEqual(later.map(() => [5, 995]));
      expect(await counterOf(request)).toEqual({ ...before, minuteUsed: 0 });
      clock.travelTo(endOf(starter));
      expect(remaining(await store.consume(request))).toEqual([4, 994]);
    });

    it('applies to one bucket, even when one batch has several', async () => {
      const [rude, polite] = [newBucket(1), newBucket(5)];
      const decisions = await Promise.all(
        [newBucket(5), rude, polite, rude, polite, rude, polite].map((request) => store.consume(request)),
      );
      expect(decisions.slice(1).map(describeDecision)).toEqual([
        'allowed',
        'allowed',
        'starts a ban',
        'allowed',
        'banned',
        'allowed',
      ]);
    });

    it('never applies to an anonymous client, however many requests it sends', async () => {
      const anonymous = newBucket(5, null);
      const decisions = [...(await consumeInBatch(anonymous, 30)), ...(await consumeInBatch(anonymous, 30))];
      expect(decisions.map(describeDecision)).toEqual([
        ...times(5, 'allowed'),
        ...times(55, 'denied, no until a ban'),
      ]);
      expect(await counterOf(anonymous)).toMatchObject({ bannedUntil: null, banLevel: 0 });
      expect(await store.bans()).toEqual(new Map());
    });
  });

  describe('refusals until a ban', () => {
    it('increase when the limit per minute is raised within the minute', async () => {
      const request = newBucket(5);
      expect((await consumeTimes(request, 9)).map(describeDecision).at(-1)).toBe('denied, 1 until a ban');
      const raised = await consumeTimes({ ...request, perMinute: 8 }, 8);
      expect(raised[0]?.refusalsUntilBan).toBe(4);
      expect(raised.map(describeDecision)).toEqual([
        ...times(3, 'allowed'),
        ...descending(3, 1).map((left) => `denied, ${left} until a ban`),
        'starts a ban',
        'banned',
      ]);
    });

    it('are one when the limit per minute is lowered below the refusals already counted', async () => {
      const request = newBucket(5);
      expect((await consumeTimes(request, 8)).map(describeDecision).at(-1)).toBe('denied, 2 until a ban');
      const lowered = await consumeInBatch({ ...request, perMinute: 2 }, 3);
      expect(lowered.map(describeDecision)).toEqual(['starts a ban', 'banned', 'banned']);
    });
  });

  describe('requests in one batch', () => {
    const ofTwenty = [
      ...times(5, 'allowed'),
      ...descending(4, 1).map((left) => `denied, ${left} until a ban`),
      'starts a ban',
      ...times(10, 'banned'),
    ];

    it.each([
      ['a new bucket', 0],
      ['a known bucket', 1],
    ])('are decided one by one for %s', async (_kind, usedBefore) => {
      const request = newBucket(5);
      await consumeTimes(request, usedBefore);
      clock.travel(MINUTE_MS);
      const decisions = await consumeInBatch(request, 20);
      expect(decisions.map(describeDecision)).toEqual(ofTwenty);
      expect(decisions.map(lengthMs)).toEqual([...Array(9).fill(null), ...Array(11).fill(MINUTE_MS)]);
      expect(await counterOf(request)).toMatchObject({
        minuteUsed: 5,
        dayUsed: 5 + usedBefore,
        refusals: 0,
        banLevel: 1,
      });
    });

    it('continue where the previous batch ended', async () => {
      const request = newBucket(5);
      expect((await consumeInBatch(request, 7)).map(describeDecision)).toEqual(ofTwenty.slice(0, 7));
      expect((await consumeInBatch(request, 1)).map(describeDecision)).toEqual(ofTwenty.slice(7, 8));
      expect((await consumeInBatch(request, 12)).map(describeDecision)).toEqual(ofTwenty.slice(8));
    });

    it('report each number of refusals once across three replicas, and one of them starts the ban', async () => {
      const replicas = [store, await open(), await open()];
      for (let round = 0; round < 10; round += 1) {
        const request = newBucket(30);
        const decisions = await Promise.all(
          Array.from({ length: 120 }, (_, index) => (replicas[index % 3] as CounterStore).consume(request)),
        );
        const [starter] = decisions.filter(({ ban }) => ban?.started === true) as [RateLimitDecision];
        expect(decisions.map(describeDecision).toSorted()).toEqual(
          [
            ...times(30, 'allowed'),
            ...descending(29, 1).map((left) => `denied, ${left} until a ban`),
            'starts a ban',
            ...times(60, 'banned'),
          ].toSorted(),
        );
        expect(new Set(decisions.flatMap(({ ban }) => ban?.untilMs ?? []))).toEqual(
          new Set([starter.ban?.untilMs]),
        );
        expect(await counterOf(request)).toEqual({
          minuteUsed: 30,
          dayUsed: 30,
          refusals: 0,
          bannedUntil: endOf(starter),
          banLevel: 1,
        });
      }
    });
  });

  describe('ban durations', () => {
    /** Provokes `count` bans, each as soon as the one before is over. */
    async function bansInARow(
      request: RateLimitRequest,
      count: number,
      from = store,
    ): Promise<RateLimitDecision[]> {
      const starters: RateLimitDecision[] = [];
      for (let started = 0; started < count; started += 1) {
        const starter = await provokeBan(request, from);
        starters.push(starter);
        clock.travelTo(new Date(Math.ceil(endOf(starter).getTime() / MINUTE_MS) * MINUTE_MS));
      }
      return starters;
    }

    it('are 1 min, 5 min, 1 h and 24 h, and the last repeats', async () => {
      const starters = await bansInARow(newBucket(5), 6);
      expect(starters.map(lengthMs)).toEqual([
        MINUTE_MS,
        5 * MINUTE_MS,
        HOUR_MS,
        24 * HOUR_MS,
        24 * HOUR_MS,
        24 * HOUR_MS,
      ]);
    });

    it('are those of BAN_DURATIONS', async () => {
      const other = await open('30s,2d');
      const starters = await bansInARow(newBucket(5), 3, other);
      expect(starters.map(lengthMs)).toEqual([30 * SECOND_MS, 2 * DAY_MS, 2 * DAY_MS]);
    });

    it.each([
      ['just short of one day', DAY_MS - 10 * SECOND_MS, 24 * HOUR_MS],
      ['one day', DAY_MS, HOUR_MS],
      ['just short of two days', 2 * DAY_MS - 10 * SECOND_MS, HOUR_MS],
      ['two days', 2 * DAY_MS, 5 * MINUTE_MS],
      ['three days', 3 * DAY_MS, MINUTE_MS],
      ['thirty days', 30 * DAY_MS, MINUTE_MS],
    ])('fall by one level for each full 24 hours after a third ban: %s', async (_days, waitMs, nextMs) => {
      const request = newBucket(5);
      const third = (await bansInARow(request, 3)).at(-1) as RateLimitDecision;
      clock.travelTo(new Date(endOf(third).getTime() + waitMs));
      expect(lengthMs(await provokeBan(request))).toBe(nextMs);
    });

    it('fall from the last level, however often it was repeated', async () => {
      const request = newBucket(5);
      const last = (await bansInARow(request, 7)).at(-1) as RateLimitDecision;
      clock.travelTo(new Date(endOf(last).getTime() + 2 * DAY_MS));
      expect(lengthMs(await provokeBan(request))).toBe(HOUR_MS);
    });

    it('stop at their last level when the list became shorter', async () => {
      const request = newBucket(5);
      await bansInARow(request, 4);
      expect(lengthMs(await provokeBan(request, await open('10s,20s')))).toBe(20 * SECOND_MS);
    });

    it('ban nobody when the list is empty', async () => {
      const request = newBucket(5);
      const lenient = await open('');
      const decisions = [
        ...(await consumeInBatch(request, 30, lenient)),
        ...(await consumeInBatch(request, 30, lenient)),
      ];
      expect(decisions.map(describeDecision)).toEqual([
        ...times(5, 'allowed'),
        ...times(55, 'denied, no until a ban'),
      ]);
      expect(await counterOf(request)).toMatchObject({ refusals: 55, bannedUntil: null, banLevel: 0 });
    });

    it('suspend active bans when the list is empty; those hold again on a replica with bans', async () => {
      const request = newBucket(5);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      const starter = await provokeBan(request);
      clock.travelTo(new Date(NOON + MINUTE_MS));
      const lenient = await open('');
      expect(await lenient.bans()).toEqual(new Map());
      expect((await consumeTimes(request, 7, lenient)).map(describeDecision)).toEqual([
        ...times(5, 'allowed'),
        ...times(2, 'denied, no until a ban'),
      ]);
      const [stillBanned] = await consumeTimes(request, 1);
      expect([
        describeDecision(stillBanned as RateLimitDecision),
        endOf(stillBanned as RateLimitDecision),
      ]).toEqual(['banned', endOf(starter)]);
      expect(await store.bans()).toEqual(new Map([[request.bucketKey, endOf(starter)]]));
    });
  });

  describe('CounterStore.liftBan', () => {
    it('ends the ban for the next request on every replica', async () => {
      const request = newBucket(5);
      const starter = await provokeBan(request);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      expect(await (await open()).liftBan(request.bucketKey)).toEqual(endOf(starter));
      expect(describeDecision(await store.consume(request))).toBe('denied, 4 until a ban');
      clock.travelTo(new Date(NOON + MINUTE_MS));
      expect((await consumeTimes(request, 2)).map(describeDecision)).toEqual(['allowed', 'allowed']);
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
      expect((await consumeTimes(request, 7)).map(describeDecision).at(-1)).toBe('denied, 3 until a ban');
      expect(await store.liftBan(request.bucketKey)).toBeNull();
      expect((await consumeTimes(request, 3)).map(describeDecision)).toEqual([
        'denied, 2 until a ban',
        'denied, 1 until a ban',
        'starts a ban',
      ]);
      expect(await store.liftBan(request.bucketKey)).not.toBeNull();
      expect(await store.liftBan(request.bucketKey)).toBeNull();
      clock.travel(MINUTE_MS);
      const second = await provokeBan(request);
      clock.travelTo(endOf(second));
      expect(await store.liftBan(request.bucketKey)).toBeNull();
    });

    it('returns nothing to the windows, and keeps other bans', async () => {
      const [lifted, other] = [newBucket(5), newBucket(5)];
      await provokeBan(lifted);
      const kept = await provokeBan(other);
      await store.liftBan(lifted.bucketKey);
      expect(await counterOf(lifted)).toMatchObject({ minuteUsed: 5, dayUsed: 5, refusals: 0 });
      expect(await store.bans()).toEqual(new Map([[other.bucketKey, endOf(kept)]]));
    });

    it('resets the refusals of the minute, including those counted by a replica without bans', async () => {
      const request = newBucket(5);
      await provokeBan(request);
      await consumeTimes(request, 3, await open(''));
      expect(await counterOf(request)).toMatchObject({ refusals: 3 });
      await store.liftBan(request.bucketKey);
      expect(await counterOf(request)).toMatchObject({ refusals: 0, banLevel: 1 });
      expect(describeDecision(await store.consume(request))).toBe('denied, 4 until a ban');
    });
  });

  describe('CounterStore.bans', () => {
    it('returns the active bans with their ends, by the clock of the store', async () => {
      const [first, second, never] = [newBucket(5), newBucket(1), newBucket(5)];
      const early = await provokeBan(first);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      const late = await provokeBan(second);
      await consumeTimes(never, 9);
      const other = await open();
      expect(await other.bans()).toEqual(
        new Map([
          [first.bucketKey, endOf(early)],
          [second.bucketKey, endOf(late)],
        ]),
      );
      clock.travelTo(endOf(early));
      expect(await other.bans()).toEqual(new Map([[second.bucketKey, endOf(late)]]));
      clock.travelTo(endOf(late));
      expect(await other.bans()).toEqual(new Map());
    });
  });
});
