import { Logger } from '@nestjs/common';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database/database-proxy.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';

/** The longest that a check may take, with a margin for a busy machine. */
const BOUND_MS = 2_000;
/** How long the result of a check is reused. */
const RESULT_LIFE_MS = 1_000;

describe('GET /readyz of a service whose database goes away', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let store: TestApplication;
  let errors: jest.SpyInstance;

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startDatabaseProxy(database.url);
    errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    store = await startApplication({ database, environment: { DATABASE_URL: proxy.url } });
    expect((await send(`${store.url}/readyz`)).status).toBe(200);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await store.close();
    proxy.close();
    await database.drop();
  });

  async function timed() {
    const startedMs = performance.now();
    const response = await send(`${store.url}/readyz`);
    return { ...response, ms: performance.now() - startedMs };
  }

  it.each(['goAway', 'hang'] as const)(
    'returns 503 within two seconds (%s), is logged once, and returns 200 within two seconds of the recovery',
    async (leave) => {
      proxy[leave]();
      await eventually(async () => {
        const { status, json, ms } = await timed();
        expect(ms).toBeLessThan(BOUND_MS);
        expect([status, json]).toEqual([
          503,
          { code: 'service_unavailable', message: 'Not ready.', status: 503 },
        ]);
      });
      const later = performance.now() + 2 * RESULT_LIFE_MS;
      while (performance.now() < later) {
        const { status, ms } = await timed();
        expect(status).toBe(503);
        expect(ms).toBeLessThan(BOUND_MS);
        expect((await send(`${store.url}/livez`)).json).toEqual({ status: 'ok' });
      }
      const logged = errors.mock.calls
        .map(([line]) => String(line))
        .filter((line) => line.startsWith('Not ready'));
      expect(new Set(logged).size).toBe(logged.length);
      expect(logged[0]).toMatch(/^Not ready: the database cannot be used \(check DATABASE_URL\): .+/);
      await proxy.comeBack();
      await eventually(async () => {
        expect((await send(`${store.url}/readyz`)).status).toBe(200);
      }, BOUND_MS);
    },
  );
});
