import {
  toDay,
  toMinute,
  retryAfterSeconds,
  secondsToReset,
  tightestWindow,
  windowNumber,
  type WindowState,
  windowState,
} from './windows.js';

const noon = Date.UTC(2027, 2, 5, 12, 0, 0);
const minuteNumber = noon / 60_000;
const dayNumber = Date.UTC(2027, 2, 5) / 86_400_000;

const minute = (limit: number, used: number): WindowState => windowState('minute', minuteNumber, limit, used);
const day = (limit: number, used: number): WindowState => windowState('day', dayNumber, limit, used);

describe('toMinute and toDay', () => {
  it('return the number of the UTC minute and day from its first to its last millisecond', () => {
    const midnight = Date.UTC(2027, 2, 5);
    expect([noon - 1, noon, noon + 59_999, noon + 60_000].map(toMinute)).toEqual(
      [-1, 0, 0, 1].map((minutes) => minuteNumber + minutes),
    );
    expect([midnight - 1, midnight, midnight + 86_399_999, midnight + 86_400_000].map(toDay)).toEqual(
      [-1, 0, 0, 1].map((days) => dayNumber + days),
    );
  });
});

describe('windowState', () => {
  it('returns a minute that ends with its UTC minute', () => {
    expect(minute(60, 1)).toEqual({
      name: 'minute',
      lengthSeconds: 60,
      limit: 60,
      remaining: 59,
      resetSeconds: Date.UTC(2027, 2, 5, 12, 1) / 1000,
    });
  });

  it('returns a day that ends with its UTC day', () => {
    expect(day(1000, 1)).toEqual({
      name: 'day',
      lengthSeconds: 86_400,
      limit: 1000,
      remaining: 999,
      resetSeconds: Date.UTC(2027, 2, 6) / 1000,
    });
  });

  it('returns zero remaining, never less, when the limit was lowered below what was used', () => {
    expect(minute(60, 60).remaining).toBe(0);
    expect(minute(10, 60).remaining).toBe(0);
  });
});

describe('windowNumber', () => {
  it('returns the number of the minute or the day', () => {
    expect([minute(60, 1), day(1000, 1)].map(windowNumber)).toEqual([minuteNumber, dayNumber]);
  });
});

describe('tightestWindow', () => {
  it('returns the window with fewer requests remaining, in any order', () => {
    expect(tightestWindow([minute(60, 1), day(1000, 1)]).name).toBe('minute');
    expect(tightestWindow([minute(60, 1), day(1000, 942)]).name).toBe('day');
    expect(tightestWindow([day(1000, 1), minute(60, 1)]).name).toBe('minute');
  });

  it('returns the window that resets later on a tie', () => {
    expect(tightestWindow([minute(60, 60), day(1000, 1000)]).name).toBe('day');
    expect(tightestWindow([day(60, 1), minute(60, 1)]).name).toBe('day');
  });

  it('resets at midnight when minute and day tie in the last minute of a day', () => {
    const last = windowState('minute', Date.UTC(2027, 2, 5, 23, 59) / 60_000, 5, 5);
    expect(tightestWindow([last, day(5, 5)]).resetSeconds).toBe(Date.UTC(2027, 2, 6) / 1000);
  });

  it('returns the only window when there is one', () => {
    expect(tightestWindow([minute(300, 300)]).name).toBe('minute');
  });
});

describe('secondsToReset', () => {
  it.each([
    [0, 60],
    [1, 60],
    [999, 60],
    [1000, 59],
    [59_000, 1],
    [59_999, 1],
    [60_000, 0],
  ])(
    'returns, %i ms into a minute, %i: rounded up, so that waiting this long is enough',
    (passedMs, seconds) => {
      expect(secondsToReset(minute(60, 1), noon + passedMs)).toBe(seconds);
    },
  );

  it('is never negative', () => {
    expect(secondsToReset(minute(60, 1), noon + 3_600_000)).toBe(0);
  });
});

describe('retryAfterSeconds', () => {
  it('runs to the end of the full window', () => {
    expect(retryAfterSeconds([minute(60, 60), day(1000, 60)], noon + 20_000)).toBe(40);
    expect(retryAfterSeconds([minute(60, 5), day(1000, 1000)], noon + 20_000)).toBe(12 * 3600 - 20);
  });

  it('runs to the later end when both are full', () => {
    expect(retryAfterSeconds([minute(60, 60), day(1000, 1000)], noon)).toBe(12 * 3600);
  });

  it('is at least 1', () => {
    expect(retryAfterSeconds([minute(60, 60)], noon + 60_000)).toBe(1);
  });
});
