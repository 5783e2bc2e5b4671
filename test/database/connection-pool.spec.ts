import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { type ConnectionPool, createPool } from '../../src/database/access/connection-pool.js';
import { startDeadline, type Statements, withLastStart } from '../../src/database/access/request-deadline.js';
import { startApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { hold } from '../support/database/holding.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';

const OVERDUE = { reason: 'REQUEST_DEADLINE' };

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
    await expect(withLastStart(from(0), () => pool.query('SELECT 1'))).rejects.toMatchObject(OVERDUE);
    await expect(withLastStart(from(0), () => pool.connect())).rejects.toMatchObject(OVERDUE);
    await withLastStart(from(10_000), () => pool.query('SELECT 1'));
  });

  it('goes to the next request when one has waited for it too long', async () => {
    const borrowed = await pool.connect();
    const impatient = withLastStart(from(20), () => pool.query('SELECT 1'));
    const patient = withLastStart(from(10_000), () => pool.query('SELECT 2 AS two'));
    await expect(impatient).rejects.toMatchObject(OVERDUE);
    borrowed.release();
    expect((await patient).rows).toEqual([{ two: 2 }]);
    expect([pool.totalCount, pool.idleCount, pool.waitingCount]).toEqual([1, 1, 0]);
  });
});

describe('a pool with several borrowers', () => {
  let database: TestDatabase;
  let pool: ConnectionPool;
  beforeAll(async () => (database = await createDatabase()));
  beforeEach(() => (pool = createPool({ DATABASE_URL: database.url }, 3)));
  afterEach(() => pool.end());
  afterAll(() => database.drop());

  /** Runs work as a request of the borrower, which has some time left. */
  function borrow<Result>(borrower: Statements['borrower'], work: () => Result, leftMs = 10_000): Result {
    const request = {} as FastifyRequest;
    let result: Result | undefined;
    startDeadline.call({} as FastifyInstance, request, {} as FastifyReply, () => {
      Object.assign(request.statements!, { borrower, lastStartMs: performance.now() + leftMs });
      result = work();
    });
    return result!;
  }
  const client = (owner: string) => ({ kind: 'client', owner }) as const;
  const borrowFor = (quotaId: string, leftMs?: number) =>
    borrow(client(quotaId), () => pool.connect(), leftMs);
  const read = () => borrow({ kind: 'reader' }, () => pool.connect());
  const used = () => pool.totalCount - pool.idleCount;

  it('lends one to each quota, and the last to neither clients nor reads', async () => {
    const [first, second] = [await borrowFor('a'), await borrowFor('b')];
    const [again, third] = [borrowFor('a'), borrowFor('c')];
    expect([pool.totalCount, pool.waitingCount, pool.pendingCount]).toEqual([2, 0, 2]);
    const unbound = await pool.connect();
    second.release();
    (await third).release();
    first.release();
    (await again).release();
    unbound.release();
    const reads = [await read(), await read()];
    const another = read();
    expect(pool.pendingCount).toBe(1);
    reads.forEach((each) => each.release());
    (await another).release();
    expect([used(), pool.pendingCount]).toEqual([0, 0]);
  });

  it('lets a quota wait for its own requests only until their deadline', async () => {
    const first = await borrowFor('a');
    const impatient = borrowFor('a', 20);
    const patient = borrowFor('a');
    await expect(impatient).rejects.toMatchObject(OVERDUE);
    expect(pool.pendingCount).toBe(1);
    first.release();
    (await patient).release();
    expect([pool.totalCount, pool.idleCount, pool.pendingCount]).toEqual([1, 1, 0]);
  });

  it('passes on a connection that is free after the deadline', async () => {
    const unbound = [await pool.connect(), await pool.connect(), await pool.connect()];
    const impatient = borrowFor('a', 20);
    const patient = borrowFor('a');
    await expect(impatient).rejects.toMatchObject(OVERDUE);
    unbound.forEach((each) => each.release());
    (await patient).release();
    expect([used(), pool.pendingCount]).toEqual([0, 0]);
  });

  it('gives the turn to the next after a connection that broke, or could not be opened', async () => {
    const broken = await borrowFor('a');
    const next = borrowFor('a');
    broken.release(new Error('broken'));
    (await next).release();
    const away = createPool({ DATABASE_URL: 'postgresql://127.0.0.1:1/store' }, 2);
    const tries = Array.from({ length: 3 }, () => borrow(client('a'), () => away.connect()));
    for (const { status } of await Promise.allSettled(tries)) {
      expect(status).toBe('rejected');
    }
    expect([away.totalCount, away.pendingCount]).toEqual([0, 0]);
    await away.end();
  });

  it('lends its only connection to clients too', async () => {
    const single = createPool({ DATABASE_URL: database.url }, 1);
    const query = (quotaId: string) => borrow(client(quotaId), () => single.query('SELECT 1'));
    await Promise.all([query('a'), single.query('SELECT 1'), query('b'), query('a')]);
    expect([single.totalCount, single.idleCount, single.pendingCount]).toEqual([1, 1, 0]);
    await single.end();
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
    const others = await Promise.all(Array.from({ length: 5 }, () => store.issue()));
    const waiting = others.map((other) => send(`${store.url}/v1/store/orders`, { key: other.key }));
    try {
      await eventually(() => expectLocksWaitedFor(store.database, 2));
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
