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
  ['a server that rejects connections', '55000'],
  ['a server that shuts down', '57P01'],
  ['a server that has no connection left', '53300'],
  ['an expired certificate', 'CERT_HAS_EXPIRED'],
  ['a self-signed certificate', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ['the certificate of another server', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['a certificate that cannot be verified', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
])('isDatabaseUnavailable returns true for %s', (_what, code) => {
  expect(isDatabaseUnavailable(Object.assign(new Error('away'), { code }))).toBe(true);
});

test.each([
  ['connect', 'EMFILE'],
  ['connect', 'ENFILE'],
  ['connect', 'ENOBUFS'],
  ['connect', 'ENOMEM'],
  ['connect', 'EADDRNOTAVAIL'],
  ['connect', 'EACCES'],
  ['connect', 'ECONNREFUSED'],
  ['getaddrinfo', 'EAI_FAIL'],
  ['getaddrinfo', 'EAI_MEMORY'],
  ['getaddrinfo', 'ENOTFOUND'],
  ['queryA', 'ESERVFAIL'],
  ['read', 'ECONNRESET'],
  ['read', 'EHOSTDOWN'],
  ['write', 'ENETDOWN'],
])('isDatabaseUnavailable returns true for a connection that fails: %s %s', (syscall, code) => {
  const error = Object.assign(new Error(`${syscall} ${code}`), { syscall, code, errno: -1 });
  expect(isDatabaseUnavailable(error)).toBe(true);
  // Of several addresses; and as Prisma reports it.
  expect(isDatabaseUnavailable(new AggregateError([error], ''))).toBe(true);
  expect(isDatabaseUnavailable({ code, message: 'Invalid `prisma.plan.findMany()` invocation:' })).toBe(true);
});

test('isDatabaseUnavailable returns false for a file that cannot be read', () => {
  const error = Object.assign(new Error('EMFILE: too many open files'), { syscall: 'open', code: 'EMFILE' });
  expect(isDatabaseUnavailable(error)).toBe(false);
});

test("isDatabaseUnavailable returns true for an invalid certificate as Prisma's adapter reports it", () => {
  const cause = { kind: 'TlsConnectionError', reason: 'certificate has expired' };
  expect(isDatabaseUnavailable({ cause })).toBe(true);
});

test('isDatabaseUnavailable returns false for a syntax error', () => {
  expect(isDatabaseUnavailable({ code: '42601', message: 'syntax error at or near "FROM"' })).toBe(false);
});
