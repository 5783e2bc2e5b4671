import { expiryHeader } from './api-key.guard.js';

test('a key that never expires has no header', () => {
  expect(expiryHeader({ expiresAt: null })).toEqual({});
});

test.each([
  ['2030-12-05T00:00:00.000Z', 'Thu, 05 Dec 2030 00:00:00 GMT'],
  ['2028-02-29T23:59:59.000Z', 'Tue, 29 Feb 2028 23:59:59 GMT'],
  ['2031-01-02T03:04:05.999Z', 'Thu, 02 Jan 2031 03:04:05 GMT'],
  ['9999-12-31T23:59:59.999Z', 'Fri, 31 Dec 9999 23:59:59 GMT'],
])('of %s it is an IMF-fixdate, rounded down to the second', (expiresAt, text) => {
  expect(expiryHeader({ expiresAt: new Date(expiresAt) })).toEqual({ 'X-Api-Key-Expires': text });
});
