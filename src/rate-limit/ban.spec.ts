import { banEndSeconds, type BatchOutcome, secondsToBanEnd, banStatusOf, windowsWhileBanned } from './ban.js';
import { windowState } from './windows.js';

const end = new Date(Date.UTC(2027, 2, 5, 12, 35, 30, 1));

/** The standings of all of `asked` requests that were judged at once. */
function standings(asked: number, judged: Partial<BatchOutcome>, threshold: number | null = 5) {
  const whole = { allowed: 0, denied: 0, refusals: 0, bannedUntil: null, ...judged };
  return Array.from({ length: asked }, (_, position) => banStatusOf(whole, position, threshold));
}

const untilBan = (...numbers: (number | null)[]) =>
  numbers.map((refusalsUntilBan) => ({ refusalsUntilBan, ban: null }));
const banned = (started: boolean) => ({ refusalsUntilBan: 0, ban: { untilMs: end.getTime(), started } });

describe('of several requests judged at once', () => {
  it('the allowed ones are told the refusals that remained before them, each denied one its own number', () => {
    expect(standings(5, { allowed: 2, denied: 3, refusals: 3 })).toEqual(untilBan(5, 5, 4, 3, 2));
    expect(standings(3, { allowed: 1, denied: 2, refusals: 4 })).toEqual(untilBan(3, 2, 1));
  });

  it('the one that makes as many refusals as the limit starts the ban, and all after it meet it', () => {
    expect(standings(9, { allowed: 2, denied: 5, refusals: 0, bannedUntil: end })).toEqual([
      ...untilBan(5, 5, 4, 3, 2, 1),
      banned(true),
      banned(false),
      banned(false),
    ]);
    expect(standings(2, { denied: 1, refusals: 0, bannedUntil: end })).toEqual([banned(true), banned(false)]);
  });

  it('all meet a ban that was there before', () => {
    expect(standings(2, { bannedUntil: end })).toEqual([banned(false), banned(false)]);
  });

  it('none meets a ban that is over', () => {
    expect(standings(3, { allowed: 2, denied: 1, refusals: 1, bannedUntil: end })).toEqual(untilBan(5, 5, 4));
  });

  it('one refusal remains at the least, where the limit was lowered below what was denied already', () => {
    expect(standings(1, { allowed: 1, refusals: 7 })).toEqual(untilBan(1));
  });

  it('none is told of bans that nobody threatens it with', () => {
    expect(standings(2, { allowed: 1, denied: 1, refusals: 9 }, null)).toEqual(untilBan(null, null));
    expect(standings(1, { allowed: 1, bannedUntil: end }, null)).toEqual(untilBan(null));
  });
});

describe('the end of a ban', () => {
  const ban = { untilMs: end.getTime(), started: false };

  it('is told in whole seconds, rounded up, so that waiting is enough', () => {
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
  ])('in %i ms is a wait of %i s', (leftMs, seconds) => {
    expect(secondsToBanEnd(ban, ban.untilMs - leftMs)).toBe(seconds);
  });

  it('is when a window has room again, unless it is used up for longer', () => {
    const minute = windowState('minute', Date.UTC(2027, 2, 5, 12, 34) / 60_000, 60, 3);
    const day = windowState('day', Date.UTC(2027, 2, 5) / 86_400_000, 1000, 1000);
    expect(windowsWhileBanned([minute, day], ban)).toEqual([
      { ...minute, remaining: 0, resetSeconds: banEndSeconds(ban) },
      { ...day, remaining: 0, resetSeconds: Date.UTC(2027, 2, 6) / 1000 },
    ]);
  });
});
