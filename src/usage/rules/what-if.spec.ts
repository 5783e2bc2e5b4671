import fc from 'fast-check';
import { type MinuteOfRequests, replayLimits, smallestPlans } from './what-if.js';

const MINUTES_PER_DAY = 1440;
const MIDNIGHT_MS = Date.UTC(2026, 10, 30);

/** Returns the start of a minute after a midnight. */
const minuteAfter = (minutes: number) => new Date(MIDNIGHT_MS + minutes * 60_000).toISOString();

/** Returns minutes from midnight on with these numbers of requests; null for a minute without any. */
const minutesOf = (...requests: (number | null)[]): MinuteOfRequests[] =>
  requests.flatMap((count, index) =>
    count === null ? [] : [{ startsAt: minuteAfter(index), requests: count }],
  );

describe('replayLimits', () => {
  const NONE = {
    recordedDays: 0,
    requests: 0,
    denied: 0,
    deniedMinutes: 0,
    deniedDays: 0,
    worstMinute: null,
  };

  it('returns zeros without requests', () => {
    expect(replayLimits([], { perMinute: 1, perDay: 1 })).toEqual(NONE);
  });

  it('allows as many as both limits in a minute and a day, and denies the next', () => {
    const minutes = minutesOf(3, null, 2);
    expect(replayLimits(minutes, { perMinute: 3, perDay: 5 })).toEqual({
      ...NONE,
      recordedDays: 1,
      requests: 5,
    });
    expect(replayLimits(minutes, { perMinute: 2, perDay: 5 })).toMatchObject({ denied: 1, deniedMinutes: 1 });
    expect(replayLimits(minutes, { perMinute: 3, perDay: 4 })).toMatchObject({ denied: 1, deniedMinutes: 1 });
  });

  it('takes nothing from the day for a denied request', () => {
    expect(replayLimits(minutesOf(10, 2, 3), { perMinute: 2, perDay: 6 })).toEqual({
      recordedDays: 1,
      requests: 15,
      denied: 9,
      deniedMinutes: 2,
      deniedDays: 1,
      worstMinute: { startsAt: minuteAfter(0), requests: 10, denied: 8 },
    });
  });

  it('has a full window for each UTC day, from its first minute', () => {
    const last = { startsAt: minuteAfter(MINUTES_PER_DAY - 1), requests: 4 };
    const first = { startsAt: minuteAfter(MINUTES_PER_DAY), requests: 4 };
    const limits = { perMinute: 4, perDay: 4 };
    expect(replayLimits([last, first], limits)).toEqual({ ...NONE, recordedDays: 2, requests: 8 });
    expect(replayLimits([...minutesOf(1), last, first], limits)).toEqual({
      recordedDays: 2,
      requests: 9,
      denied: 1,
      deniedMinutes: 1,
      deniedDays: 1,
      worstMinute: { ...last, denied: 1 },
    });
  });

  it('counts each day with denied requests once, also days that do not follow each other', () => {
    const minutes = [0, 1, 2 * MINUTES_PER_DAY, 3 * MINUTES_PER_DAY, 3 * MINUTES_PER_DAY + 5].map(
      (after) => ({
        startsAt: minuteAfter(after),
        requests: 2,
      }),
    );
    expect(replayLimits(minutes, { perMinute: 1, perDay: 9 })).toMatchObject({
      denied: 5,
      deniedMinutes: 5,
      deniedDays: 3,
    });
  });

  it('returns the first minute with the most denied requests, not the one with the most requests', () => {
    const { worstMinute } = replayLimits(minutesOf(5, 7, 7, 6), { perMinute: 5, perDay: 100 });
    expect(worstMinute).toEqual({ startsAt: minuteAfter(1), requests: 7, denied: 2 });
    const byDay = replayLimits(minutesOf(9, 3, 4), { perMinute: 9, perDay: 10 });
    expect(byDay.worstMinute).toEqual({ startsAt: minuteAfter(2), requests: 4, denied: 4 });
  });

  it('denies what a count of each request by both windows denies', () => {
    const requests = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 * MINUTES_PER_DAY }), fc.nat(20)), {
      maxLength: 30,
    });
    const limit = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(requests, limit, limit, (given, perMinute, perDay) => {
        const minutes = [...new Map(given)]
          .toSorted(([a], [b]) => a - b)
          .map(([after, count]) => ({ startsAt: minuteAfter(after), requests: count }));
        const used = new Map<string, number>();
        const denied = new Map<string, number>();
        for (const { startsAt, requests: count } of minutes) {
          const windows = [startsAt, startsAt.split('T')[0]!] as const;
          for (let sent = 0; sent < count; sent += 1) {
            const [ofMinute = 0, ofDay = 0] = windows.map((window) => used.get(window));
            if (ofMinute < perMinute && ofDay < perDay) {
              used.set(windows[0], ofMinute + 1).set(windows[1], ofDay + 1);
            } else {
              windows.forEach((window) => denied.set(window, (denied.get(window) ?? 0) + 1));
            }
          }
        }
        const deniedOf = (isMinute: boolean) =>
          [...denied].filter(([window]) => window.includes('T') === isMinute);
        const most = Math.max(0, ...deniedOf(true).map(([, count]) => count));
        const worst = deniedOf(true).find(([, count]) => count === most)?.[0];
        expect(replayLimits(minutes, { perMinute, perDay })).toEqual({
          recordedDays: new Set(minutes.map(({ startsAt }) => startsAt.split('T')[0])).size,
          requests: minutes.reduce((sum, { requests: count }) => sum + count, 0),
          denied: deniedOf(false).reduce((sum, [, count]) => sum + count, 0),
          deniedMinutes: deniedOf(true).length,
          deniedDays: deniedOf(false).length,
          worstMinute:
            worst === undefined
              ? null
              : { ...minutes.find(({ startsAt }) => startsAt === worst), denied: most },
        });
      }),
    );
  });
});

describe('smallestPlans', () => {
  const plan = (name: string, perMinute: number, perDay: number) => ({ name, perMinute, perDay });
  const small = plan('small', 10, 1000);
  const middle = plan('middle', 20, 2000);
  const large = plan('large', 40, 3000);
  const wide = plan('wide', 10, 1990);

  function smallest(minutes: MinuteOfRequests[], plans = [small, middle, large]) {
    const smallestPlansByRatio = smallestPlans(minutes, plans);
    expect(smallestPlansByRatio.map(({ maxDeniedRatio }) => maxDeniedRatio)).toEqual([0, 0.001]);
    return smallestPlansByRatio.map(({ plan: name }) => name);
  }

  it('returns the first plan without requests, and null without plans', () => {
    expect(smallest([])).toEqual(['small', 'small']);
    expect(smallest([], [])).toEqual([null, null]);
  });

  it('returns the first that denies none, and the first that denies at most one in a thousand', () => {
    /** 1,002 requests, of which a limit of ten a minute denies one, and 1,003 of which it denies two. */
    const more = minutesOf(...Array<number>(99).fill(10), 11, 1);
    expect(smallest(more, [wide, middle, large])).toEqual(['middle', 'wide']);
    const two = minutesOf(...Array<number>(99).fill(10), 12, 1);
    expect(smallest(two, [wide, middle, large])).toEqual(['middle', 'middle']);
  });

  it.each([1, 3, 7])('returns a plan that denies exactly one in a thousand, of %d thousand', (thousands) => {
    const thousand = [...Array<number>(98).fill(10), 11, 9];
    const minutes = minutesOf(...Array.from({ length: thousands }, () => thousand).flat());
    const ten = plan('ten', 10, 10_000);
    const eleven = plan('eleven', 11, 10_000);
    expect(smallest(minutes, [ten, eleven])).toEqual(['eleven', 'ten']);
  });

  it('keeps the first that denies few if larger ones also do, or if none denies none', () => {
    const burst = minutesOf(...Array<number>(200).fill(10), 12);
    const [ten, eleven] = [plan('ten', 10, 5000), plan('eleven', 11, 6000)];
    expect(smallest(burst, [ten, eleven])).toEqual([null, 'ten']);
    expect(smallest(burst, [ten, eleven, plan('twelve', 12, 7000)])).toEqual(['twelve', 'ten']);
    expect(smallest(minutesOf(5, 5), [plan('one', 1, 1)])).toEqual([null, null]);
  });
});
