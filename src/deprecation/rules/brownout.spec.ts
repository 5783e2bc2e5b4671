import { areInOrder, lastBrownout } from './brownout.js';

const at = (time: string) => new Date(`2030-${time}:00Z`);
const brownout = (from: string, until: string) => ({ from: at(from), until: at(until) });
const first = brownout('11-05T10:00', '11-05T12:00');
const second = brownout('11-05T12:00', '11-05T13:00');
const third = brownout('12-04T00:00', '12-05T00:00');
const BROWNOUTS = [first, second, third];

describe('lastBrownout', () => {
  it.each([
    [at('11-05T10:00').getTime() - 1, undefined],
    [at('11-05T10:00').getTime(), first],
    [at('11-05T12:00').getTime() - 1, first],
    [at('11-05T12:00').getTime(), second],
    [at('12-03T23:59').getTime(), second],
    [at('12-31T00:00').getTime(), third],
  ])('returns the last one that has begun, over or not: %d', (nowMs, expected) => {
    expect(lastBrownout(BROWNOUTS, nowMs)).toBe(expected);
  });

  it('returns none without brownouts', () => {
    expect(lastBrownout([], at('12-31T00:00').getTime())).toBeUndefined();
  });
});

describe('areInOrder', () => {
  const SINCE = at('01-01T00:00');
  const REMOVAL = at('12-05T00:00');

  it.each([
    ['none', []],
    ['some that touch each other and the removal', [first, second, third]],
    ['one that touches the deprecation', [brownout('01-01T00:00', '01-01T01:00')]],
  ])('returns true for %s', (_name, brownouts) => {
    expect(areInOrder(brownouts, SINCE, REMOVAL)).toBe(true);
  });

  it.each([
    ['one that begins within an hour', [brownout('11-05T10:30', '11-05T12:00')]],
    ['one that ends within an hour', [brownout('11-05T10:00', '11-05T12:01')]],
    ['one that begins at no time', [{ ...first, from: new Date('soon') }]],
    ['one that ends at no time', [{ ...first, until: new Date('later') }]],
    ['one that is empty', [brownout('11-05T10:00', '11-05T10:00')]],
    ['one that ends before it begins', [brownout('11-05T10:00', '11-05T09:00')]],
    ['one before the deprecation', [{ from: new Date('2029-12-31T23:00:00Z'), until: at('01-01T01:00') }]],
    ['one that ends after the removal', [brownout('12-04T23:00', '12-05T01:00')]],
    ['a last one that ends after the removal', [first, brownout('12-04T23:00', '12-05T01:00')]],
    ['two that overlap', [first, brownout('11-05T11:00', '11-05T13:00')]],
    ['two in the wrong order', [third, first]],
  ])('returns false for %s', (_name, brownouts) => {
    expect(areInOrder(brownouts, SINCE, REMOVAL)).toBe(false);
  });
});
