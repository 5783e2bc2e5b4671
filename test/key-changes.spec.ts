import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { ApiKeyChangeListener } from '../src/auth/api-key-change-listener.js';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import type { Environment } from '../src/settings/environment.js';
import { startApplication, type TestApplication } from './support/application.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.js';
import { type HttpResponse, send } from './support/http.js';
import { countKeyLookUps } from './support/key-look-ups.js';
import { staleness } from './support/staleness.js';
import { until } from './support/eventually.js';

const MAX_STALE_MS = 1000;
const WIDE = { plan: 'wide' };
const LOST = 'Changes of keys are not heard, so every key is looked up';
const FOUND = 'Changes of keys are heard again';

/** A service, with a count of its queries for keys. */
class Service {
  private readonly count: () => number;

  constructor(readonly store: TestApplication) {
    this.count = countKeyLookUps(store);
  }

  get lookUps(): number {
    return this.count();
  }

  listPets(key: string): Promise<HttpResponse> {
    return send(`${this.store.url}/v1/pets`, { key });
  }

  /** Sends requests until one needs no look-up. */
  async untilCached(key: string): Promise<void> {
    await until(async () => {
      const before = this.lookUps;
      await this.listPets(key);
      return this.lookUps === before;
    });
  }

  /** Sends requests until each needs a look-up. */
  async untilUncached(key: string): Promise<void> {
    await until(async () => {
      const before = this.lookUps;
      await this.listPets(key);
      await this.listPets(key);
      return this.lookUps === before + 2;
    });
  }
}

let database: TestDatabase;
let services: Service[];
let warnings: jest.SpyInstance;

beforeAll(async () => {
  database = await createDatabase();
  await database.query("INSERT INTO plans VALUES ('wide', 1000000, 1000000), ('wider', 2000000, 2000000)");
});
afterAll(() => database.drop());

beforeEach(() => {
  services = [];
  warnings = jest.spyOn(Logger.prototype, 'warn');
});
afterEach(async () => {
  await Promise.all(services.map(({ store }) => store.close()));
  jest.restoreAllMocks();
});

async function start(environment: Partial<Environment> = {}): Promise<Service> {
  const service = new Service(await startApplication({ database, environment }));
  services.push(service);
  return service;
}

const warned = (text: string) =>
  warnings.mock.calls.map(([message]) => String(message)).filter((message) => message.startsWith(text));

const revoke = ({ id }: IssuedKey) =>
  database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);

const isServed = ({ status }: HttpResponse) => status === 200;

describe('a change by SQL of a cached key', () => {
  const quotaOf = (id: string) => `(SELECT quota_id FROM api_keys WHERE id = '${id}')`;
  const summarize = ({ status, headers }: HttpResponse) =>
    [status, headers.get('x-ratelimit-limit'), headers.get('x-api-key-expires')].join();

  it.each<[string, (id: string) => string, string]>([
    ['revocation', (id) => `UPDATE api_keys SET revoked_at = now() WHERE id = '${id}'`, '401,300,'],
    [
      'expiry',
      (id) => `UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = '${id}'`,
      '401,300,',
    ],
    [
      'a future expiry',
      (id) => `UPDATE api_keys SET expires_at = '2090-01-01T00:00:00.500Z' WHERE id = '${id}'`,
      '200,1000000,Sun, 01 Jan 2090 00:00:00 GMT',
    ],
    ['deletion', (id) => `DELETE FROM api_keys WHERE id = '${id}'`, '401,300,'],
    ['deletion of all keys', () => 'TRUNCATE api_keys', '401,300,'],
    ['another plan', (id) => `UPDATE quotas SET plan = 'wider' WHERE id = ${quotaOf(id)}`, '200,2000000,'],
    [
      'own limits',
      (id) => `UPDATE quotas SET per_minute = 3000000, per_day = 3000000 WHERE id = ${quotaOf(id)}`,
      '200,3000000,',
    ],
    [
      'other limits of its plan',
      () => "UPDATE plans SET per_minute = 4000000, per_day = 4000000 WHERE name = 'wide'",
      '200,4000000,',
    ],
  ])('takes effect within a second: %s', async (_what, statement, expected) => {
    const service = await start();
    const issued = await service.store.issue(WIDE);
    await service.untilCached(issued.key);
    const before = summarize(await service.listPets(issued.key));
    expect(before).toBe('200,1000000,');
    await database.query(statement(issued.id));
    const { staleMs, response } = await staleness(
      service.store.url,
      issued.key,
      (next) => summarize(next) === before,
    );
    expect(staleMs).toBeLessThan(MAX_STALE_MS);
    expect(summarize(response)).toBe(expected);
  });

  afterEach(() =>
    database.query("UPDATE plans SET per_minute = 1000000, per_day = 1000000 WHERE name = 'wide'"),
  );
});

describe('a cached key', () => {
  it('is looked up once for a hundred requests', async () => {
    const service = await start();
    const { key } = await service.store.issue(WIDE);
    await service.untilCached(key);
    const before = service.lookUps;
    for (let request = 0; request < 100; request += 1) {
      expect((await service.listPets(key)).status).toBe(200);
    }
    // None, unless this machine stalls for so long that a notification is late.
    expect(service.lookUps - before).toBeLessThanOrEqual(2);
  });

  it('is not one that changed while its look-up was in flight', async () => {
    const service = await start();
    const issued = await service.store.issue(WIDE);
    const listener = service.store.app.get(ApiKeyChangeListener);
    await until(() => listener.isCurrent);
    // A look-up then waits after it has taken its snapshot and before it returns.
    await database.query(`
      ALTER TABLE plans RENAME TO plans_kept;
      CREATE VIEW plans AS SELECT plans_kept.* FROM plans_kept, pg_advisory_xact_lock_shared(7) AS held;`);
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    try {
      await holder.query('SELECT pg_advisory_lock(7)');
      const late = service.listPets(issued.key);
      await until(async () => {
        const waiting = await database.query(
          "SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()",
        );
        return waiting.length === 1;
      });
      const { generation } = listener;
      await revoke(issued);
      await until(() => listener.generation > generation);
      await holder.query('SELECT pg_advisory_unlock(7)');
      // The request came before the revocation.
      expect((await late).status).toBe(200);
      expect((await service.listPets(issued.key)).status).toBe(401);
    } finally {
      await holder.end();
      await database.query('DROP VIEW plans; ALTER TABLE plans_kept RENAME TO plans');
    }
  });
});

describe('the connection that listens for changes', () => {
  let proxy: DatabaseProxy;

  beforeEach(async () => {
    proxy = await startDatabaseProxy(database.url, 'animal-store key changes');
  });
  afterEach(() => proxy.close());

  it('hides no revocation when it hangs; keys are cached again when it is back', async () => {
    const service = await start({ DIRECT_DATABASE_URL: proxy.url });
    const [issued, other] = [await service.store.issue(WIDE), await service.store.issue(WIDE)];
    await service.untilCached(issued.key);
    proxy.hang();
    await revoke(issued);
    const { staleMs, response } = await staleness(service.store.url, issued.key, isServed);
    expect(staleMs).toBeLessThan(MAX_STALE_MS);
    expect(response.status).toBe(401);
    await service.untilUncached(other.key);
    await proxy.comeBack();
    await service.untilCached(other.key);
    expect(warned(LOST)).toHaveLength(1);
    expect(warned(FOUND)).toHaveLength(1);
  });

  it('has every key looked up when it is cut, and logs that once', async () => {
    const service = await start({ DIRECT_DATABASE_URL: proxy.url });
    const issued = await service.store.issue(WIDE);
    await service.untilCached(issued.key);
    expect(warnings).not.toHaveBeenCalled();
    proxy.goAway();
    await service.untilUncached(issued.key);
    expect((await service.listPets(issued.key)).status).toBe(200);
    // Long enough for more than one attempt.
    await pause(2500);
    expect(warned(LOST)).toHaveLength(1);
    // There is no notification of this change.
    await revoke(issued);
    await proxy.comeBack();
    await until(() => warned(FOUND).length === 1);
    expect((await service.listPets(issued.key)).status).toBe(401);
    expect(warned(LOST)).toHaveLength(1);
  });

  it('is reopened when PostgreSQL ends it, and the log has the reason', async () => {
    const service = await start();
    const { key } = await service.store.issue(WIDE);
    await service.untilCached(key);
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'animal-store key changes' AND datname = current_database()`,
    );
    await until(() => warned(FOUND).length === 1);
    expect(warned(LOST)).toEqual([`${LOST}: terminating connection due to administrator command`]);
    await service.untilCached(key);
  });

  it('delays neither start nor end of the service when it cannot be opened', async () => {
    proxy.hang();
    const begin = performance.now();
    const service = await start({ DIRECT_DATABASE_URL: proxy.url });
    services = [];
    await service.store.close();
    // An attempt takes at least two seconds.
    expect(performance.now() - begin).toBeLessThan(1900);
    expect(warnings).not.toHaveBeenCalled();
  });

  it('has every key looked up when it cannot be opened', async () => {
    proxy.hang();
    const service = await start({ DIRECT_DATABASE_URL: proxy.url });
    const { key } = await service.store.issue(WIDE);
    for (const lookUps of [1, 2, 3]) {
      expect((await service.listPets(key)).status).toBe(200);
      expect(service.lookUps).toBe(lookUps);
    }
  });

  it('leaks no listeners, however often it is reopened', async () => {
    proxy.goAway();
    const listener = new ApiKeyChangeListener({ DATABASE_URL: proxy.url });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await expect(listener['listen']()).rejects.toThrow('ECONNREFUSED');
    }
    expect(getEventListeners(listener['stopping'].signal, 'abort')).toHaveLength(0);
  });

  it('ends with the service', async () => {
    const service = await start();
    const { key } = await service.store.issue(WIDE);
    await service.untilCached(key);
    services = [];
    await service.store.close();
    await until(async () => {
      const connections = await database.query(
        "SELECT FROM pg_stat_activity WHERE application_name LIKE 'animal-store%' AND datname = current_database()",
      );
      return connections.length === 0;
    });
    expect(warnings).not.toHaveBeenCalled();
  });
});
