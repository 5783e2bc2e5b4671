import { setTimeout as pause } from 'node:timers/promises';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

let database: TestDatabase;
let proxy: DatabaseProxy;
const services = new ServiceProcesses(() => ({ DATABASE_URL: database.url }));

beforeEach(async () => {
  database = await createDatabase();
  proxy = await startDatabaseProxy(database.url);
});
afterEach(async () => {
  await services.end('SIGKILL');
  proxy.close();
  await database.drop();
});

describe('a service that starts before its database', () => {
  it.each(['production', 'development'])(
    'in %s listens, logs once why it is not ready, and is ready within two seconds of its database',
    async (NODE_ENV) => {
      const { key } = await issueKey(database, { plan: 'pro' });
      proxy.goAway();
      const service = services.start({ NODE_ENV, DATABASE_URL: proxy.url });
      const url = await service.listening();
      await service.waitForOutput(
        /Not ready: the database cannot be used \(check DATABASE_URL\): connect ECONNREFUSED/,
      );
      const statuses = async () =>
        Promise.all(
          ['/livez', '/readyz', '/v1/pets'].map(async (path) => (await send(url + path, { key })).status),
        );
      expect(await statuses()).toEqual([200, 503, 503]);
      // Long enough for a further check.
      await pause(1_200);
      expect(service.stdout.match(/Not ready: /g)).toHaveLength(1);
      await proxy.comeBack();
      await eventually(async () => expect(await statuses()).toEqual([200, 200, 200]), 2_000);
      await service.waitForOutput(/"msg":"Ready"/);
      expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
    },
  );

  it('listens within seconds in development, though its database hangs', async () => {
    proxy.hang();
    const service = services.start({ NODE_ENV: '', DATABASE_URL: proxy.url });
    expect((await send(`${await service.listening()}/livez`)).status).toBe(200);
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
  });

  it.each([
    ['a wrong password', { password: 'wrong' }, /password authentication failed/],
    ['an unknown user', { username: 'nobody' }, /authentication failed|does not exist/],
    ['an unknown database', { pathname: '/nothing' }, /database \\"nothing\\" does not exist/],
    ['an unknown host', { hostname: 'nowhere.invalid' }, /ENOTFOUND|EAI_AGAIN/],
  ])('waits, and logs the reason immediately: %s', async (_name, wrong, reason) => {
    const url = Object.assign(new URL(database.url), wrong);
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
