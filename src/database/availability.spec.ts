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
