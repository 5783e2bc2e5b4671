import type pg from 'pg';
import { createPool } from '../../src/database/connection-pool.js';
import { RequestDeadlineError, withLastStart } from '../../src/database/request-deadline.js';
import { startApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { hold } from '../support/database/holding.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';

describe('createPool', () => {
  it.each([
    ['', 2000],
    ['?connect_timeout=4', 4000],
    ['?connect_timeout=60', 5000],
    ['?connect_timeout=0', 2000],
    ['?connect_timeout=soon', 2000],
  ])(
    'waits for a connection as long as the address says, 5 s at most, 2 s by default: "%s"',
    async (search, timeoutMs) => {
      const pool = createPool({ DATABASE_URL: `postgresql://db.example/store${search}` }, 1);
      expect(pool.options.connectionTimeoutMillis).toBe(timeoutMs);
      await pool.end();
    },
  );

  it('fails only the next query of a connection that ends while in use, and does not reuse it', async () => {
    const database = await createDatabase();
    const pool = createPool({ DATABASE_URL: database.url }, 1);
    try {
      const client = await pool.connect();
      const ended = new Promise((resolve) => client.once('end', resolve));
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
      await ended;
      await expect(client.query('SELECT 1')).rejects.toThrow('not queryable');
      client.release();
      expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    } finally {
      await pool.end();
      await database.drop();
    }
  });
});

describe('a connection of createPool', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  beforeAll(async () => {
    database = await createDatabase();
    pool = createPool({ DATABASE_URL: database.url }, 1);
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  it('runs a query with values beside its text', async () => {
    expect((await pool.query('SELECT $1::int AS one', [1])).rows).toEqual([{ one: 1 }]);
  });

  const from = (ms: number) => performance.now() + ms;

  it('is not lent to a request without time for a statement', async () => {
    await expect(withLastStart(from(0), () => pool.query('SELECT 1'))).rejects.toThrow(RequestDeadlineError);
    await expect(withLastStart(from(0), () => pool.connect())).rejects.toThrow(RequestDeadlineError);
    await withLastStart(from(10_000), () => pool.query('SELECT 1'));
  });

  it('goes to the next request when one has waited for it too long', async () => {
    const borrowed = await pool.connect();
    const impatient = withLastStart(from(20), () => pool.query('SELECT 1'));
    const patient = withLastStart(from(10_000), () => pool.query('SELECT 2 AS two'));
    await expect(impatient).rejects.toThrow(RequestDeadlineError);
    borrowed.release();
    expect((await patient).rows).toEqual([{ two: 2 }]);
    expect([pool.totalCount, pool.idleCount, pool.waitingCount]).toEqual([1, 1, 0]);
  });
});

describe('a small pool', () => {
  it('leaves connections for readiness and keys while operations on animals wait for a lock', async () => {
    const store = await startApplication({ environment: { DATABASE_POOL_SIZE: 10 } });
    const holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const waiting: Promise<unknown>[] = [];
    try {
      const [{ key }, { key: other }] = [await store.issue(), await store.issue()];
      expect((await send(`${store.url}/v1/rate-limit`, { key })).status).toBe(200);
      // After 20 ms another batch of an operation may start beside a slow one.
      for (let round = 0; round < 4; round += 1) {
        waiting.push(
          send(`${store.url}/v1/pets`, { key }),
          send(`${store.url}/v1/pets/1`, { key }),
          send(`${store.url}/v1/pets`, { method: 'POST', key, body: '{"name":"Rex","categoryId":7}' }),
          send(`${store.url}/v1/store/orders`, { method: 'POST', key, body: '{"petId":1,"quantity":1}' }),
        );
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect((await send(`${store.url}/readyz`)).status).toBe(200);
      expect((await send(`${store.url}/v1/rate-limit`, { key: other })).status).toBe(200);
    } finally {
      await holder.letGo();
      await Promise.all(waiting);
      await store.close();
    }
  });

  it('leaves connections for animals while lists of orders wait for a lock', async () => {
    const store = await startApplication({ environment: { DATABASE_POOL_SIZE: 12 } });
    const holder = await hold(store.database.url, 'LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
    const { key } = await store.issue();
    const waiting = Array.from({ length: 20 }, () => send(`${store.url}/v1/store/orders`, { key }));
    try {
      await eventually(() => expectLocksWaitedFor(store.database, 3));
      const body = '{"name":"Rex","categoryId":7}';
      expect((await send(`${store.url}/v1/pets`, { method: 'POST', key, body })).status).toBe(201);
      expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(200);
    } finally {
      await holder.letGo();
      await Promise.all(waiting);
      await store.close();
    }
  });
});
