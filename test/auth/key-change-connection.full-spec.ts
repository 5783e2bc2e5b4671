import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import type { Environment } from '../../src/process/settings/environment.js';
import { startApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import type { HttpResponse } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { CountingService } from './counting-service.js';
import { staleness } from './staleness.js';
import { until } from '../support/eventually.js';

const MAX_STALE_MS = 1000;
const WIDE = { plan: 'wide' };
const LOST = 'Key changes are not received, so every key is looked up';
const FOUND = 'Key changes are received again';

let database: TestDatabase;
let services: CountingService[];
let warnings: jest.SpyInstance;

beforeAll(async () => {
  database = await createDatabase();
  await database.query("INSERT INTO plans VALUES ('wide', 1000000, 1000000)");
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

async function start(environment: Partial<Environment> = {}): Promise<CountingService> {
  const service = new CountingService(await startApplication({ database, environment }));
  services.push(service);
  return service;
}

const warned = (text: string) =>
  warnings.mock.calls.map(([message]) => String(message)).filter((message) => message.startsWith(text));

const revoke = ({ id }: IssuedKey) =>
  database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);

const isServed = ({ status }: HttpResponse) => status === 200;

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
    const socket = service.store.app.get(ApiKeyChangeListener)['socket'];
    proxy.hang();
    await revoke(issued);
    const { staleMs, response } = await staleness(service.store.url, issued.key, isServed);
    expect(staleMs).toBeLessThan(MAX_STALE_MS);
    expect(response.status).toBe(401);
    await service.untilUncached(other.key);
    await until(() => warned(LOST).length === 1);
    expect(socket).toMatchObject({ destroyed: true });
    await proxy.comeBack();
    await service.untilCached(other.key);
    expect(warned(LOST)).toHaveLength(1);
    expect(warned(FOUND)).toHaveLength(1);
  });

  it('makes the service look up each key while it is cut, and logs that once', async () => {
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

  it('delays neither start nor end of the service if it fails to open; every key is looked up', async () => {
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

  it('ends with the service', async () => {
    const service = await start();
    const { key } = await service.store.issue(WIDE);
    await service.untilCached(key);
    services = [];
    await service.store.close();
    await until(async () => {
      const connections = await database.query(
        "SELECT FROM pg_stat_activity WHERE application_name LIKE 'animal-store%' AND datname = " +
          'current_database()',
      );
      return connections.length === 0;
    });
    expect(warnings).not.toHaveBeenCalled();
  });
});
