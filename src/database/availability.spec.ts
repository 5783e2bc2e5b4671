import pg from 'pg';
import { isDatabaseUnavailable } from './availability.js';

test('connections that are closed, as the service ends, mean that the database is away', async () => {
  const pool = new pg.Pool();
  await pool.end();
  const error: unknown = await pool.query('SELECT 1').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test('a mistake in a statement is a defect', () => {
  expect(isDatabaseUnavailable({ code: '42601', message: 'syntax error at or near "FROM"' })).toBe(false);
});

test.each([
  ['CERT_HAS_EXPIRED', 'certificate has expired'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames"],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate'],
])('a server that is not to be trusted (%s) is away', (code, message) => {
  expect(isDatabaseUnavailable(Object.assign(new Error(message), { code }))).toBe(true);
  // As Prisma's adapter tells it.
  expect(isDatabaseUnavailable({ cause: { kind: 'TlsConnectionError', reason: message } })).toBe(true);
});
