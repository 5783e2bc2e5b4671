import pg from 'pg';
import { isDatabaseUnavailable } from './availability.js';

test('isDatabaseUnavailable returns true for a closed pool, as during a shutdown', async () => {
  const pool = new pg.Pool();
  await pool.end();
  const error: unknown = await pool.query('SELECT 1').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test.each([
  ['rejects connections', '55000'],
  ['shuts down', '57P01'],
  ['has no connection left', '53300'],
])('isDatabaseUnavailable returns true for a server that %s', (_what, code) => {
  expect(isDatabaseUnavailable({ code })).toBe(true);
});

test('isDatabaseUnavailable returns false for a syntax error', () => {
  expect(isDatabaseUnavailable({ code: '42601', message: 'syntax error at or near "FROM"' })).toBe(false);
});

test.each([
  'CERT_HAS_EXPIRED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])('isDatabaseUnavailable returns true for a server whose certificate is invalid: %s', (code) => {
  expect(isDatabaseUnavailable(Object.assign(new Error('invalid'), { code }))).toBe(true);
});

test("isDatabaseUnavailable returns true for an invalid certificate as Prisma's adapter reports it", () => {
  const cause = { kind: 'TlsConnectionError', reason: 'certificate has expired' };
  expect(isDatabaseUnavailable({ cause })).toBe(true);
});
