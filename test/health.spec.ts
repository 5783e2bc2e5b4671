import { Logger } from '@nestjs/common';
import { generateApiKey } from '../src/auth/rules/api-key.js';
import { QueryRunner } from '../src/database/query-runner.js';
import { type Administration, startAdministration } from './support/administration.js';
import { startApplication, type TestApplication } from './support/application.js';
import { createDatabase } from './support/database.js';
import { eventually } from './support/eventually.js';
import { send } from './support/http.js';
import { countKeyLookUps } from './support/key-look-ups.js';
import { OWN_MIGRATIONS } from './support/own-migrations.js';
import { hasRedis, type RedisServer, startRedis } from './support/redis.js';

const READY = { status: 'ok' };
const NOT_READY = { code: 'service_unavailable', message: 'Not ready.', status: 503 };

/** Returns how often something that happens at most once a second may have happened since then. */
const timesSince = (startedMs: number) => Math.floor((performance.now() - startedMs) / 1000) + 1;

afterEach(() => jest.restoreAllMocks());

describe('GET /readyz of a healthy service', () => {
  let administration: Administration;
  let store: TestApplication;
  const ready = (key?: string) => send(`${store.url}/readyz`, { key });

  beforeAll(async () => {
    administration = await startAdministration();
    store = administration.store;
  });
  afterAll(() => store.close());

  it('returns only the status to a client without a key, with an invalid key or with the key of a client', async () => {
    const client = await store.issue();
    const unknown = generateApiKey('staging');
    for (const key of [undefined, 'secret', unknown, client.key]) {
      const { status, json, headers } = await ready(key);
      expect([status, json]).toEqual([200, READY]);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-ratelimit-limit')).toBeNull();
    }
  });

  it('returns the status of each part to an administrator', async () => {
    await administration.send('GET /admin/keys');
    const { status, json } = await ready(administration.administrator.key);
    expect([status, json]).toEqual([
      200,
      {
        status: 'ok',
        parts: {
          database: { status: 'up' },
          migrations: { status: 'up', pending: [] },
          counterStore: { status: 'up', kind: 'postgresql' },
        },
        draining: false,
      },
    ]);
  });

  it('queries the database once for all requests within a second', async () => {
    const run = jest.spyOn(QueryRunner.prototype, 'run');
    const startedMs = performance.now();
    const responses = await Promise.all(Array.from({ length: 100 }, () => ready()));
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    const queries = run.mock.calls.filter(([{ name }]) => name === 'recorded-migrations');
    expect(queries.length).toBeLessThanOrEqual(timesSince(startedMs));
  });

  it('looks up at most one uncached key a second', async () => {
    const lookUps = countKeyLookUps(store);
    const startedMs = performance.now();
    const { key } = await store.issue();
    await Promise.all(Array.from({ length: 50 }, () => ready(key)));
    expect(lookUps()).toBeLessThanOrEqual(timesSince(startedMs));
    expect((await ready(administration.administrator.key)).json).toMatchObject({ parts: {} });
  });
});

describe('GET /readyz for an administrator whose key is not cached', () => {
  let store: TestApplication;
  const PARTS = { parts: { database: { status: 'up' } } };
  /** Sends the request as if a trusted proxy had received it from this address. */
  const readyFrom = (address: string, key: string) =>
    send(`${store.url}/readyz`, { key, headers: { 'X-Forwarded-For': address } });

  beforeEach(async () => {
    store = await startApplication({ environment: { TRUST_PROXY: 1 } });
  });
  afterEach(() => store.close());

  it('returns the parts while others at the same address send invalid keys, which are not looked up', async () => {
    const { key } = await store.issue({ role: 'admin' });
    const lookUps = countKeyLookUps(store);
    for (const invalidKey of ['x', generateApiKey('staging').slice(0, -1), generateApiKey('production')]) {
      expect((await readyFrom('192.0.2.1', invalidKey)).json).toEqual(READY);
    }
    expect(lookUps()).toBe(0);
    expect((await readyFrom('192.0.2.1', key)).json).toMatchObject(PARTS);
  });

  it('returns the parts while others try keys from other addresses, each of which has one look-up a second', async () => {
    const { key } = await store.issue({ role: 'admin' });
    const lookUps = countKeyLookUps(store);
    const startedMs = performance.now();
    const attempts = Array.from({ length: 50 }, (_, index) =>
      // A client with one address of the network has all of them.
      readyFrom(`2001:db8::${index.toString(16)}`, generateApiKey('staging')),
    );
    for (const { json } of await Promise.all(attempts)) {
      expect(json).toEqual(READY);
    }
    expect(lookUps()).toBeLessThanOrEqual(timesSince(startedMs));
    expect((await readyFrom('2001:db8:0:1::1', key)).json).toMatchObject(PARTS);
  });
});

describe('GET /readyz of a service whose database lacks migrations', () => {
  it('returns 503, and names the migrations only to an administrator and in the log', async () => {
    const database = await createDatabase();
    const last = OWN_MIGRATIONS.at(-1);
    await database.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [last]);
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const store = await startApplication({ database });
    try {
      const { key } = await store.issue({ role: 'admin' });
      const { status, json, headers } = await send(`${store.url}/readyz`);
      expect([status, json, headers.get('retry-after')]).toEqual([503, NOT_READY, '1']);
      const reason = `the database lacks the migrations ${last}; run "npx prisma migrate deploy", or in a container "animal-store migrate"`;
      expect((await send(`${store.url}/readyz`, { key })).json).toEqual({
        ...NOT_READY,
        message: `Not ready: ${reason}. The parts: database up, counterStore up, migrations down.`,
      });
      expect(errors.mock.calls).toEqual([[`Not ready: ${reason}`]]);
      expect((await send(`${store.url}/livez`)).json).toEqual(READY);
    } finally {
      await store.close();
      await database.drop();
    }
  });
});

(hasRedis() ? describe : describe.skip)('GET /readyz of a service whose Redis hangs', () => {
  let server: RedisServer;
  let store: TestApplication;

  beforeAll(async () => {
    server = await startRedis();
    store = await startApplication({
      environment: {
        COUNTER_STORE: [
          {
            host: '127.0.0.1',
            port: server.port,
            tls: false,
            username: undefined,
            password: undefined,
            db: 0,
          },
        ],
      },
    });
  });
  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  it('returns 200, as requests are served, and to an administrator since when the store is degraded', async () => {
    const { key } = await store.issue({ role: 'admin' });
    const parts = async () => (await send(`${store.url}/readyz`, { key })).json.parts;
    await eventually(async () =>
      expect((await parts()).counterStore).toEqual({ status: 'up', kind: 'redis' }),
    );
    server.pause();
    await eventually(async () =>
      expect((await parts()).counterStore).toEqual({
        status: 'degraded',
        kind: 'redis',
        since: expect.stringMatching(/^\d{4}-.*Z$/),
        message: expect.stringMatching(
          /^the counter store does not respond, so this replica counts locally: /,
        ),
      }),
    );
    expect((await send(`${store.url}/readyz`)).json).toEqual(READY);
    expect((await send(`${store.url}/v1/pets`, { key })).headers.get('x-ratelimit-degraded')).toBe('true');
  });
});
