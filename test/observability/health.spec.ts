import { hostname } from 'node:os';
import { Logger } from '@nestjs/common';
import { generateApiKey } from '../../src/auth/rules/api-key.js';
import { SCOPES } from '../../src/auth/rules/scope.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { TABLES } from '../../src/database/access/tables.js';
import { Connections } from '../../src/http/connections/connections.js';
import { SequenceWatch } from '../../src/observability/sequence-watch.js';
import { parseRedisAddresses } from '../../src/process/settings/redis-address.js';
import { VERSION } from '../../src/process/version.js';
import { until } from '../support/eventually.js';
import { shareApplication, startApplication } from '../support/service/application.js';
import { createDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { ApiDocument } from '../support/http/document.js';
import { send } from '../support/http/http.js';
import { countKeyLookUps } from '../support/keys/key-look-ups.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { hasRedis, startRedis } from '../support/programs/redis.js';

const READY = { status: 'ok' };
const NOT_READY = { code: 'service_unavailable', message: 'Not ready.', status: 503 };
/** The components of a healthy service. */
const COMPONENTS = {
  database: { status: 'up' },
  migrations: { status: 'up', pending: [] },
  counterStore: { status: 'up', kind: 'postgresql' },
};
const OWN_REPLICA = {
  id: expect.stringMatching(/^[\da-f-]{36}$/),
  version: VERSION,
  host: hostname(),
  startedAt: expect.any(String),
  lastSeenAt: expect.any(String),
};
/** What every replica reports that is alone. */
const ALONE = { version: VERSION, replicas: [OWN_REPLICA], warnings: [] };

/** Returns how often something that happens at most once a second may have happened since then. */
const timesSince = (startedMs: number) => Math.floor((performance.now() - startedMs) / 1000) + 1;

afterEach(() => jest.restoreAllMocks());

const store = shareApplication();

describe('a service whose sequences are behind their tables, as after logical replication', () => {
  it('warns at GET /admin/health and in the log, with the statements that repair it', async () => {
    const { database } = store;
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const { key } = await store.issue({ role: 'admin', plan: 'business', scopes: [...SCOPES] });
    const getWarnings = async () => {
      await store.app.get(SequenceWatch).check();
      return (await send(`${store.url}/admin/health`, { key })).json.warnings;
    };
    // Issuing a key adds an audit event.
    const creations = new ApiDocument().creations.map(({ path, body }): [path: string, body: unknown] => [
      path,
      body?.examples?.[0],
    ]);
    creations.push(['/admin/keys', { name: 'x', plan: 'free' }]);
    /** Returns the statuses that creations of every kind get. */
    const create = async () => {
      const statuses = new Set<number>();
      for (const [path, body] of creations) {
        statuses.add((await send(`${store.url}${path}`, { method: 'POST', key, body })).status);
      }
      return [...statuses];
    };
    // The examples name animals of the demonstration.
    await database.query('INSERT INTO pets (name, category_id) SELECT n, 7 FROM generate_series(1, 36) n');
    expect(await create()).toEqual([201]);
    expect(await getWarnings()).toStrictEqual([]);
    // Then pg_sequences has no last value either.
    await database.query('ALTER SEQUENCE pets_id_seq RESTART WITH 1000');
    expect(await getWarnings()).toStrictEqual([]);
    const sequences = Object.entries(TABLES).flatMap(([table, { sequence }]) =>
      sequence ? [{ table, sequence }] : [],
    );
    expect(sequences.map(({ table }) => table)).toEqual(
      expect.arrayContaining(['audit_events', 'orders', 'pets']),
    );
    for (const { sequence } of sequences) {
      await database.query(`ALTER SEQUENCE ${sequence} RESTART`);
    }
    const expected = sequences.map(({ table, sequence }) => {
      const last = `(SELECT last_value FROM public.${sequence})`;
      const repair = `SELECT setval('public.${sequence}', greatest(max(id), ${last})) FROM public.${table}`;
      const message =
        `The sequence public.${sequence} is behind the table public.${table}: creations fail because ` +
        `their ids are taken. Run "${repair}".`;
      return { code: 'sequence_behind', message };
    });
    expect(await getWarnings()).toEqual(expected);
    expect(warn.mock.calls).toEqual(expected.map(({ message }) => [message]));
    expect(await create()).toEqual([500]);
    expect((await send(`${store.url}/readyz`)).status).toBe(200);
    for (const { message } of expected) {
      await database.query(/"(.+)"/.exec(message)?.[1] ?? '');
    }
    expect(await create()).toEqual([201]);
    expect(await getWarnings()).toStrictEqual([]);
    // Then pg_sequences has no last value either.
    await database.query('ALTER SEQUENCE pets_id_seq RESTART WITH 1000');
    expect(await getWarnings()).toStrictEqual([]);
  });
});

describe('a healthy service', () => {
  const readyz = (key?: string) => store.send('/readyz', { key });
  const getHealth = (key: string) => store.send('/admin/health', { key });

  it('returns only the status at GET /readyz, and looks up no key, whatever the request has', async () => {
    const administrator = await store.issue({ role: 'admin' });
    const lookUps = countKeyLookUps(store);
    for (const key of [undefined, 'secret', generateApiKey('staging'), store.key, administrator.key]) {
      const { status, json, headers } = await readyz(key);
      expect([status, json]).toEqual([200, READY]);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-ratelimit-limit')).toBeNull();
    }
    expect(lookUps()).toBe(0);
  });

  it('queries the database once for all requests to GET /readyz within a second', async () => {
    const run = jest.spyOn(store.app.get(PrismaService).pools.queries, 'query');
    const queries = () =>
      run.mock.calls.filter(([query]: unknown[]) =>
        (typeof query === 'string' ? query : (query as { text: string }).text).includes(
          'FROM _prisma_migrations',
        ),
      ).length;
    const startedMs = performance.now();
    // An earlier check is shared for a second.
    await until(async () => {
      const responses = await Promise.all(Array.from({ length: 100 }, () => readyz()));
      expect(responses.filter(({ status }) => status !== 200)).toStrictEqual([]);
      return queries() > 0;
    });
    expect(queries()).toBeLessThanOrEqual(timesSince(startedMs));
  });

  it('returns each component at GET /admin/health to an administrator, and is counted', async () => {
    const { key } = await store.issue({ role: 'admin', plan: 'business' });
    const { status, json, headers } = await getHealth(key);
    expect([status, json]).toEqual([200, { status: 'ready', ...ALONE, components: COMPONENTS }]);
    expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual(['1000', '999']);
  });

  it('reports a shutdown at GET /admin/health', async () => {
    const { key } = await store.issue({ role: 'admin' });
    store.app.get(Connections).drain();
    expect((await getHealth(key)).json).toMatchObject({ status: 'draining' });
  });
});

describe('a service whose database lacks migrations', () => {
  it('is not ready, and names the migrations only to an administrator and in the log', async () => {
    const database = await createDatabase();
    const last = OWN_MIGRATIONS.at(-1);
    await database.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [last]);
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const service = await startApplication({ database });
    try {
      const { key } = await service.issue({ role: 'admin' });
      const { status, json, headers } = await send(`${service.url}/readyz`, { key });
      expect([status, json, headers.get('retry-after')]).toEqual([503, NOT_READY, '1']);
      const message =
        `the database lacks the migrations ${last}; run "npx prisma migrate deploy", or in a container ` +
        '"animal-store migrate"';
      const health = await send(`${service.url}/admin/health`, { key });
      const components = { ...COMPONENTS, migrations: { status: 'down', pending: [last], message } };
      expect([health.status, health.json]).toEqual([
        200,
        { status: 'not_ready', version: VERSION, warnings: [], components },
      ]);
      expect(errors.mock.calls).toEqual([[`Not ready: ${message}`]]);
      expect((await send(`${service.url}/livez`, { key })).json).toEqual(READY);
    } finally {
      await service.close();
      await database.drop();
    }
  });
});

(hasRedis() ? it : it.skip)(
  'a service whose Redis hangs is ready, and reports to an administrator since when it is degraded',
  async () => {
    const server = await startRedis();
    const COUNTER_STORE_URL = parseRedisAddresses(`redis://127.0.0.1:${server.port}`) ?? [];
    const service = await startApplication({ environment: { COUNTER_STORE_URL } });
    const { key } = await service.issue({ role: 'admin' });
    const call = (path: string) => send(service.url + path, { key });
    const expectStore = (counterStore: object) =>
      eventually(async () =>
        expect((await call('/admin/health')).json.components).toMatchObject({ counterStore }),
      );
    await expectStore({ status: 'up', kind: 'redis' });
    server.pause();
    await expectStore({
      status: 'degraded',
      kind: 'redis',
      degradedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      message: expect.stringMatching(/^the counter store is unavailable, so this replica counts locally: /),
    });
    expect((await call('/readyz')).json).toEqual(READY);
    expect((await call('/v1/pets')).headers.get('x-ratelimit-degraded')).toBe('true');
    await service.close();
    await server.stop();
  },
);
