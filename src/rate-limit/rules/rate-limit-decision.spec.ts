import { banThreshold } from './ban.js';
import {
  type CountedBucket,
  decisionsFor,
  groupByBucket,
  previewDecision,
  type RateLimitDecision,
  type RateLimitRequest,
  toBanStatus,
} from './rate-limit-decision.js';
import { toDay, toMinute } from './windows.js';

const nowMs = Date.UTC(2027, 2, 5, 12, 34, 29, 500);
const end = Date.UTC(2027, 2, 5, 12, 35, 30, 1);
const BAN_DURATIONS = [60_000];
const QUOTA = { bucketKey: 'quota:1', perMinute: 60, perDay: 1000 };
const THRESHOLD = banThreshold(QUOTA, BAN_DURATIONS) ?? 0;
const ADDRESS = { bucketKey: 'address:203.0.113.9', perMinute: 300, perDay: null };

/** What a store did with a bucket. */
const counted = (facts: Partial<CountedBucket>): CountedBucket => ({
  minute: toMinute(nowMs),
  minuteUsed: 0,
  day: toDay(nowMs),
  dayUsed: 0,
  denials: 0,
  bannedUntilMs: null,
  nowMs,
  allowed: 0,
  denied: 0,
  ...facts,
});

/** Whether the request is allowed, what remains of its windows, and how many denials remain until a ban. */
function summarize(decision: RateLimitDecision | Error) {
  const { allowed, windows, denialsUntilBan } = decision as RateLimitDecision;
  return [allowed, Object.fromEntries(windows.map((each) => [each.name, each.remaining])), denialsUntilBan];
}

/** The ban statuses of all requests of one batch. */
function banStatuses(count: number, facts: Partial<CountedBucket>, threshold: number | null = 5) {
  return Array.from({ length: count }, (_, position) => toBanStatus(counted(facts), position, threshold));
}

/** The ban statuses with these denials until a ban, whose threshold is 5. */
const untilBan = (...numbers: number[]) =>
  numbers.map((denialsUntilBan) => ({ denials: 5 - denialsUntilBan, denialsUntilBan, ban: null }));
const banned = (started: boolean) => ({
  denials: 0,
  denialsUntilBan: 0,
  ban: { untilMs: end, started },
});

describe('groupByBucket', () => {
  it('counts the requests of each bucket, and has the limits of its latest request', () => {
    const raised = { ...QUOTA, perMinute: 300, perDay: 10_000 };
    const buckets = groupByBucket([QUOTA, ADDRESS, raised], BAN_DURATIONS);
    expect([...buckets]).toEqual([
      ['quota:1', { ...raised, banThreshold: banThreshold(raised, BAN_DURATIONS), count: 2 }],
      [ADDRESS.bucketKey, { ...ADDRESS, banThreshold: null, count: 1 }],
    ]);
  });
});

describe('decisionsFor', () => {
  const requests = [QUOTA, ADDRESS, QUOTA, QUOTA];
  const decide = (
    outcomes: Map<string, CountedBucket | Error>,
    given: RateLimitRequest[] = requests,
    banDurations = BAN_DURATIONS,
  ) => decisionsFor(given, groupByBucket(given, banDurations), outcomes);
  const ofQuota = counted({ minuteUsed: 60, dayUsed: 100, allowed: 2, denied: 1, denials: 1 });
  const ofAddress = counted({ minuteUsed: 7, dayUsed: 7, allowed: 1 });

  it('returns a decision for each request: the first are allowed, each with the windows it left', () => {
    const outcomes = new Map([
      [ADDRESS.bucketKey, ofAddress],
      [QUOTA.bucketKey, ofQuota],
    ]);
    expect(decide(outcomes).map(summarize)).toEqual([
      [true, { minute: 1, day: 901 }, THRESHOLD],
      [true, { minute: 293 }, null],
      [true, { minute: 0, day: 900 }, THRESHOLD],
      [false, { minute: 0, day: 900 }, THRESHOLD - 1],
    ]);
  });

  it("returns the store's time, and degraded false", () => {
    const outcomes = new Map([[ADDRESS.bucketKey, ofAddress]]);
    expect(decide(outcomes, [ADDRESS])).toMatchObject([{ nowMs, degraded: false }]);
  });

  it('returns null for the denials until a ban if bans are off', () => {
    const outcomes = new Map([[QUOTA.bucketKey, ofQuota]]);
    expect(decide(outcomes, [QUOTA], [])).toMatchObject([{ denialsUntilBan: null }]);
  });

  it('returns the error of a bucket for each of its requests', () => {
    const error = new Error('away');
    const outcomes = new Map<string, CountedBucket | Error>([
      [QUOTA.bucketKey, error],
      [ADDRESS.bucketKey, ofAddress],
    ]);
    expect(decide(outcomes)).toEqual([error, expect.objectContaining({ allowed: true }), error, error]);
  });

  it('returns an error for each request of a bucket that cannot be read, as the others are counted', () => {
    const unreadable = { ...ofQuota, allowed: 0, denied: 0, bannedUntilMs: Infinity };
    const outcomes = new Map([
      [QUOTA.bucketKey, unreadable],
      [ADDRESS.bucketKey, ofAddress],
    ]);
    const decisions = decide(outcomes);
    expect(decisions.map((decision) => decision instanceof Error)).toEqual([true, false, true, true]);
  });

  it('returns an error for each request of a bucket for which the store returned nothing', () => {
    const outcomes = new Map([[ADDRESS.bucketKey, ofAddress]]);
    const missing = new Error('The counter store returned nothing for quota:1');
    expect(decide(outcomes)).toEqual([missing, expect.objectContaining({ allowed: true }), missing, missing]);
  });
});

describe('previewDecision', () => {
  const preview = (
    facts: Partial<CountedBucket>,
    request: RateLimitRequest = QUOTA,
    threshold: number | null = 60,
  ) => previewDecision(counted(facts), request, threshold);

  it.each([
    [true, 59, 999],
    [false, 60, 999],
    [false, 59, 1000],
  ])('returns allowed %s when %i of 60 and %i of 1000 requests are used', (allowed, minuteUsed, dayUsed) => {
    const windows = { minute: 60 - minuteUsed, day: 1000 - dayUsed };
    expect(summarize(preview({ minuteUsed, dayUsed }))).toEqual([allowed, windows, 60]);
  });

  it("returns the store's time, and degraded false", () => {
    expect(preview({})).toMatchObject({ nowMs, degraded: false });
  });

  const full = { minute: 60, day: 1000 };
  const lastMs = { bannedUntilMs: nowMs + 1 };
  it.each<[string, Parameters<typeof preview>, ReturnType<typeof summarize>, number | null]>([
    ['the denials that remain until a ban', [{ denials: 20 }], [true, full, 40], null],
    ['a ban until its last millisecond', [lastMs], [false, full, 0], nowMs + 1],
    ['no ban from its end on', [{ bannedUntilMs: nowMs }], [true, full, 60], null],
    ['no ban if bans are off', [{ bannedUntilMs: end }, QUOTA, null], [true, full, null], null],
    ['only the minute of an anonymous client', [{}, ADDRESS, null], [true, { minute: 300 }, null], null],
  ])('returns %s, with the windows as they are', (_what, given, expected, untilMs) => {
    const decision = preview(...given);
    expect(summarize(decision)).toEqual(expected);
    expect(decision.ban).toEqual(untilMs === null ? null : { untilMs, started: false });
  });
});

describe('toBanStatus, for the requests of a batch', () => {
  it('returns the remaining denials: those before the batch if allowed, its own count if denied', () => {
    expect(banStatuses(5, { allowed: 2, denied: 3, denials: 3 })).toEqual(untilBan(5, 5, 4, 3, 2));
    expect(banStatuses(3, { allowed: 1, denied: 2, denials: 4 })).toEqual(untilBan(3, 2, 1));
  });

  it('starts the ban with the denial that reaches the threshold, and returns it to later requests', () => {
    expect(banStatuses(9, { allowed: 2, denied: 5, denials: 0, bannedUntilMs: end })).toEqual([
      ...untilBan(5, 5, 4, 3, 2, 1),
      banned(true),
      banned(false),
      banned(false),
    ]);
    expect(banStatuses(2, { denied: 1, denials: 0, bannedUntilMs: end })).toEqual([
      banned(true),
      banned(false),
    ]);
  });

  it('returns an earlier ban to all requests', () => {
    expect(banStatuses(2, { bannedUntilMs: end })).toEqual([banned(false), banned(false)]);
  });

  it('ignores a ban that is over', () => {
    expect(banStatuses(3, { allowed: 2, denied: 1, denials: 1, bannedUntilMs: end })).toEqual(
      untilBan(5, 5, 4),
    );
  });

  it('returns at least one remaining denial when the limit was lowered below the denials so far', () => {
    expect(banStatuses(1, { allowed: 1, denials: 7 })).toEqual([{ ...untilBan(1)[0], denials: 7 }]);
  });

  it('returns null when bans are off', () => {
    const none = (denials: number) => ({ denials, denialsUntilBan: null, ban: null });
    expect(banStatuses(2, { allowed: 1, denied: 1, denials: 9 }, null)).toEqual([none(9), none(9)]);
    expect(banStatuses(1, { allowed: 1, bannedUntilMs: end }, null)).toEqual([none(0)]);
  });

  it('throws when the store returned a ban without its end', () => {
    expect(() => banStatuses(1, { denied: 1 })).toThrow('The counter store returned a ban without its end');
  });
});
