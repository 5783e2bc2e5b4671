import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import type { Environment } from '../../src/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { countKeyLookUps } from '../support/keys/key-look-ups.js';
import { until } from '../support/eventually.js';
import {
  describeOnPgBouncer,
  DOCUMENTED,
  type PgBouncer,
  startPgBouncer,
} from '../support/database/pgbouncer.js';

const inMode = (poolMode: string) => DOCUMENTED.replace(/^pool_mode = .*$/m, `pool_mode = ${poolMode}`);

const poolers: PgBouncer[] = [];
const stores: TestApplication[] = [];

/** Starts a PgBouncer that ends with the test. */
async function startPooler(database: TestDatabase, pooling?: string): Promise<string> {
  const pooler = await startPgBouncer(database.url, pooling);
  poolers.push(pooler);
  return pooler.url;
}

/** Starts a service that ends with the test. */
async function startStore(
  database: TestDatabase,
  environment: Partial<Environment>,
): Promise<TestApplication> {
  const store = await startApplication({ database, environment });
  stores.push(store);
  return store;
}

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await Promise.all(poolers.splice(0).map((pooler) => pooler.stop()));
});

describeOnPgBouncer('a connection through PgBouncer, which loses notifications', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());
  afterEach(() => jest.restoreAllMocks());

  it.each(['transaction', 'session', 'statement'])(
    'is detected (pool_mode = %s): every key is looked up, and the log has one warning',
    async (poolMode) => {
      const url = await startPooler(database, inMode(poolMode));
      const warnings = jest.spyOn(Logger.prototype, 'warn');
      const store = await startStore(database, { DIRECT_DATABASE_URL: url });
      const watch = store.app.get(ApiKeyChangeListener);
      const { id, key } = await store.issue({ plan: 'business' });
      await until(() => warnings.mock.calls.length > 0);
      // Long enough for more than one attempt.
      await pause(2500);
      expect(warnings.mock.calls).toEqual([
        [
          'Key changes are not received, so every key is looked up: a pooler is in the way; ' +
            "DIRECT_DATABASE_URL must be the address of PostgreSQL itself, not a pooler's",
        ],
      ]);
      expect(watch.isCurrent).toBe(false);
      const lookUps = countKeyLookUps(store);
      for (let request = 1; request <= 3; request += 1) {
        expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(200);
        expect(lookUps()).toBe(request);
      }
      await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
      expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(401);
    },
  );

  it('is harmless when DIRECT_DATABASE_URL bypasses the pooler', async () => {
    const url = await startPooler(database);
    const store = await startStore(database, { DATABASE_URL: url, DIRECT_DATABASE_URL: database.url });
    const watch = store.app.get(ApiKeyChangeListener);
    await until(() => watch.isCurrent);
    const { id, key } = await store.issue({ plan: 'business' });
    // Enough concurrent queries that the pooler lends several connections in turn, none of which has the statements
    // of another.
    for (let round = 1; round <= 20; round += 1) {
      const responses = await Promise.all(
        ['?limit=1', '?limit=2&status=sold', '/1', ''].map((target) =>
          send(`${store.url}/v1/pets${target}`, { key }),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 404, 200]);
      expect(responses.map(({ headers }) => headers.get('x-ratelimit-degraded'))).toEqual(
        Array(4).fill(null),
      );
    }
    // No setting is left behind on a connection that is lent to the next client.
    expect(await send(`${store.url}/readyz`)).toMatchObject({ status: 200 });
    const lent = new pg.Pool({ connectionString: url, max: 20 });
    const timeouts = await Promise.all(
      Array.from({ length: 20 }, () =>
        lent.query("SELECT pg_sleep(0.2), current_setting('statement_timeout') AS timeout"),
      ),
    );
    await lent.end();
    expect(new Set(timeouts.map(({ rows }) => rows[0].timeout))).toEqual(new Set(['0']));
    const { generation } = watch;
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    await until(() => watch.generation > generation);
    expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(401);
  });

  it('keeps one server connection for each creation with an Idempotency-Key in transaction mode, and creates it once', async () => {
    const url = await startPooler(database);
    const store = await startStore(database, { DATABASE_URL: url, DIRECT_DATABASE_URL: database.url });
    const { key } = await store.issue({ plan: 'business' });
    const [rex] = await database.query<{ id: string }>(
      `INSERT INTO pets (name, category_id) VALUES ('Rex', 7) RETURNING id`,
    );
    const create = (target: string, body: string, attempt: number) =>
      send(`${store.url}${target}`, {
        method: 'POST',
        key,
        body,
        headers: { 'Idempotency-Key': `${attempt}${target}` },
      });
    const each = [1, 2, 3, 4].flatMap((attempt) => [
      () => create('/v1/pets', '{"name":"Tom","categoryId":3}', attempt),
      () => create('/v1/store/orders', `{"petId":${rex?.id},"quantity":2}`, attempt),
    ]);
    const replayed = ({ headers }: HttpResponse) => headers.get('idempotent-replayed') === 'true';

    // Pairs of the same request, and enough of them that the pooler lends several connections in turn.
    const responses = await Promise.all([...each, ...each].map((repeat) => repeat()));
    const created = responses.filter((response) => response.status === 201 && !replayed(response));
    expect(created).toHaveLength(each.length);
    const others = responses.filter((response) => !created.includes(response));
    expect(others.filter((response) => response.status !== 409 && !replayed(response))).toEqual([]);

    const again = await Promise.all(each.map((repeat) => repeat()));
    expect(again.filter((response) => response.status !== 201 || !replayed(response))).toEqual([]);
    const texts = (of: HttpResponse[]) => of.map(({ text }) => text).toSorted();
    expect(texts(again)).toEqual(texts(created));
    const [toms] = await database.query(`SELECT count(*)::int FROM pets WHERE name = 'Tom'`);
    const { json: orders } = await send(`${store.url}/v1/store/orders`, { key });
    expect([toms, orders.length]).toEqual([{ count: 4 }, 4]);
  });
});
