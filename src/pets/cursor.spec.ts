import { decodeCursor, encodeCursor } from './cursor.js';

const IDS = [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -1n, -(2n ** 63n)];

it.each(IDS)('a cursor stands for the identifier it was made of: %d', (id) => {
  expect(decodeCursor(encodeCursor(id))).toBe(id);
});

it('a cursor needs no escape in a query', () => {
  for (const id of IDS) {
    expect(encodeCursor(id)).toMatch(/^[\w-]{16}$/);
  }
});

it.each([
  ['nothing', ''],
  ['a number', '100'],
  ['16 characters of no cursor', 'AAAAAAAAAAAAAAAB'],
  ['an identifier without its checksum', Buffer.alloc(8, 1).toString('base64url')],
  ['an identifier with a wrong checksum', Buffer.alloc(12, 1).toString('base64url')],
  ['the same bytes in base64', encodeCursor(-1n).replaceAll('_', '/').replaceAll('-', '+')],
  ['the same bytes with padding', `${encodeCursor(1n)}=`],
  ['a cursor and a space', `${encodeCursor(1n)} `],
  ['two cursors', encodeCursor(1n).repeat(2)],
])('%s is no cursor', (_name, text) => {
  expect(decodeCursor(text)).toBeNull();
});

it('a cursor is none any more when a single character is changed, left out or doubled', () => {
  const cursor = encodeCursor(9007199254740993n);
  for (let place = 0; place < cursor.length; place += 1) {
    const before = cursor.slice(0, place);
    const after = cursor.slice(place + 1);
    const other = cursor[place] === 'A' ? 'B' : 'A';
    for (const text of [
      before + other + after,
      before + after,
      before + cursor[place] + cursor[place] + after,
    ]) {
      expect([text, decodeCursor(text)]).toEqual([text, null]);
    }
  }
});
