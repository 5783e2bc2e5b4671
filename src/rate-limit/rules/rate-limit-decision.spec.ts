import { banStatusOf, type CountedBucket } from './rate-limit-decision.js';

const end = new Date(Date.UTC(2027, 2, 5, 12, 35, 30, 1));

/** The ban statuses of all of `asked` requests of one batch. */
function banStatuses(asked: number, judged: Partial<CountedBucket>, threshold: number | null = 5) {
  const whole = { allowed: 0, denied: 0, refusals: 0, bannedUntil: null, ...judged };
  return Array.from({ length: asked }, (_, position) => banStatusOf(whole, position, threshold));
}

const untilBan = (...numbers: (number | null)[]) =>
  numbers.map((refusalsUntilBan) => ({ refusalsUntilBan, ban: null }));
const banned = (started: boolean) => ({ refusalsUntilBan: 0, ban: { untilMs: end.getTime(), started } });

describe('of several requests judged at once', () => {
  it('the allowed ones are told the refusals that remained before them, each denied one its own number', () => {
    expect(banStatuses(5, { allowed: 2, denied: 3, refusals: 3 })).toEqual(untilBan(5, 5, 4, 3, 2));
    expect(banStatuses(3, { allowed: 1, denied: 2, refusals: 4 })).toEqual(untilBan(3, 2, 1));
  });

  it('the one that makes as many refusals as the limit starts the ban, and all after it meet it', () => {
    expect(banStatuses(9, { allowed: 2, denied: 5, refusals: 0, bannedUntil: end })).toEqual([
      ...untilBan(5, 5, 4, 3, 2, 1),
      banned(true),
      banned(false),
      banned(false),
    ]);
    expect(banStatuses(2, { denied: 1, refusals: 0, bannedUntil: end })).toEqual([
      banned(true),
      banned(false),
    ]);
  });

  it('all meet a ban that was there before', () => {
    expect(banStatuses(2, { bannedUntil: end })).toEqual([banned(false), banned(false)]);
  });

  it('none meets a ban that is over', () => {
    expect(banStatuses(3, { allowed: 2, denied: 1, refusals: 1, bannedUntil: end })).toEqual(
      untilBan(5, 5, 4),
    );
  });

  it('one refusal remains at the least, where the limit was lowered below what was denied already', () => {
    expect(banStatuses(1, { allowed: 1, refusals: 7 })).toEqual(untilBan(1));
  });

  it('none is told of bans that nobody threatens it with', () => {
    expect(banStatuses(2, { allowed: 1, denied: 1, refusals: 9 }, null)).toEqual(untilBan(null, null));
    expect(banStatuses(1, { allowed: 1, bannedUntil: end }, null)).toEqual(untilBan(null));
  });
});
