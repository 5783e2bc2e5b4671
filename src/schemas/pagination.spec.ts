import { parseInt64 } from './int64.js';
import { decodeCursor, encodeCursor, parameter } from './pagination.js';

const POSITIONS = ['0', '9007199254740993', '-9223372036854775808', '', 'a/b|c', 'größer ✓'];

it.each(POSITIONS)('decodeCursor returns the position that encodeCursor was given: "%s"', (position) => {
  expect(decodeCursor(encodeCursor(position))).toBe(position);
});

it('encodeCursor returns a cursor that needs no escape in a query', () => {
  for (const position of POSITIONS) {
    expect(encodeCursor(position)).toMatch(/^[\w-]{6,}$/);
  }
});

it.each([
  ['nothing', ''],
  ['a number', '100'],
  ['16 characters that are not a cursor', 'AAAAAAAAAAAAAAAB'],
  ['a position without its checksum', Buffer.from('12').toString('base64url')],
  ['a position with a wrong checksum', Buffer.from('0000100').toString('base64url')],
  ['the same bytes in base64', Buffer.from(encodeCursor('7'), 'base64url').toString('base64')],
  ['the same bytes with padding', `${encodeCursor('1')}=`],
  ['a cursor and a space', `${encodeCursor('1')} `],
  ['two cursors', encodeCursor('1').repeat(2)],
  ['bytes that are not UTF-8', Buffer.from([0, 0, 0, 0, 0xff]).toString('base64url')],
])('decodeCursor returns null for %s', (_name, text) => {
  expect(decodeCursor(text)).toBeNull();
});

it('decodeCursor returns null for a cursor with a single character changed, left out or doubled', () => {
  const cursor = encodeCursor('9007199254740993');
  for (let index = 0; index < cursor.length; index += 1) {
    const before = cursor.slice(0, index);
    const after = cursor.slice(index + 1);
    const other = cursor[index] === 'A' ? 'B' : 'A';
    for (const text of [
      before + other + after,
      before + after,
      before + cursor[index] + cursor[index] + after,
    ]) {
      expect([text, decodeCursor(text)]).toEqual([text, null]);
    }
  }
});

describe('parameter', () => {
  const schema = parameter(parseInt64, 'must be an int64');

  it('returns the value that is read', () => {
    expect(schema.parse('-9223372036854775808')).toBe(-(2n ** 63n));
  });

  it.each([
    ['a text without a value', '9223372036854775808', 'must be an int64'],
    ['a repeated parameter', ['7', '8'], 'must be given once'],
  ])('reports %s', (_name, input, message) => {
    expect(schema.safeParse(input).error?.issues).toMatchObject([{ message }]);
  });
});
