import { retryAfterMs } from './retry-after.js';

const NOW_MS = Date.parse('2026-11-24T12:00:00.000Z');
const MAX_MS = NOW_MS + 3 * 86_400_000;

const secondsFor = (retryAfter: string | null, status = 429) => {
  const untilMs = retryAfterMs({ status, retryAfter }, NOW_MS, MAX_MS);
  return untilMs === null ? null : (untilMs - NOW_MS) / 1000;
};

describe('retryAfterMs', () => {
  it.each<[string, number]>([
    ['1', 1],
    ['0120', 120],
    ['Tue, 24 Nov 2026 13:00:00 GMT', 3600],
    ['259201', 259_200],
    ['9'.repeat(400), 259_200],
    ['Tue, 24 Nov 2099 13:00:00 GMT', 259_200],
  ])('returns the end of the wait, at most the latest time: %s', (text, seconds) => {
    expect(secondsFor(text)).toBe(seconds);
    expect(secondsFor(text, 503)).toBe(seconds);
  });

  it.each([
    null,
    '',
    '0',
    '-5',
    '1.5',
    'soon',
    'Tue, 24 Nov 2026 11:00:00 GMT',
    'Tue, 99 Nov 2026 13:00:00 GMT',
    '2026-11-24T13:00:00Z',
  ])('returns null if there is none, it is over, or it is neither seconds nor a date: %j', (text) => {
    expect(secondsFor(text)).toBeNull();
  });

  it.each([200, 301, 410, 500, 502, 504])('returns null for the status %i', (status) => {
    expect(secondsFor('60', status)).toBeNull();
  });
});
