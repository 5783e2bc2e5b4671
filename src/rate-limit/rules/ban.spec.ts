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
  ])('at a whole second in %i ms is reached after %i s', (leftMs, seconds) => {
    const whole = { ...ban, untilMs: Math.floor(ban.untilMs / 1000) * 1000 };
    expect(secondsToBanEnd(whole, whole.untilMs - leftMs)).toBe(seconds);
  });

  it('is as far away as the whole second in which it ends, so that a wait and that second agree', () => {
    for (const leftMs of [60_000, 59_999, 59_002, 1000, 1, 0]) {
      const nowMs = ban.untilMs - leftMs;
      const leftSeconds = banEndSeconds(ban) - Math.floor(nowMs / 1000);
      expect([leftMs, secondsToBanEnd(ban, nowMs)]).toEqual([leftMs, Math.max(1, leftSeconds)]);
    }
  });
});
