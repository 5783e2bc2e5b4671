import { Logger } from '@nestjs/common';
import type { RateLimitDecision, RateLimitRequest } from '../src/rate-limit/rules/rate-limit-decision.js';
import type { CounterStore } from '../src/rate-limit/stores/counter-store.js';
import { TestClock } from './support/clock.js';
import { type CounterHome, counterStores } from './support/counter-stores.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOON = Date.UTC(2027, 2, 5, 12);

describe.each(counterStores)('counted in %s,', (_name, start) => {
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
    clock.travelTo(new Date(NOON));
    store = await home.open(clock);
  });
  afterEach(() => home.clear());

  const open = (banDurations?: string) => home.open(clock, banDurations);

  /** A subject that nobody has counted yet. */
  function newSubject(perMinute = 5, perDay: number | null = 100_000): RateLimitRequest {
    subjects += 1;
    return { bucketKey: `${perDay === null ? 'address' : 'quota'}:${subjects}`, perMinute, perDay };
  }

  /** So many asks one after another. */
  async function takeTimes(ask: RateLimitRequest, count: number, from = store): Promise<RateLimitDecision[]> {
    const decisions: RateLimitDecision[] = [];
    for (let taken = 0; taken < count; taken += 1) {
      decisions.push(await from.consume(ask));
    }
    return decisions;
  }

  /** So many asks in one question. */
  async function takeAtOnce(
    ask: RateLimitRequest,
    count: number,
    from = store,
  ): Promise<RateLimitDecision[]> {
    // The first goes at once and alone; the rest gather behind it.
    const [, ...decisions] = await Promise.all([
      from.consume(newSubject()),
      ...Array.from({ length: count }, () => from.consume(ask)),
    ]);
    return decisions;
  }

  /** Has the subject send until it is banned, within this minute. */
  async function provoke(ask: RateLimitRequest, from = store): Promise<RateLimitDecision> {
    const starter = (await takeAtOnce(ask, ask.perMinute * 2, from)).at(-1) as RateLimitDecision;
    expect(starter.ban).toEqual({ untilMs: expect.any(Number), started: true });
    return starter;
  }

  /** What each was told: allowed, how many refusals remain, or the ban. */
  function told({ allowed, refusalsUntilBan, ban }: RateLimitDecision): string {
    if (ban !== null) {
      return ban.started ? 'starts a ban' : 'banned';
    }
    return allowed ? 'allowed' : `refused, ${refusalsUntilBan ?? 'no'} until a ban`;
  }

  const times = (count: number, text: string) => Array<string>(count).fill(text);
  const descending = (from: number, to: number) =>
    Array.from({ length: from - to + 1 }, (_, index) => from - index);
  const remaining = ({ windows }: RateLimitDecision) => windows.map((window) => window.remaining);
  const lengthMs = ({ ban, nowMs }: RateLimitDecision) => (ban === null ? null : ban.untilMs - nowMs);
  const endOf = ({ ban }: RateLimitDecision) => new Date(ban?.untilMs ?? 0);

  /** What is stored of a subject of its use and its bans. */
  async function counterOf({ bucketKey }: RateLimitRequest) {
    const { minuteUsed, dayUsed, refusals, bannedUntil, banLevel } = (await home.counterOf(bucketKey)) ?? {};
    return { minuteUsed, dayUsed, refusals, bannedUntil, banLevel };
  }

  describe('a ban', () => {
    it('is started by the refusal that makes as many within the minute as the limit per minute, and by no other', async () => {
      const ask = newSubject(5);
      const decisions = await takeTimes(ask, 12);
      expect(decisions.map(told)).toEqual([
        ...times(5, 'allowed'),
        ...descending(4, 1).map((left) => `refused, ${left} until a ban`),
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
      expect(await counterOf(ask)).toEqual({
        minuteUsed: 5,
        dayUsed: 5,
        refusals: 0,
        bannedUntil: endOf(starter),
        banLevel: 1,
      });
    });

    it('is started by refusals of the day too', async () => {
      const decisions = await takeTimes(newSubject(5, 2), 8);
      expect(decisions.map(told)).toEqual([
        'allowed',
        'allowed',
        ...descending(4, 1).map((left) => `refused, ${left} until a ban`),
        'starts a ban',
        'banned',
      ]);
      expect(remaining(decisions.at(-1) as RateLimitDecision)).toEqual([3, 0]);
    });

    it('is started by the first refusal where the limit is one a minute', async () => {
      expect((await takeTimes(newSubject(1), 3)).map(told)).toEqual(['allowed', 'starts a ban', 'banned']);
    });

    it('is not started by refusals of the minute before', async () => {
      const ask = newSubject(5);
      clock.travelTo(new Date(NOON + 58 * SECOND_MS));
      expect((await takeTimes(ask, 9)).map(told).at(-1)).toBe('refused, 1 until a ban');
      clock.travelTo(new Date(NOON + MINUTE_MS));
      const next = await takeTimes(ask, 10);
      expect(next.map(told)).toEqual([
        ...times(5, 'allowed'),
        ...descending(4, 1).map((left) => `refused, ${left} until a ban`),
        'starts a ban',
      ]);
      expect(next[0]?.refusalsUntilBan).toBe(5);
    });

    it('ends at its millisecond: then windows admit again, and refusals count from zero', async () => {
      const ask = newSubject(5);
      const starter = await provoke(ask);
      clock.travelTo(new Date(endOf(starter).getTime() - SECOND_MS));
      expect(told(await store.consume(ask))).toBe('banned');
      clock.travelTo(endOf(starter));
      expect((await takeTimes(ask, 6)).map(told)).toEqual([...times(5, 'allowed'), 'refused, 4 until a ban']);
    });

    it('is neither lengthened by what is asked meanwhile, nor takes that from a window', async () => {
      const ask = newSubject(5, 1000);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      const starter = await provoke(ask);
      const before = await counterOf(ask);
      expect((await takeAtOnce(ask, 40)).map(told)).toEqual(times(40, 'banned'));
      expect(await counterOf(ask)).toEqual(before);
      clock.travel(45 * SECOND_MS);
      const later = await takeAtOnce(ask, 40);
      expect(later.map(told)).toEqual(times(40, 'banned'));
      expect(later.map(remaining)).toEqual(later.map(() => [5, 995]));
      expect(await counterOf(ask)).toEqual({ ...before, minuteUsed: 0 });
      clock.travelTo(endOf(starter));
      expect(remaining(await store.consume(ask))).toEqual([4, 994]);
    });

    it('is of one subject, also where one question has several', async () => {
      const [rude, polite] = [newSubject(1), newSubject(5)];
      const decisions = await Promise.all(
        [newSubject(), rude, polite, rude, polite, rude, polite].map((ask) => store.consume(ask)),
      );
      expect(decisions.slice(1).map(told)).toEqual([
        'allowed',
        'allowed',
        'starts a ban',
        'allowed',
        'banned',
        'allowed',
      ]);
    });

    it('is nothing that a stranger could be under, however many it sends', async () => {
      const stranger = newSubject(5, null);
      const decisions = [...(await takeAtOnce(stranger, 30)), ...(await takeAtOnce(stranger, 30))];
      expect(decisions.map(told)).toEqual([...times(5, 'allowed'), ...times(55, 'refused, no until a ban')]);
      expect(await counterOf(stranger)).toMatchObject({ bannedUntil: null, banLevel: 0 });
      expect(await store.bans()).toEqual(new Map());
    });
  });

  describe('the limit in force is what refusals are held to', () => {
    it('so that a plan raised meanwhile leaves more of them', async () => {
      const ask = newSubject(5);
      expect((await takeTimes(ask, 9)).map(told).at(-1)).toBe('refused, 1 until a ban');
      const raised = await takeTimes({ ...ask, perMinute: 8 }, 8);
      expect(raised[0]?.refusalsUntilBan).toBe(4);
      expect(raised.map(told)).toEqual([
        ...times(3, 'allowed'),
        ...descending(3, 1).map((left) => `refused, ${left} until a ban`),
        'starts a ban',
        'banned',
      ]);
    });

    it('so that a plan lowered below what was refused already leaves one', async () => {
      const ask = newSubject(5);
      expect((await takeTimes(ask, 8)).map(told).at(-1)).toBe('refused, 2 until a ban');
      const lowered = await takeAtOnce({ ...ask, perMinute: 2 }, 3);
      expect(lowered.map(told)).toEqual(['starts a ban', 'banned', 'banned']);
    });
  });

  describe('asks that are judged together', () => {
    const ofTwenty = [
      ...times(5, 'allowed'),
      ...descending(4, 1).map((left) => `refused, ${left} until a ban`),
      'starts a ban',
      ...times(10, 'banned'),
    ];

    it('are judged one by one, of a subject never seen before', async () => {
      const ask = newSubject(5);
      const decisions = await takeAtOnce(ask, 20);
      expect(decisions.map(told)).toEqual(ofTwenty);
      expect(decisions.map(lengthMs)).toEqual([...Array(9).fill(null), ...Array(11).fill(MINUTE_MS)]);
      expect(await counterOf(ask)).toMatchObject({ minuteUsed: 5, dayUsed: 5, refusals: 0, banLevel: 1 });
    });

    it('are judged one by one, of a subject that was counted before', async () => {
      const ask = newSubject(5);
      await store.consume(ask);
      clock.travel(MINUTE_MS);
      const decisions = await takeAtOnce(ask, 20);
      expect(decisions.map(told)).toEqual(ofTwenty);
      expect(decisions.map(lengthMs)).toEqual([...Array(9).fill(null), ...Array(11).fill(MINUTE_MS)]);
      expect(await counterOf(ask)).toMatchObject({ minuteUsed: 5, dayUsed: 6, refusals: 0, banLevel: 1 });
    });

    it('go on where the question before them stopped', async () => {
      const ask = newSubject(5);
      expect((await takeAtOnce(ask, 7)).map(told)).toEqual(ofTwenty.slice(0, 7));
      expect((await takeAtOnce(ask, 1)).map(told)).toEqual(ofTwenty.slice(7, 8));
      expect((await takeAtOnce(ask, 12)).map(told)).toEqual(ofTwenty.slice(8));
    });

    it('whichever of three replicas they ask, are told each number once, and one of them that it started the ban', async () => {
      const replicas = [store, await open(), await open()];
      for (let round = 0; round < 10; round += 1) {
        const ask = newSubject(30);
        const decisions = await Promise.all(
          Array.from({ length: 120 }, (_, index) => (replicas[index % 3] as CounterStore).consume(ask)),
        );
        const [starter] = decisions.filter(({ ban }) => ban?.started === true) as [RateLimitDecision];
        expect(decisions.map(told).toSorted()).toEqual(
          [
            ...times(30, 'allowed'),
            ...descending(29, 1).map((left) => `refused, ${left} until a ban`),
            'starts a ban',
            ...times(60, 'banned'),
          ].toSorted(),
        );
        expect(new Set(decisions.flatMap(({ ban }) => ban?.untilMs ?? []))).toEqual(
          new Set([starter.ban?.untilMs]),
        );
        expect(await counterOf(ask)).toEqual({
          minuteUsed: 30,
          dayUsed: 30,
          refusals: 0,
          bannedUntil: endOf(starter),
          banLevel: 1,
        });
      }
    });
  });

  describe('the ladder', () => {
    /** Provokes a ban as soon as the last one is over, and so on. */
    async function bansInARow(
      ask: RateLimitRequest,
      count: number,
      from = store,
    ): Promise<RateLimitDecision[]> {
      const starters: RateLimitDecision[] = [];
      for (let started = 0; started < count; started += 1) {
        const starter = await provoke(ask, from);
        starters.push(starter);
        clock.travelTo(new Date(Math.ceil(endOf(starter).getTime() / MINUTE_MS) * MINUTE_MS));
      }
      return starters;
    }

    it('is 1 min, 5 min, 1 h and 24 h, and its last step repeats', async () => {
      const starters = await bansInARow(newSubject(), 6);
      expect(starters.map(lengthMs)).toEqual([
        MINUTE_MS,
        5 * MINUTE_MS,
        HOUR_MS,
        24 * HOUR_MS,
        24 * HOUR_MS,
        24 * HOUR_MS,
      ]);
    });

    it('is the one of BAN_DURATIONS', async () => {
      const other = await open('30s,2d');
      const starters = await bansInARow(newSubject(), 3, other);
      expect(starters.map(lengthMs)).toEqual([30 * SECOND_MS, 2 * DAY_MS, 2 * DAY_MS]);
    });

    it.each([
      ['just short of one', DAY_MS - 10 * SECOND_MS, 24 * HOUR_MS],
      ['one', DAY_MS, HOUR_MS],
      ['just short of two', 2 * DAY_MS - 10 * SECOND_MS, HOUR_MS],
      ['two', 2 * DAY_MS, 5 * MINUTE_MS],
      ['three', 3 * DAY_MS, MINUTE_MS],
      ['thirty', 30 * DAY_MS, MINUTE_MS],
    ])('has fallen one step for each full 24 hours after a third ban: %s', async (_days, waitMs, nextMs) => {
      const ask = newSubject();
      const third = (await bansInARow(ask, 3)).at(-1) as RateLimitDecision;
      clock.travelTo(new Date(endOf(third).getTime() + waitMs));
      expect(lengthMs(await provoke(ask))).toBe(nextMs);
    });

    it('falls from its last step, however often that was repeated', async () => {
      const ask = newSubject();
      const last = (await bansInARow(ask, 7)).at(-1) as RateLimitDecision;
      clock.travelTo(new Date(endOf(last).getTime() + 2 * DAY_MS));
      expect(lengthMs(await provoke(ask))).toBe(HOUR_MS);
    });

    it('that became shorter is climbed no further than it goes', async () => {
      const ask = newSubject();
      await bansInARow(ask, 4);
      expect(lengthMs(await provoke(ask, await open('10s,20s')))).toBe(20 * SECOND_MS);
    });

    it('of none bans nobody', async () => {
      const ask = newSubject(5);
      const lenient = await open('');
      const decisions = [...(await takeAtOnce(ask, 30, lenient)), ...(await takeAtOnce(ask, 30, lenient))];
      expect(decisions.map(told)).toEqual([...times(5, 'allowed'), ...times(55, 'refused, no until a ban')]);
      expect(await counterOf(ask)).toMatchObject({ refusals: 55, bannedUntil: null, banLevel: 0 });
    });

    it('of none suspends the bans that are under way, which hold again where bans are on', async () => {
      const ask = newSubject(5);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      const starter = await provoke(ask);
      clock.travelTo(new Date(NOON + MINUTE_MS));
      const lenient = await open('');
      expect(await lenient.bans()).toEqual(new Map());
      expect((await takeTimes(ask, 7, lenient)).map(told)).toEqual([
        ...times(5, 'allowed'),
        ...times(2, 'refused, no until a ban'),
      ]);
      const [still] = await takeTimes(ask, 1);
      expect([told(still as RateLimitDecision), endOf(still as RateLimitDecision)]).toEqual([
        'banned',
        endOf(starter),
      ]);
      expect(await store.bans()).toEqual(new Map([[ask.bucketKey, endOf(starter)]]));
    });
  });

  describe('lifting a ban', () => {
    it('ends it for the next request, whichever replica that asks', async () => {
      const ask = newSubject(5);
      const starter = await provoke(ask);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      expect(await (await open()).liftBan(ask.bucketKey)).toEqual(endOf(starter));
      expect(told(await store.consume(ask))).toBe('refused, 4 until a ban');
      clock.travelTo(new Date(NOON + MINUTE_MS));
      expect((await takeTimes(ask, 2)).map(told)).toEqual(['allowed', 'allowed']);
    });

    it('keeps the step of the ladder, which falls from that moment on', async () => {
      const ask = newSubject(5);
      for (const lastsMs of [MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, 24 * HOUR_MS]) {
        expect(lengthMs(await provoke(ask))).toBe(lastsMs);
        clock.travel(MINUTE_MS);
        await store.liftBan(ask.bucketKey);
      }
      clock.travel(2 * DAY_MS);
      expect(lengthMs(await provoke(ask))).toBe(HOUR_MS);
    });

    it('is nothing where there is none: not twice, not after its end, not before there ever was one', async () => {
      const ask = newSubject(5);
      expect(await store.liftBan(ask.bucketKey)).toBeNull();
      expect((await takeTimes(ask, 7)).map(told).at(-1)).toBe('refused, 3 until a ban');
      expect(await store.liftBan(ask.bucketKey)).toBeNull();
      expect((await takeTimes(ask, 3)).map(told)).toEqual([
        'refused, 2 until a ban',
        'refused, 1 until a ban',
        'starts a ban',
      ]);
      expect(await store.liftBan(ask.bucketKey)).not.toBeNull();
      expect(await store.liftBan(ask.bucketKey)).toBeNull();
      clock.travel(MINUTE_MS);
      const second = await provoke(ask);
      clock.travelTo(endOf(second));
      expect(await store.liftBan(ask.bucketKey)).toBeNull();
    });

    it('takes nothing back from the windows, and leaves other bans alone', async () => {
      const [lifted, other] = [newSubject(5), newSubject(5)];
      await provoke(lifted);
      const kept = await provoke(other);
      await store.liftBan(lifted.bucketKey);
      expect(await counterOf(lifted)).toMatchObject({ minuteUsed: 5, dayUsed: 5, refusals: 0 });
      expect(await store.bans()).toEqual(new Map([[other.bucketKey, endOf(kept)]]));
    });

    it('forgets the refusals of the minute, also those that a replica without bans has counted meanwhile', async () => {
      const ask = newSubject(5);
      await provoke(ask);
      await takeTimes(ask, 3, await open(''));
      expect(await counterOf(ask)).toMatchObject({ refusals: 3 });
      await store.liftBan(ask.bucketKey);
      expect(await counterOf(ask)).toMatchObject({ refusals: 0, banLevel: 1 });
      expect(told(await store.consume(ask))).toBe('refused, 4 until a ban');
    });
  });

  describe('the list of bans', () => {
    it('has those that last, until when, by the clock of the store', async () => {
      const [first, second, never] = [newSubject(5), newSubject(1), newSubject(5)];
      const early = await provoke(first);
      clock.travelTo(new Date(NOON + 30 * SECOND_MS));
      const late = await provoke(second);
      await takeTimes(never, 9);
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
