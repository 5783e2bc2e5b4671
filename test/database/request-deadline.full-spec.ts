import { setTimeout as pause } from 'node:timers/promises';
import { type HttpResponse, type Init, send } from '../support/http/http.js';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { hold } from '../support/database/holding.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { eventually } from '../support/eventually.js';

/** The promise, with tolerance for a busy machine. */
const DEADLINE_MS = 6000 + 500;

describe('the deadline of a request', () => {
  let database: TestDatabase;
  let proxy: Awaited<ReturnType<typeof startDatabaseProxy>>;
  let service: TestApplication;
  let admin: string;
  let adminId: string;
  let key: string;

  beforeAll(async () => {
    database = await createDatabase();
    proxy = await startDatabaseProxy(database.url);
    service = await startApplication({
      database: { ...database, url: proxy.url },
      // Counts are not delayed: without them, a request would not come far.
      environment: { DIRECT_DATABASE_URL: database.url },
    });
    ({ key: admin, id: adminId } = await service.issue({ ...UNLIMITED, role: 'admin' }));
    ({ key } = await service.issue(UNLIMITED));
  });
  afterAll(async () => {
    await service.close();
    proxy.close();
    await database.drop();
  });

  const timed = async (path: string, init: Init): Promise<{ response: HttpResponse; ms: number }> => {
    const startMs = performance.now();
    const response = await send(`${service.url}${path}`, init);
    return { response, ms: performance.now() - startMs };
  };

  /** Locks tables for so long. */
  async function lock(tables: string, ms: number): Promise<{ ended: Promise<void> }> {
    const holder = await hold(database.url, `LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
    return { ended: pause(ms).then(() => holder.letGo()) };
  }

  /** Returns the targets of all GET operations of a document, with an identifier that exists. */
  async function readsOf(document: string): Promise<string[]> {
    const { json } = await send(`${service.url}${document}`);
    return Object.entries<Record<string, unknown>>(json.paths)
      .filter(([, methods]) => 'get' in methods)
      .map(([path]) => path.replaceAll(/\{\w+\}/g, adminId));
  }

  const unavailable = { code: 'service_unavailable', message: expect.any(String), status: 503 };

  it.each([
    ['GET /v1/usage', () => key],
    ['GET /admin/keys', () => admin],
    ['GET /admin/usage', () => admin],
  ])('ends %s within six seconds while its statements wait one after another', async (operation, caller) => {
    const path = operation.slice('GET '.length);
    // The key is cached, and there is usage to aggregate.
    expect((await timed(path, { key: caller() })).response.status).toBe(200);
    const locks: Awaited<ReturnType<typeof lock>>[] = [];
    for (const [table, ms] of [
      ['usage_batches', 3200],
      ['api_keys', 6400],
      ['usage', 6400],
    ] as const) {
      locks.push(await lock(table, ms));
    }
    const { response, ms } = await timed(path, { key: caller() });
    expect(ms).toBeLessThan(DEADLINE_MS);
    expect([response.status, response.json]).toEqual([503, unavailable]);
    expect(response.headers.get('retry-after')).toBe('1');
    await Promise.all(locks.map(({ ended }) => ended));
    expect((await timed(path, { key: caller() })).response.status).toBe(200);
  });

  it('ends every read within six seconds while all tables are locked', async () => {
    const operations = await Promise.all(['/openapi.json', '/admin-openapi.json'].map(readsOf));
    const paths = operations.flat();
    expect(paths.length).toBeGreaterThan(20);
    await Promise.all(paths.map((path) => timed(path, { key: admin })));
    const tables = await database.query<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class
       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
         AND relname NOT IN ('rate_limit_counters', 'usage_batches')`,
    );
    const locks = await Promise.all([
      lock('usage_batches', 1500),
      lock(tables.map(({ name }) => name).join(', '), 8000),
    ]);
    const slow = await Promise.all(
      paths.map(async (path) => ({ path, ms: (await timed(path, { key: admin })).ms })),
    );
    expect(slow.filter(({ ms }) => ms > DEADLINE_MS)).toEqual([]);
    // The locks were waited for.
    expect(slow.filter(({ ms }) => ms > 1000).length).toBeGreaterThan(10);
    await Promise.all(locks.map(({ ended }) => ended));
  });

  it('creates nothing for a request whose key was looked up too slowly', async () => {
    const { key: unseen } = await service.issue(UNLIMITED);
    const holder = await hold(database.url, 'LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
    const sent = timed('/v1/pets', { method: 'POST', key: unseen, body: { name: 'Late', categoryId: 1 } });
    await pause(2500);
    await holder.letGo();
    const { response, ms } = await sent;
    expect([response.status, response.json]).toEqual([503, unavailable]);
    expect(ms).toBeLessThan(DEADLINE_MS);
    expect(await database.query("SELECT FROM pets WHERE name = 'Late'")).toEqual([]);
  });

  /** Expects the change of a name to be rolled back in time, while triggers that call `slow()` are there. */
  async function expectRolledBack(sleepSeconds: number, ...triggers: string[]): Promise<void> {
    const { id } = (
      await timed('/admin/keys', { method: 'POST', key: admin, body: { name: 'old', plan: 'free' } })
    ).response.json;
    const slow = `BEGIN PERFORM pg_sleep(${sleepSeconds}); RETURN NEW; END`;
    await database.query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS '${slow}'`);
    for (const trigger of triggers) {
      await database.query(`CREATE ${trigger} FOR EACH ROW EXECUTE FUNCTION slow()`);
    }
    const { response, ms } = await timed(`/admin/keys/${id}`, {
      method: 'PATCH',
      key: admin,
      body: { name: 'new' },
    });
    await database.query('DROP FUNCTION slow CASCADE');
    expect([response.status, response.json]).toEqual([503, unavailable]);
    expect(ms).toBeLessThan(DEADLINE_MS);
    await eventually(async () => {
      const rows = await database.query('SELECT name FROM api_keys WHERE id = $1 FOR UPDATE', [id]);
      expect(rows).toEqual([{ name: 'old' }]);
    });
  }

  it('rolls a transaction back whose statements together take too long', () =>
    // Each statement waits for less than its own time.
    expectRolledBack(2.2, 'TRIGGER slow BEFORE UPDATE ON api_keys'));

  it('rolls a transaction back whose commit would begin too late', () =>
    expectRolledBack(
      3.2,
      'TRIGGER slow BEFORE INSERT ON audit_events',
      'CONSTRAINT TRIGGER slow_commit AFTER INSERT ON audit_events DEFERRABLE INITIALLY DEFERRED',
    ));
});
