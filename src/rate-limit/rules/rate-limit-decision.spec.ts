import { banStatusOf, type CountedBucket } from './rate-limit-decision.js';

const end = new Date(Date.UTC(2027, 2, 5, 12, 35, 30, 1));

/** The ban statuses of all requests of one batch. */
function banStatuses(count: number, counted: Partial<CountedBucket>, threshold: number | null = 5) {
  const whole = { allowed: 0, denied: 0, refusals: 0, bannedUntil: null, ...counted };
  return Array.from({ length: count }, (_, position) => banStatusOf(whole, position, threshold));
}

const untilBan = (...numbers: (number | null)[]) =>
  numbers.map((refusalsUntilBan) => ({ refusalsUntilBan, ban: null }));
const banned = (started: boolean) => ({ refusalsUntilBan: 0, ban: { untilMs: end.getTime(), started } });

describe('banStatusOf, for the requests of a batch', () => {
  it('returns the refusals that remain: to allowed requests those before the batch, to each denied one its own count', () => {
    expect(banStatuses(5, { allowed: 2, denied: 3, refusals: 3 })).toEqual(untilBan(5, 5, 4, 3, 2));
    expect(banStatuses(3, { allowed: 1, denied: 2, refusals: 4 })).toEqual(untilBan(3, 2, 1));
  });

  it('starts the ban with the refusal that reaches the limit, and returns the ban to all later requests', () => {
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

  it('returns an earlier ban to all requests', () => {
    expect(banStatuses(2, { bannedUntil: end })).toEqual([banned(false), banned(false)]);
  });

  it('ignores a ban that is over', () => {
    expect(banStatuses(3, { allowed: 2, denied: 1, refusals: 1, bannedUntil: end })).toEqual(
      untilBan(5, 5, 4),
    );
  });

  it('returns at least one remaining refusal when the limit was lowered below the refusals so far', () => {
    expect(banStatuses(1, { allowed: 1, refusals: 7 })).toEqual(untilBan(1));
  });

  it('returns null when bans are off', () => {
    expect(banStatuses(2, { allowed: 1, denied: 1, refusals: 9 }, null)).toEqual(untilBan(null, null));
    expect(banStatuses(1, { allowed: 1, bannedUntil: end }, null)).toEqual(untilBan(null));
  });
});
