import fc from 'fast-check';
import { type MinuteOfRequests, replayLimits, smallestPlans } from './what-if.js';

const MINUTES_PER_DAY = 1440;
/** The first minute of a UTC day. */
const MIDNIGHT = 20_000 * MINUTES_PER_DAY;

/** Returns minutes from midnight on with these numbers of requests; null for a minute without any. */
const minutesOf = (...requests: (number | null)[]): MinuteOfRequests[] =>
  requests.flatMap((count, index) => (count === null ? [] : [{ minute: MIDNIGHT + index, requests: count }]));

describe('replayLimits', () => {
  const NONE = { denied: 0, deniedMinutes: 0, deniedDays: 0, worstMinute: null };

  it('returns zeros without requests', () => {
    expect(replayLimits([], { perMinute: 1, perDay: 1 })).toEqual(NONE);
  });

  it('allows as many as both limits in a minute and a day, and denies the next', () => {
    const minutes = minutesOf(3, null, 2);
    expect(replayLimits(minutes, { perMinute: 3, perDay: 5 })).toEqual(NONE);
    expect(replayLimits(minutes, { perMinute: 2, perDay: 5 })).toMatchObject({ denied: 1, deniedMinutes: 1 });
    expect(replayLimits(minutes, { perMinute: 3, perDay: 4 })).toMatchObject({ denied: 1, deniedMinutes: 1 });
  });

  it('takes nothing from the day for a denied request', () => {
    expect(replayLimits(minutesOf(10, 2, 3), { perMinute: 2, perDay: 6 })).toEqual({
      denied: 9,
      deniedMinutes: 2,
      deniedDays: 1,
      worstMinute: { minute: MIDNIGHT, requests: 10, denied: 8 },
    });
  });

  it('has a full window for each UTC day, from its first minute', () => {
    const last = { minute: MIDNIGHT + MINUTES_PER_DAY - 1, requests: 4 };
    const first = { minute: MIDNIGHT + MINUTES_PER_DAY, requests: 4 };
    const limits = { perMinute: 4, perDay: 4 };
    expect(replayLimits([last, first], limits)).toEqual(NONE);
    expect(replayLimits([...minutesOf(1), last, first], limits)).toEqual({
      denied: 1,
      deniedMinutes: 1,
      deniedDays: 1,
      worstMinute: { ...last, denied: 1 },
    });
  });

  it('counts each day with denied requests once, also days that do not follow each other', () => {
    const minutes = [0, 1, 2 * MINUTES_PER_DAY, 3 * MINUTES_PER_DAY, 3 * MINUTES_PER_DAY + 5].map(
      (after) => ({
        minute: MIDNIGHT + after,
        requests: 2,
      }),
    );
    expect(replayLimits(minutes, { perMinute: 1, perDay: 9 })).toMatchObject({
      denied: 5,
      deniedMinutes: 5,
      deniedDays: 3,
    });
  });

  it('counts the first day of the Unix epoch too', () => {
    expect(replayLimits([{ minute: 0, requests: 2 }], { perMinute: 1, perDay: 1 })).toMatchObject({
      denied: 1,
      deniedDays: 1,
    });
  });

  it('returns the first of the minutes with the most denied requests, not the one with the most requests', () => {
    const { worstMinute } = replayLimits(minutesOf(5, 7, 7, 6), { perMinute: 5, perDay: 100 });
    expect(worstMinute).toEqual({ minute: MIDNIGHT + 1, requests: 7, denied: 2 });
    const byDay = replayLimits(minutesOf(9, 3, 4), { perMinute: 9, perDay: 10 });
    expect(byDay.worstMinute).toEqual({ minute: MIDNIGHT + 2, requests: 4, denied: 4 });
  });

  it('ends once enough are denied', () => {
    const minutes = minutesOf(2, 3, 2, 5);
    const denied = (enough?: number) => replayLimits(minutes, { perMinute: 1, perDay: 100 }, enough).denied;
    expect([denied(), denied(8), denied(4), denied(3), denied(2), denied(1)]).toEqual([8, 8, 4, 3, 3, 1]);
  });

  it('denies as many as a count of each request by both windows', () => {
    const requests = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 * MINUTES_PER_DAY }), fc.nat(20)), {
      maxLength: 30,
    });
    const limit = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(requests, limit, limit, (given, perMinute, perDay) => {
        const minutes = [...new Map(given)]
          .map(([after, count]) => ({ minute: MIDNIGHT + after, requests: count }))
          .toSorted((a, b) => a.minute - b.minute);
        const used = new Map<string, number>();
        let denied = 0;
        for (const { minute, requests: count } of minutes) {
          const [minuteKey, dayKey] = [`minute ${minute}`, `day ${Math.trunc(minute / MINUTES_PER_DAY)}`];
          for (let sent = 0; sent < count; sent += 1) {
            const [ofMinute, ofDay] = [used.get(minuteKey) ?? 0, used.get(dayKey) ?? 0];
            if (ofMinute < perMinute && ofDay < perDay) {
              used.set(minuteKey, ofMinute + 1).set(dayKey, ofDay + 1);
            } else {
              denied += 1;
            }
          }
        }
        expect(replayLimits(minutes, { perMinute, perDay }).denied).toBe(denied);
      }),
    );
  });
});

describe('smallestPlans', () => {
  const plan = (name: string, perMinute: number, perDay: number) => ({ name, perMinute, perDay });
  const small = plan('small', 10, 1000);
  const middle = plan('middle', 20, 2000);
  const large = plan('large', 40, 3000);

  /** Returns the names of the plans. */
  function smallest(minutes: MinuteOfRequests[], plans = [large, small, middle]) {
    const { denyingNone, denyingFew } = smallestPlans(minutes, plans);
    return [denyingNone?.name, denyingFew?.name];
  }

  it('returns the smallest plan without requests, and none without plans', () => {
    expect(smallest([])).toEqual(['small', 'small']);
    expect(smallest([], [])).toEqual([undefined, undefined]);
  });

  it('compares plans by their limits per day, then by those per minute', () => {
    const minutes = minutesOf(5);
    expect(smallest(minutes, [middle, plan('long day', 10, 2001)])).toEqual(['middle', 'middle']);
    expect(smallest(minutes, [middle, plan('short minute', 19, 2000)])).toEqual([
      'short minute',
      'short minute',
    ]);
  });

  it('returns the smallest that denies none, and the smallest that denies fewer than one in a thousand', () => {
    /** 1,001 requests, of which a limit of ten a minute denies one, and as many of which it denies two. */
    const one = minutesOf(...Array<number>(99).fill(10), 11);
    expect(smallest(one, [plan('small', 10, 5000), middle, large])).toEqual(['middle', 'middle']);
    const more = minutesOf(...Array<number>(99).fill(10), 11, 1);
    const wide = { perDay: 1990 };
    expect(smallest(more, [{ ...small, ...wide }, middle, large])).toEqual(['middle', 'small']);
    const two = minutesOf(...Array<number>(99).fill(10), 12, 1);
    expect(smallest(two, [{ ...small, ...wide }, middle, large])).toEqual(['middle', 'middle']);
  });

  it('does not take exactly one in a thousand for fewer', () => {
    const thousand = minutesOf(...Array<number>(98).fill(10), 11, 9);
    expect(smallest(thousand, [{ ...small, perDay: 1990 }, middle])).toEqual(['middle', 'middle']);
  });

  it('replays the whole only for plans that deny few, until one is found', () => {
    let reads = 0;
    const last = {
      minute: MIDNIGHT + 300,
      get requests() {
        reads += 1;
        return 1;
      },
    };
    const plans = (perMinute: number, perDay: number) =>
      Array.from({ length: 10 }, (_, index) => plan(`${perMinute} ${index}`, perMinute, perDay + index));
    const minutes = [...minutesOf(...Array<number>(200).fill(10), 12), last];
    expect(smallest(minutes, plans(9, 3000))).toEqual([undefined, undefined]);
    // Only for the sum.
    expect(reads).toBe(1);
    expect(smallest(minutes, plans(10, 3000))).toEqual([undefined, '10 0']);
    // For the sum, and for the first of them.
    expect(reads).toBe(3);
  });

  it('keeps the smallest that denies few if larger ones also do, or if none denies none', () => {
    const burst = minutesOf(...Array<number>(200).fill(10), 12);
    const [ten, eleven] = [plan('ten', 10, 5000), plan('eleven', 11, 6000)];
    expect(smallest(burst, [eleven, ten])).toEqual([undefined, 'ten']);
    expect(smallest(burst, [eleven, ten, plan('twelve', 12, 7000)])).toEqual(['twelve', 'ten']);
    expect(smallest(minutesOf(5, 5), [plan('one', 1, 1)])).toEqual([undefined, undefined]);
  });
});
