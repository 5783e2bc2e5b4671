import { banEndSeconds, banThreshold, secondsToBanEnd } from './ban.js';

describe('banThreshold', () => {
  it('grows with the limit per minute of a quota', () => {
    const [one, sixty] = [1, 60].map((perMinute) => banThreshold({ perMinute, perDay: 1000 }, [60_000]));
    expect(Number(sixty)).toBeGreaterThan(Number(one));
  });

  it('returns null if bans are off, and for an anonymous client', () => {
    expect(banThreshold({ perMinute: 60, perDay: 1000 }, [])).toBeNull();
    expect(banThreshold({ perMinute: 300, perDay: null }, [60_000])).toBeNull();
  });
});

describe('the end of a ban', () => {
  const end = new Date(Date.UTC(2027, 2, 5, 12, 35, 30, 1));
  const ban = { untilMs: end.getTime(), started: false };

  it('is in whole seconds, rounded up, so that waiting until then is enough', () => {
    expect(banEndSeconds(ban)).toBe(Date.UTC(2027, 2, 5, 12, 35, 31) / 1000);
    expect(banEndSeconds({ ...ban, untilMs: ban.untilMs - 1 })).toBe(Date.UTC(2027, 2, 5, 12, 35, 30) / 1000);
  });

  it.each([
    [60_000, 60],
    [59_999, 60],
    [1001, 2],
    [1000, 1],
    [1, 1],
    [0, 1],
    [-5000, 1],
  ])('in %i ms is reached after %i s', (leftMs, seconds) => {
    expect(secondsToBanEnd(ban, ban.untilMs - leftMs)).toBe(seconds);
  });
});
