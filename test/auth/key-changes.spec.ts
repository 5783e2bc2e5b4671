import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import type { Environment } from '../../src/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database/database-proxy.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { countKeyLookUps } from '../support/keys/key-look-ups.js';
import { staleness } from '../support/faults/staleness.js';
import { until } from '../support/eventually.js';

const MAX_STALE_MS = 1000;
const WIDE = { plan: 'wide' };
const LOST = 'Key changes are not received, so every key is looked up';
const FOUND = 'Key changes are received again';

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

  /** Sends requests until none needs a look-up. */
  untilCached(key: string): Promise<void> {
    return this.untilLookUps(0, key);
  }

  /** Sends requests until each needs a look-up. */
  untilUncached(key: string): Promise<void> {
    return this.untilLookUps(2, key);
  }

  private untilLookUps(ofTwoRequests: number, key: string): Promise<void> {
    return until(async () => {
      const before = this.lookUps;
      await this.listPets(key);
      await this.listPets(key);
      return this.lookUps === before + ofTwoRequests;
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
  const summarize = ({ status, headers }: HttpResponse) =>
    [status, headers.get('x-ratelimit-limit'), headers.get('x-api-key-expires')].join();

  const BEFORE = '200,1000000,';
  let replicas: [Service, Service];

  beforeAll(async () => {
    replicas = [
      new Service(await startApplication({ database })),
      new Service(await startApplication({ database })),
    ];
  });
  afterEach(() =>
    database.query("UPDATE plans SET per_minute = 1000000, per_day = 1000000 WHERE name = 'wide'"),
  );
  afterAll(() => Promise.all(replicas.map(({ store }) => store.close())));

  const ofKey = (statement: string) => `${statement} WHERE id = $1`;
  const ofQuota = (change: string) =>
    `UPDATE quotas SET ${change} WHERE id = (SELECT quota_id FROM api_keys WHERE id = $1)`;
  it.each([
    ['revocation', ofKey('UPDATE api_keys SET revoked_at = now()'), '401,300,'],
    ['expiry', ofKey("UPDATE api_keys SET expires_at = now() - interval '1 s'"), '401,300,'],
    [
      'a future expiry',
      ofKey("UPDATE api_keys SET expires_at = '2090-01-01T00:00:00.500Z'"),
      '200,1000000,Sun, 01 Jan 2090 00:00:00 GMT',
    ],
    ['deletion', ofKey('DELETE FROM api_keys'), '401,300,'],
    ['deletion of all keys', 'TRUNCATE api_keys', '401,300,'],
    ['another plan', ofQuota("plan = 'wider'"), '200,2000000,'],
    ['own limits', ofQuota('per_minute = 3000000, per_day = 3000000'), '200,3000000,'],
    [
      'other limits of its plan',
      "UPDATE plans SET per_minute = 4000000, per_day = 4000000 WHERE name = 'wide'",
      '200,4000000,',
    ],
  ])('takes effect on every replica within a second: %s', async (_what, statement, expected) => {
    const issued = await replicas[0].store.issue(WIDE);
    for (const replica of replicas) {
      await replica.untilCached(issued.key);
      expect(summarize(await replica.listPets(issued.key))).toBe(BEFORE);
    }
    await database.query(statement, statement.includes('$1') ? [issued.id] : []);
    for (const { staleMs, response } of await Promise.all(
      replicas.map(({ store }) => staleness(store.url, issued.key, (next) => summarize(next) === BEFORE)),
    )) {
      expect(staleMs).toBeLessThan(MAX_STALE_MS);
      expect(summarize(response)).toBe(expected);
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
    await pause(1500);
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

  it('delays neither start nor end of the service when it cannot be opened, and every key is looked up', async () => {
    const { key } = await issueKey(database, WIDE);
    proxy.hang();
    const begin = performance.now();
    const service = await start({ DIRECT_DATABASE_URL: proxy.url });
    for (const lookUps of [1, 2]) {
      expect((await service.listPets(key)).status).toBe(200);
      expect(service.lookUps).toBe(lookUps);
    }
    services = [];
    await service.store.close();
    // An attempt takes at least two seconds.
    expect(performance.now() - begin).toBeLessThan(1900);
    expect(warnings).not.toHaveBeenCalled();
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
