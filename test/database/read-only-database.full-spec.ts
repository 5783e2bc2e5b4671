import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';

/** The size of both pools together. */
const POOL_SIZE = 7;

describe('a database that is read-only for a while', () => {
  let database: TestDatabase;
  let store: TestApplication;
  let key: string;

  beforeAll(async () => {
    database = await createDatabase();
    store = await startApplication({ database, environment: { DATABASE_POOL_SIZE: POOL_SIZE } });
    ({ key } = await store.issue({ plan: 'business' }));
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  const create = (headers: Record<string, string> = {}) =>
    send(`${store.url}/v1/pets`, { method: 'POST', key, body: { name: 'Rex', categoryId: 1 }, headers });

  it.each([
    ['by its pool of queries', () => create()],
    ['in a transaction', () => create({ 'Idempotency-Key': crypto.randomUUID() })],
  ])('accepts writes again as soon as it is writable: %s', async (_how, write) => {
    const name = new URL(database.url).pathname.slice(1);
    // Sessions that begin meanwhile stay read-only until they end.
    await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await database.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND ' +
        'pid <> pg_backend_pid()',
    );
    try {
      await eventually(async () =>
        expect((await write()).json.message).toMatch(/^The database is unavailable/),
      );
      const denied = await Promise.all(Array.from({ length: POOL_SIZE }, write));
      expect(denied.map(({ status }) => status)).toEqual(Array(POOL_SIZE).fill(503));
      expect(await send(`${store.url}/v1/pets`, { key })).toMatchObject({ status: 200 });
    } finally {
      await database.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    }
    // A read-only connection rejects at most one write, and is then closed.
    const statuses: number[] = [];
    for (let request = 1; request <= 2 * POOL_SIZE; request += 1) {
      statuses.push((await write()).status);
    }
    expect(statuses.slice(POOL_SIZE)).toEqual(Array(POOL_SIZE).fill(201));
  });
});
