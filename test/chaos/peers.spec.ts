import { judge, type Observation, type Rule } from '../../chaos/peers/judge.js';

const MINUTE_MS = 60_000;
/** A minute of the clock begins. */
const NOON_MS = Date.UTC(2026, 10, 27, 12);
const LIMIT = 3;
const rule = (kind: Rule['kind'], burst?: number): Rule => ({
  kind,
  limit: LIMIT,
  ...(burst !== undefined && { burst }),
});

/** An allowed request that was sent so long after noon, and its response 10 ms later. */
const allowed = (sentMs: number, fields: Partial<Observation> = {}): Observation => ({
  sentMs: NOON_MS + sentMs,
  receivedMs: NOON_MS + sentMs + 10,
  status: 200,
  ...fields,
});

/** The fields of a response that reports a window which ends so long after noon. */
const report = (remaining: number, endMs: number) => ({ remaining, endMs: NOON_MS + endMs });

describe('A window by the clock', () => {
  it('has the requests of its minute, though instances report different ends', () => {
    const requests = [0, 1, 2, 3].map((index) => allowed(index, report(2, (1 + (index % 2)) * MINUTE_MS)));
    expect(judge(requests, rule('clock'))).toMatchObject({ most: 4, exceeds: true });
  });

  it('has the requests that report its end, if they may have been decided in the next', () => {
    const before = [0, 1, 2].map((index) => allowed(59_990 + index, report(2 - index, MINUTE_MS)));
    const after = [0, 1, 2].map((index) => allowed(59_995 + index, report(2 - index, 2 * MINUTE_MS)));
    expect(judge([...before, ...after], rule('clock'))).toMatchObject({
      most: 3,
      exceeds: false,
      isRepeated: false,
      allowed: 6,
    });
    const excess = allowed(59_999, report(0, 2 * MINUTE_MS));
    expect(judge([...before, ...after, excess], rule('clock'))).toMatchObject({
      most: 4,
      exceeds: true,
      isRepeated: true,
    });
  });

  it('counts what is marked as decided without the store, but does not compare what remains there', () => {
    const shared = [2, 1, 0].map((remaining, index) => allowed(index, report(remaining, MINUTE_MS)));
    const marked = allowed(100, { ...report(2, MINUTE_MS), isMarked: true });
    expect(judge([...shared, marked], rule('clock'))).toMatchObject({
      most: 4,
      marked: 1,
      exceeds: true,
      isRepeated: false,
    });
  });
});

describe('A window from its first request', () => {
  it('ends a minute after that, and the next begins with the next request', () => {
    const times = [5000, 6000, 64_000, 65_100, 66_000, 67_000];
    expect(
      judge(
        times.map((ms) => allowed(ms)),
        rule('first'),
      ),
    ).toMatchObject({ most: 3, exceeds: false });
    expect(
      judge(
        [...times, 64_500].map((ms) => allowed(ms)),
        rule('first'),
      ),
    ).toMatchObject({
      most: 4,
      exceeds: true,
    });
  });

  it('lacks a request around its end that reports the end of the next', () => {
    const first = [0, 1000, 2000].map((ms, index) => allowed(ms, report(2 - index, MINUTE_MS)));
    const next = allowed(60_005, report(2, 2 * MINUTE_MS + 1000));
    expect(judge([...first, next], rule('first'))).toMatchObject({ most: 3, isRepeated: false });
  });

  it('has the requests of both instances, though the second one reports a window of its own', () => {
    const one = [0, 1000, 2000].map((ms, index) => allowed(ms, report(2 - index, MINUTE_MS)));
    const other = [30_000, 31_000, 32_000].map((ms, index) => allowed(ms, report(2 - index, 90_000)));
    expect(judge([...one, ...other], rule('first'))).toMatchObject({
      most: 6,
      exceeds: true,
      isRepeated: true,
    });
  });
});

describe('A sliding window', () => {
  it('is any minute, and has only what was surely decided within it', () => {
    const times = [0, 30_000, 59_000, 60_001, 90_001];
    expect(
      judge(
        times.map((ms) => allowed(ms)),
        rule('sliding'),
      ),
    ).toMatchObject({ most: 3, exceeds: false });
    expect(
      judge(
        [...times, 59_500].map((ms) => allowed(ms)),
        rule('sliding'),
      ),
    ).toMatchObject({
      most: 4,
      exceeds: true,
    });
  });

  it('may report a remaining count again once a request has left it, not before', () => {
    const times = [0, 30_000, 60_005];
    const reports = [2, 1, 1].map((remaining, index) => allowed(times[index] ?? 0, { remaining }));
    expect(judge(reports, rule('sliding')).isRepeated).toBe(false);
    const again = allowed(30_100, { remaining: 1 });
    expect(judge([...reports, again], rule('sliding')).isRepeated).toBe(true);
  });
});

describe('An average', () => {
  it('bounds no minute', () => {
    const requests = [0, 1, 2, 3].map((index) => allowed(index));
    expect(judge(requests, rule('average'))).toMatchObject({ most: 4, exceeds: false });
  });
});

describe('A leaky bucket', () => {
  it('lets its burst through at once, and then what has leaked', () => {
    const times = [0, 0, 20_010, 40_010];
    const verdict = judge(
      times.map((ms) => allowed(ms)),
      rule('leaky', 1),
    );
    expect(verdict).toMatchObject({ most: 4, exceeds: false, isRepeated: null });
    expect(
      judge(
        [...times, 100].map((ms) => allowed(ms)),
        rule('leaky', 1),
      ).exceeds,
    ).toBe(true);
  });
});

describe('What clients saw', () => {
  it('is what was allowed, denied and failed, and the slowest response', () => {
    const observations: Observation[] = [
      allowed(0),
      allowed(10, { status: 429 }),
      allowed(20, { status: 500, receivedMs: NOON_MS + 4020 }),
      allowed(30, { status: null, receivedMs: null }),
    ];
    expect(judge(observations, rule('first'))).toMatchObject({
      allowed: 1,
      denied: 1,
      failed: 2,
      slowestMs: 4000,
    });
  });
});
