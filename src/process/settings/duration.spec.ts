import { parseDuration } from './duration.js';

it.each([
  ['1s', 1000],
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  ['0', 0],
  ['0h', 0],
  ['36500d', 3_153_600_000_000],
])('parseDuration("%s") returns %d milliseconds', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

it.each(['', ' ', '1', '-1h', '1.5h', '1w', 'h', '1 h', '1H', '1h30m', '36501d', '99999999999999999999d'])(
  'parseDuration("%s") returns null',
  (text) => {
    expect(parseDuration(text)).toBeNull();
  },
);
