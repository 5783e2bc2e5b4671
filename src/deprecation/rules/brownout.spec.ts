import { brownoutFault, currentBrownout, lastBrownout } from './brownout.js';

const at = (time: string) => new Date(`2030-${time}:00Z`);
const brownout = (from: string, until: string) => ({ from: at(from), until: at(until) });
const first = brownout('11-05T10:00', '11-05T12:00');
const second = brownout('11-05T12:00', '11-05T13:00');
const third = brownout('12-04T00:00', '12-05T00:00');
const CALENDAR = {
  since: at('01-01T00:00'),
  removal: at('12-05T00:00'),
  brownouts: [first, second, third],
};
const NEVER = { since: at('01-01T00:00'), removal: at('12-05T00:00') };

describe('currentBrownout', () => {
  it.each([
    [at('11-05T10:00').getTime() - 1, null],
    [at('11-05T10:00').getTime(), first],
    [at('11-05T12:00').getTime() - 1, first],
    [at('11-05T12:00').getTime(), second],
    [at('11-05T13:00').getTime(), null],
    [at('12-04T23:59').getTime(), third],
  ])('returns the brownout from its begin until its last millisecond: %d', (nowMs, expected) => {
    expect(currentBrownout(CALENDAR, nowMs)).toBe(expected);
  });

  it('returns null without brownouts', () => {
    expect(currentBrownout(NEVER, at('11-05T10:00').getTime())).toBeNull();
  });
});

describe('lastBrownout', () => {
  it.each([
    [at('11-05T10:00').getTime() - 1, null],
    [at('11-05T10:00').getTime(), first],
    [at('11-05T12:00').getTime() - 1, first],
    [at('11-05T12:00').getTime(), second],
    [at('12-03T23:59').getTime(), second],
    [at('12-31T00:00').getTime(), third],
  ])('returns the last one that has begun, over or not: %d', (nowMs, expected) => {
    expect(lastBrownout(CALENDAR, nowMs)).toBe(expected);
  });

  it('returns null without brownouts', () => {
    expect(lastBrownout(NEVER, at('12-31T00:00').getTime())).toBeNull();
  });
});

describe('brownoutFault', () => {
  const faultOf = (...brownouts: (typeof first)[]) => brownoutFault({ ...CALENDAR, brownouts });

  it('returns null for brownouts in order that may touch each other, the deprecation and the removal', () => {
    expect(brownoutFault(NEVER)).toBeNull();
    expect(brownoutFault(CALENDAR)).toBeNull();
    expect(faultOf(brownout('01-01T00:00', '01-01T01:00'))).toBeNull();
  });

  it.each([
    [
      'does not begin and end at a full hour UTC',
      brownout('11-05T10:30', '11-05T12:00'),
      'the brownout from 2030-11-05T10:30:00Z until 2030-11-05T12:00:00Z does not begin and end at a full hour UTC',
    ],
    [
      'does not end at a full hour',
      brownout('11-05T10:00', '11-05T12:01'),
      'the brownout from 2030-11-05T10:00:00Z until 2030-11-05T12:01:00Z does not begin and end at a full hour UTC',
    ],
    [
      'is no time',
      { from: new Date('soon'), until: at('11-05T12:00') },
      'the brownout from no time until 2030-11-05T12:00:00Z does not begin and end at a full hour UTC',
    ],
    [
      'is empty',
      brownout('11-05T10:00', '11-05T10:00'),
      'the brownout from 2030-11-05T10:00:00Z until 2030-11-05T10:00:00Z does not end after its begin',
    ],
    [
      'ends before it begins',
      brownout('11-05T10:00', '11-05T09:00'),
      'the brownout from 2030-11-05T10:00:00Z until 2030-11-05T09:00:00Z does not end after its begin',
    ],
    [
      'begins before the deprecation',
      { from: new Date('2029-12-31T23:00:00Z'), until: at('01-01T01:00') },
      'the brownout from 2029-12-31T23:00:00Z until 2030-01-01T01:00:00Z begins before 2030-01-01T00:00:00Z, the deprecation',
    ],
    [
      'ends after the removal',
      brownout('12-04T23:00', '12-05T01:00'),
      'the brownout from 2030-12-04T23:00:00Z until 2030-12-05T01:00:00Z ends after 2030-12-05T00:00:00Z, the removal',
    ],
  ])('returns what is wrong with one that %s', (_name, wrong, fault) => {
    expect(faultOf(wrong)).toBe(fault);
  });

  it('returns what is wrong with one that begins before the end of the one before', () => {
    const overlapping = brownout('11-05T11:00', '11-05T13:00');
    const fault =
      'the brownout from 2030-11-05T11:00:00Z until 2030-11-05T13:00:00Z begins before 2030-11-05T12:00:00Z, the end of the one before';
    expect(faultOf(first, overlapping)).toBe(fault);
    expect(faultOf(third, first)).toMatch(
      /^the brownout from 2030-11-05T10:00:00Z .* begins before 2030-12-05/,
    );
  });
});
