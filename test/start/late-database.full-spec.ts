import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { startDatabaseProxy } from '../support/database/database-proxy.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

let database: TestDatabase;
const services = new ServiceProcesses(() => ({ DATABASE_URL: database.url, SHUTDOWN_DELAY: '0' }));

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await services.end('SIGKILL');
  await database.drop();
});

describe('a service that starts before its database', () => {
  it.each(['production', 'development'])(
    'in %s listens, logs once why it is not ready, and is ready within two seconds of its database',
    async (NODE_ENV) => {
      const { key } = await issueKey(database, { plan: 'pro' });
      const proxy = await startDatabaseProxy(database.url);
      proxy.goAway();
      try {
        const service = services.start({ NODE_ENV, DATABASE_URL: proxy.url });
        const url = await service.listening();
        await service.waitForOutput(
          /Not ready: the database cannot be used \(check DATABASE_URL\): connect ECONNREFUSED/,
        );
        expect((await send(`${url}/livez`)).status).toBe(200);
        expect((await send(`${url}/readyz`)).status).toBe(503);
        const { status, json, headers } = await send(`${url}/v1/pets`, { key });
        expect([status, json.code]).toEqual([503, 'service_unavailable']);
        expect(headers.get('x-ratelimit-limit')).toBe('300');
        await new Promise((resolve) => setTimeout(resolve, 2_500));
        expect(service.stdout.match(/Not ready/g)).toHaveLength(1);
        await proxy.comeBack();
        await eventually(async () => {
          expect((await send(`${url}/readyz`)).status).toBe(200);
          expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
        }, 2_000);
        await service.waitForOutput(/"msg":"Ready"/);
        expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
      } finally {
        proxy.close();
      }
    },
  );

  it('applies the migrations in development as soon as the database is there', async () => {
    const empty = await createDatabase('template0');
    const proxy = await startDatabaseProxy(empty.url);
    proxy.goAway();
    try {
      const url = await services.start({ NODE_ENV: '', DATABASE_URL: proxy.url }).listening();
      await proxy.comeBack();
      await eventually(async () => expect((await send(`${url}/readyz`)).status).toBe(200));
      const applied = await empty.query(
        'SELECT migration_name FROM _prisma_migrations WHERE rolled_back_at IS NULL',
      );
      expect(applied).toHaveLength(OWN_MIGRATIONS.length);
    } finally {
      proxy.close();
      await services.end('SIGKILL');
      await empty.drop();
    }
  });

  it('listens within seconds in development, though its database hangs', async () => {
    const proxy = await startDatabaseProxy(database.url);
    proxy.hang();
    try {
      const service = services.start({ NODE_ENV: '', DATABASE_URL: proxy.url });
      expect((await send(`${await service.listening()}/livez`)).status).toBe(200);
      expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
    } finally {
      proxy.close();
    }
  });

  it.each<[string, (url: URL) => string, RegExp]>([
    ['a wrong password', (url: URL) => (url.password = 'wrong'), /password authentication failed/],
    ['an unknown user', (url: URL) => (url.username = 'nobody'), /authentication failed|does not exist/],
    [
      'an unknown database',
      (url: URL) => (url.pathname = '/nothing'),
      /database \\"nothing\\" does not exist/,
    ],
    ['an unknown host', (url: URL) => (url.hostname = 'nowhere.invalid'), /ENOTFOUND|EAI_AGAIN/],
  ])('waits, and logs the reason immediately: %s', async (_name, breakUrl, reason) => {
    const url = new URL(database.url);
    breakUrl(url);
    const check = async (NODE_ENV: string) => {
      const service = services.start({ NODE_ENV, DATABASE_URL: url.href });
      const [line] = await service.waitForOutput(
        /.*Not ready: the database cannot be used \(check DATABASE_URL\): .*/,
      );
      expect(line).toMatch(reason);
      expect(line).not.toContain('wrong@');
      expect((await send(`${await service.listening()}/readyz`)).status).toBe(503);
      expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
    };
    await Promise.all(['production', 'development'].map(check));
  });
});
