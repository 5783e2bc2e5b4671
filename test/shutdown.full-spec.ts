import { once } from 'node:events';
import { connect } from 'node:net';
import { createDatabase, type TestDatabase } from './support/database.js';
import { eventually } from './support/eventually.js';
import { freePort } from './support/free-port.js';
import { hold } from './support/holding.js';
import { send } from './support/http.js';
import { issueKey } from './support/keys.js';
import { expectLocksWaitedFor } from './support/locks.js';
import { startOwnPostgres } from './support/own-postgres.js';
import { run, type ServiceProcess } from './support/service-process.js';
import { ServiceProcesses } from './support/service-processes.js';

const WIDE = { plan: 'enterprise', perMinute: 1_000_000, perDay: 10_000_000 } as const;
/** For a process to be gone once it has decided to be. */
const EXIT_MS = 500;

let database: TestDatabase;
const services = new ServiceProcesses(() => ({ DATABASE_URL: database.url }));

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await services.end('SIGKILL');
  await database.drop();
});

/** Asks the process to stop, and tells how it ended and how long that took. */
async function stop(service: ServiceProcess, signal: NodeJS.Signals = 'SIGTERM') {
  const askedMs = performance.now();
  const ended = await service.kill(signal);
  return { ...ended, ms: performance.now() - askedMs };
}

describe('a service that is asked to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '(%s) is not ready at once, serves for SHUTDOWN_DELAY, and ends with 0',
    async (signal) => {
      const { key } = await issueKey(database, WIDE);
      const service = services.start({ SHUTDOWN_DELAY: '2s' });
      const url = await service.listening();
      await eventually(async () => expect((await send(`${url}/readyz`)).status).toBe(200));
      const stopping = stop(service, signal);
      await service.says(/Animal Store ends/);
      expect((await send(`${url}/readyz`)).status).toBe(503);
      const { status, headers } = await send(`${url}/v1/pets`, { key });
      expect([status, headers.get('connection')]).toEqual([200, 'close']);
      const { code, ms, stdout } = await stopping;
      expect(code).toBe(0);
      expect(ms).toBeGreaterThan(2_000);
      expect(ms).toBeLessThan(2_000 + 5 * EXIT_MS);
      expect(stdout).toContain(`Animal Store ends (${signal})`);
      expect(
        await database.query('SELECT sum(succeeded)::int AS served FROM usage WHERE period = $$minute$$'),
      ).toEqual([{ served: 1 }]);
    },
  );

  it('waits five seconds in production, and not at all else, unless it is told to', async () => {
    const [production, development] = [services.start(), services.start({ NODE_ENV: '' })];
    await Promise.all([production.listening(), development.listening()]);
    const [served, gone] = await Promise.all([stop(production), stop(development)]);
    expect([served.code, gone.code]).toEqual([0, 0]);
    expect(served.ms).toBeGreaterThan(5_000);
    expect(gone.ms).toBeLessThan(5 * EXIT_MS);
  });

  it('cuts off in time what takes too long, says so, and ends with 1', async () => {
    const { key } = await issueKey(database, WIDE);
    const service = services.start({ SHUTDOWN_DELAY: '0', SHUTDOWN_GRACE: '2s' });
    const url = await service.listening();
    const lock = await hold(database.url, 'LOCK TABLE pets');
    const answers = Promise.allSettled([send(`${url}/v1/pets`, { key })]);
    await eventually(() => expectLocksWaitedFor(database, 1));
    const { code, ms, stdout } = await stop(service);
    expect(code).toBe(1);
    expect(ms).toBeLessThan(2_000 + EXIT_MS);
    expect(stdout).toContain('Requests that were not answered in time for the shutdown, and are cut off: 1');
    expect(await answers).toMatchObject([{ status: 'rejected', reason: { message: 'fetch failed' } }]);
    await lock.letGo();
  });

  it('ends at once when it is asked again, with 1', async () => {
    const service = services.start({ SHUTDOWN_DELAY: '5s' });
    await service.listening();
    const ended = service.kill('SIGTERM');
    await service.says(/Animal Store ends/);
    // Sooner it might be the same press of Ctrl-C.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const { code, ms, stdout } = await stop(service, 'SIGINT');
    expect(code).toBe(1);
    expect(ms).toBeLessThan(EXIT_MS);
    expect(stdout).toContain('Cut off: asked again (SIGINT), the service ends at once');
    await ended;
  });

  it('takes a press of Ctrl-C that comes twice, as npm passes it on, for one', async () => {
    const service = services.start({ SHUTDOWN_DELAY: '1s' });
    await service.listening();
    const ended = stop(service, 'SIGINT');
    await service.says(/Animal Store ends/);
    await service.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it('ends with 0 when it is asked to during its start', async () => {
    for (const afterMs of [200, 500, 800, 1100]) {
      const port = await freePort();
      const service = services.start({ PORT: String(port), NODE_ENV: '' });
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      const { code, signal } = await stop(service);
      // Before anything is started, the signal ends the process by itself.
      expect([code, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGTERM']);
      const socket = connect(port, '127.0.0.1');
      const [error] = await once(socket, 'error');
      expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    }
  });
});

describe('a service whose database hangs', () => {
  it('is gone within SHUTDOWN_GRACE, whatever is under way', async () => {
    const postgres = await startOwnPostgres();
    try {
      const settings = { DATABASE_URL: postgres.url, APP_ENV: 'staging' };
      const service = services.start({ ...settings, NODE_ENV: '', SHUTDOWN_GRACE: '4s' });
      const url = await service.listening();
      await run('cli/seed.js', settings);
      const { key } = await issueKey({ ...database, url: postgres.url }, WIDE);
      expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
      await postgres.freeze();
      const answers = Promise.allSettled(
        [1, 2, 3].map(() =>
          send(`${url}/v1/pets`, { key, method: 'POST', body: { name: 'x', categoryId: 1 } }),
        ),
      );
      const { code, ms, stdout } = await stop(service);
      expect(code).toBe(1);
      expect(ms).toBeLessThan(4_000 + EXIT_MS);
      expect(stdout).toMatch(/cut off|Cut off/);
      await answers;
    } finally {
      await postgres.stop();
    }
  });
});
