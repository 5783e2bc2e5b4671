import { createPool } from '../src/database/connection-pool.js';
import { createDatabase } from './support/database.js';

it('a connection that ends while it is lent fails the next question on it, nothing else, and is lent no more', async () => {
  const database = await createDatabase();
  const pool = createPool({ DATABASE_URL: database.url }, 1);
  try {
    const lent = await pool.connect();
    const ended = new Promise((resolve) => lent.once('end', resolve));
    const { rows } = await lent.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await ended;
    await expect(lent.query('SELECT 1')).rejects.toThrow('not queryable');
    lent.release();
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await pool.end();
    await database.drop();
  }
});
