import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { applyPendingMigrations } from '../../src/database/migrations/migrations.js';
import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import type { Environment } from '../../src/process/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { HOUR_MS, TestClock } from '../support/time/clock.js';
import { createDatabase, query, type TestDatabase } from '../support/database/database.js';
import { send } from '../support/http/http.js';
import { countKeyLookUps } from '../support/keys/key-look-ups.js';
import { eventually, until } from '../support/eventually.js';
import { ban } from '../support/keys/bans.js';
import { issueKey } from '../support/keys/keys.js';
import { documented } from '../support/documented-commands.js';
import { freePort } from '../support/programs/free-port.js';
import { asNobody, findProgram, type Program, startProgram } from '../support/programs/programs.js';

const LIMIT = 300;
const REQUESTS = 2 * LIMIT;
const CONNECTIONS = 40;

const PGBOUNCER = findProgram('pgbouncer', 'pgbouncer');
/** Skipped if there is none, but not in CI. */
const describeOnPgBouncer = PGBOUNCER === undefined ? describe.skip : describe;
/** The documented settings of pooling. */
const DOCUMENTED = documented('operating.md', 'PgBouncer');

const inMode = (poolMode: string) => DOCUMENTED.replace(/^pool_mode = .*$/m, `pool_mode = ${poolMode}`);

let database: TestDatabase;
const poolers: Program[] = [];
const stores: TestApplication[] = [];

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await endAll();
  await database.drop();
});

async function endAll(): Promise<void> {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await Promise.all(poolers.splice(0).map((pooler) => pooler.stop()));
}

/**
 * Starts a PgBouncer that ends with the test, not as root, which it rejects. Returns the address of the
 * database behind it.
 */
async function startPooler(pooling = DOCUMENTED): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const listenPort = await freePort();
  const settings = `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
${pooling}`;
  const command = asNobody([PGBOUNCER ?? '', 'pgbouncer.ini']);
  const isReady = (output: string) => output.includes('process up');
  poolers.push(await startProgram(command, { 'pgbouncer.ini': settings }, isReady));
  const url = new URL(database.url);
  url.host = `127.0.0.1:${listenPort}`;
  return url.href;
}

/** Starts a service that ends with the test. */
async function startStore(environment: Partial<Environment>, clock?: TestClock): Promise<TestApplication> {
  const store = await startApplication({ database, environment, ...(clock && { clock }) });
  stores.push(store);
  return store;
}

const creation = (key: string, attempt: number) => ({
  method: 'POST',
  key,
  headers: { 'Idempotency-Key': `attempt-${attempt}` },
  body: { name: 'Tom', categoryId: 3 },
});

describeOnPgBouncer('a connection through PgBouncer, which loses notifications', () => {
  it.each(['transaction', 'session', 'statement'])(
    'is detected (pool_mode = %s): every key is looked up, and the log has one warning',
    async (poolMode) => {
      const url = await startPooler(inMode(poolMode));
      const warnings = jest.spyOn(Logger.prototype, 'warn');
      const store = await startStore({ DIRECT_DATABASE_URL: url });
      const watch = store.app.get(ApiKeyChangeListener);
      const { id, key } = await store.issue({ plan: 'business' });
      await until(() => warnings.mock.calls.length > 0);
      // Long enough for another attempt.
      await pause(1500);
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

  it('is harmless if DIRECT_DATABASE_URL bypasses it: an idempotent creation happens once', async () => {
    const url = await startPooler();
    const store = await startStore({ DATABASE_URL: url, DIRECT_DATABASE_URL: database.url });
    const watch = store.app.get(ApiKeyChangeListener);
    await until(() => watch.isCurrent);
    const { id, key } = await store.issue({ plan: 'business' });
    // Enough concurrent queries that the pooler lends several connections in turn, none of which has the
    // statements of another.
    for (let round = 1; round <= 20; round += 1) {
      const responses = await Promise.all([
        ...['?limit=1', '?limit=2&status=sold', '/0', ''].map((target) =>
          send(`${store.url}/v1/pets${target}`, { key }),
        ),
        // The same creation twice.
        ...[1, 2].map(() => send(`${store.url}/v1/pets`, creation(key, round))),
      ]);
      expect(responses.slice(0, 4).map(({ status }) => status)).toEqual([200, 200, 404, 200]);
      expect([201, 409]).toEqual(expect.arrayContaining(responses.slice(4).map(({ status }) => status)));
      expect(responses.filter(({ headers }) => headers.has('x-ratelimit-degraded'))).toStrictEqual([]);
    }
    expect(await database.query('SELECT count(*)::int FROM pets')).toEqual([{ count: 20 }]);
    // No setting is left behind on a connection that is lent to the next client.
    expect(await send(`${store.url}/readyz`)).toMatchObject({ status: 200 });
    const current = "SELECT pg_sleep(0.2), current_setting('statement_timeout') AS timeout";
    const timeouts = await Promise.all(Array.from({ length: 20 }, () => query(url, current)));
    expect(new Set(timeouts.map(([row]) => row?.['timeout']))).toEqual(new Set(['0']));
    const { generation } = watch;
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    await until(() => watch.generation > generation);
    expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(401);
  });
});

/** Sets a default of every later session that sets none. */
const setDefault = (setting: string) => database.query(`ALTER DATABASE ${databaseName()} SET ${setting}`);
const databaseName = () => new URL(database.url).pathname.slice(1);

async function startReplicas(environment: Partial<Environment> = {}): Promise<void> {
  const clock = new TestClock();
  await startStore(environment, clock);
  await startStore(environment, clock);
}

/** Sends twice the limit to both replicas, and counts the responses by status. */
async function exceedLimit(): Promise<Record<string, number>> {
  const [first] = stores as [TestApplication];
  const { key } = await first.issue({ plan: 'pro' });
  const counts: Record<string, number> = {};
  let sent = 0;
  const sendInTurn = async () => {
    while (sent < REQUESTS) {
      sent += 1;
      const { status, headers } = await send(`${stores[sent % 2]?.url}/v1/pets?limit=1`, { key });
      const kind = headers.get('x-ratelimit-degraded') === null ? `${status}` : `${status} degraded`;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn));
  return counts;
}

const EXACT = { 200: LIMIT, 429: REQUESTS - LIMIT };

const readiness = () => Promise.all(stores.map(async ({ url }) => (await send(`${url}/readyz`)).status));

describe('two replicas on a database whose default isolation is repeatable read', () => {
  it('stay exact over direct connections, and are ready', async () => {
    await setDefault("default_transaction_isolation = 'repeatable read'");
    await startReplicas();
    expect(await exceedLimit()).toEqual(EXACT);
    expect(await readiness()).toEqual([200, 200]);
  });
});

describeOnPgBouncer('a service behind PgBouncer', () => {
  it.each([
    ['default_transaction_isolation', 'repeatable read', 'read committed'],
    ['timezone', 'America/New_York', 'UTC'],
    ['datestyle', 'German, DMY', 'ISO, MDY'],
    ['array_nulls', 'off', 'on'],
    ['extra_float_digits', '-2', '1'],
    ['session_replication_role', 'replica', 'origin'],
    ['synchronous_commit', 'off', 'on'],
  ])('is not ready until its role is set, and logs the statement to run: %s', async (name, wrong, right) => {
    const [what, repaired] = [`${name} is ${wrong} by default, and must be ${right}`, `${name} = '${right}'`];
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await setDefault(`${name} = '${wrong}'`);
    await startReplicas({ DATABASE_URL: await startPooler() });
    expect(await readiness()).toEqual([503, 503]);
    const repair = `ALTER ROLE postgres IN DATABASE ${databaseName()} SET ${repaired}`;
    const line = expect.stringMatching(`^Not ready: ${what}: run "${repair}"`);
    // A busy machine may log a connection that took too long before.
    const logged = () => errors.mock.calls.filter(([text]) => String(text).includes(name));
    await eventually(async () => expect(logged()).toEqual([[line], [line]]));

    await database.query(repair);
    // The service and the pooler connect anew.
    await endAll();
    await startReplicas({ DATABASE_URL: await startPooler() });
    expect(await readiness()).toEqual([200, 200]);
    expect(await exceedLimit()).toEqual(EXACT);
  });

  it('rejects a key once it has expired, though the session has another form of dates', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await setDefault("datestyle = 'German'");
    const clock = new TestClock();
    const store = await startStore({ DATABASE_URL: await startPooler() }, clock);
    const expiresAt = new Date(clock.now() + HOUR_MS);
    const [expiring, lasting] = [await issueKey(database, { expiresAt }), await issueKey(database)];
    const fetchStatus = async ({ key }: { key: string }) =>
      (await send(`${store.url}/v1/pets`, { key })).status;
    expect(await Promise.all([expiring, lasting].map(fetchStatus))).toEqual([200, 200]);
    clock.travel(2 * HOUR_MS);
    expect(await fetchStatus(expiring)).toBe(401);
  });

  it('counts a ban until its end, though the session has another time zone and form of dates', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await setDefault("timezone = 'America/New_York'");
    await setDefault("datestyle = 'German, DMY'");
    const clock = new TestClock();
    const store = await startStore({ DATABASE_URL: await startPooler() }, clock);
    const issued = await issueKey(database);
    const end = new Date(clock.now() + HOUR_MS);
    await ban(database, issued, end);
    const request = (path: string) => send(store.url + path, issued);
    const { status, json, headers } = await request('/v1/pets');
    expect([status, json.code]).toEqual([429, 'api_key_banned']);
    expect(headers.get('x-ratelimit-reset')).toBe(String(Math.ceil(end.getTime() / 1000)));
    expect((await request('/v1/rate-limit')).json.bannedUntil).toBe(end.toISOString());
    clock.travel(HOUR_MS);
    expect((await request('/v1/pets')).status).toBe(200);
  });

  it('is not ready until its role has the schema of DATABASE_URL as its search_path', async () => {
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const inShop = (address: string) => {
      const url = new URL(address);
      url.searchParams.set('schema', 'shop');
      return url.href;
    };
    await applyPendingMigrations(inShop(database.url));
    await database.query('INSERT INTO shop.plans TABLE public.plans');
    await startStore({ DATABASE_URL: inShop(await startPooler()) });
    expect(await readiness()).toEqual([503]);
    const repair = `ALTER ROLE postgres IN DATABASE ${databaseName()} SET search_path = "shop"`;
    expect(errors.mock.calls[0]?.[0]).toContain(
      // The databases of tests have a default of their own.
      `search_path is public, pg_catalog by default, and must be "shop": run "${repair}"`,
    );
    await database.query(repair);
    await endAll();
    await startStore({ DATABASE_URL: inShop(await startPooler()) });
    expect(await readiness()).toEqual([200]);
  });
});
