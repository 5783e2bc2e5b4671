import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Connections } from '../../src/http/connections/connections.js';
import { startApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import { eventually, until } from '../support/eventually.js';
import {
  expectError,
  expectHardened,
  expectNoRateLimitHeaders,
  expectRateLimitHeaders,
  quotingId,
} from '../support/http/expectations.js';
import getPort from 'get-port';
import { hold } from '../support/database/holding.js';
import { send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { dial, head, parseResponse, toHttpResponse } from '../support/http/raw-http.js';
import type { ServiceProcess } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';
import { aggregateUsage } from '../support/keys/usage.js';

/**
 * The time that a process takes to exit: it ends with 1 instead when its own clock has passed SHUTDOWN_GRACE.
 */
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

/** Sends the signal, and returns how the process ended and how long that took. */
async function stop(service: ServiceProcess, signal: NodeJS.Signals = 'SIGTERM') {
  const startMs = performance.now();
  const ended = await service.kill(signal);
  return { ...ended, ms: performance.now() - startMs };
}

describe('a service that receives a signal', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'is no longer ready after %s, serves for SHUTDOWN_DELAY, and exits with 0',
    async (signal) => {
      const { key } = await issueKey(database, UNLIMITED);
      const service = services.start({ SHUTDOWN_DELAY: '1s' });
      const url = await service.listening();
      await eventually(async () => expect((await send(`${url}/readyz`)).status).toBe(200));
      const stopping = stop(service, signal);
      await service.waitForOutput(/Animal Store is shutting down/);
      expect((await send(`${url}/readyz`)).status).toBe(503);
      const { status, headers } = await send(`${url}/v1/pets`, { key });
      expect([status, headers.get('connection')]).toEqual([200, 'close']);
      const { code, ms, stdout } = await stopping;
      expect(code).toBe(0);
      expect(ms).toBeGreaterThan(1_000);
      expect(ms).toBeLessThan(1_000 + 5 * EXIT_MS);
      expect(stdout).toContain(`Animal Store is shutting down (${signal})`);
      await aggregateUsage(database.url);
      expect(
        await database.query('SELECT sum(succeeded)::int AS served FROM usage WHERE period = $$minute$$'),
      ).toEqual([{ served: 1 }]);
    },
  );

  it('exits immediately with 1 on a second signal, but counts a Ctrl-C that npm repeats once', async () => {
    const service = services.start({ SHUTDOWN_DELAY: '5s' });
    await service.listening();
    void service.kill('SIGINT');
    await service.waitForOutput(/Animal Store is shutting down/);
    void service.kill('SIGINT');
    // Earlier it could be the same press of Ctrl-C.
    await pause(1000);
    const { code, ms, stdout } = await stop(service);
    expect(code).toBe(1);
    expect(ms).toBeLessThan(EXIT_MS);
    expect(stdout).toContain('Forced exit: second signal (SIGTERM)');
  });

  it.each([200, 500, 800, 1100])('exits with 0 during its start, after %i ms', async (afterMs) => {
    const port = await getPort({ host: '127.0.0.1' });
    const service = services.start({ PORT: String(port), NODE_ENV: '' });
    await pause(afterMs);
    const { code, signal } = await stop(service);
    // Before anything is started, the signal itself ends the process.
    expect([code, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGTERM']);
    const [error] = await once(connect(port, '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('a service that shuts down, after seven tenths of SHUTDOWN_GRACE', () => {
  const GRACE_MS = 2_000;
  const SETTINGS = { SHUTDOWN_GRACE: '2s' };
  let service: ServiceProcess;
  let url: string;
  let key: string;

  beforeEach(async () => {
    service = services.start(SETTINGS);
    url = await service.ready();
    ({ key } = await issueKey(database, { plan: 'free' }));
    // From now on the service has the limits of the key in memory.
    expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
  });

  const authorization = () => `Authorization: Bearer ${key}`;
  const list = () => head('GET /v1/pets', authorization());
  const NAMED = '{"name":"Rex","categoryId":1}';
  const add = () =>
    head(
      'POST /v1/pets',
      authorization(),
      'Content-Type: application/json',
      `Content-Length: ${NAMED.length}`,
    );

  /** Sends bytes on a new connection; `received` is all that arrives until the server closes it. */
  function open(bytes: string) {
    const socket = dial(url);
    socket.write(bytes);
    return { socket, received: text(socket) };
  }

  const used = async () => {
    const [row] = await database.query<{ day_used: number }>(
      "SELECT day_used FROM rate_limit_counters WHERE bucket_key LIKE 'quota:%'",
    );
    return row?.day_used;
  };

  function expectTooLate(received: string, isProtected: boolean): void {
    const response = toHttpResponse(parseResponse(received));
    const message = 'This server is shutting down. Try again shortly.';
    expectError(response, 503, 'service_unavailable', isProtected ? quotingId(message, response) : message);
    expectHardened(response);
    const [retryAfter, connection] = ['retry-after', 'connection'].map((name) => response.headers.get(name));
    expect([retryAfter, connection]).toEqual(['1', 'close']);
    (isProtected ? expectRateLimitHeaders : expectNoRateLimitHeaders)(response);
  }

  it('returns 503, uncounted, to a request whose body has not arrived', async () => {
    const pet = open(add() + NAMED.slice(0, 9));
    await send(`${url}/livez`);
    const { code, ms, stdout } = await stop(service);
    expectTooLate(await pet.received, true);
    expect(await pet.received).toMatch(/^x-ratelimit-remaining: 59\r$/im);
    expect(code).toBe(0);
    expect(ms).toBeGreaterThan(0.7 * GRACE_MS);
    expect(ms).toBeLessThan(GRACE_MS + EXIT_MS);
    // The database had no key when the service started.
    expect(stdout.replace(/.*"FirstKey".*/, '')).not.toMatch(/"level":"(warn|error)"/);
    expect(await used()).toBe(1);
    expect(await database.query('SELECT 1 FROM pets')).toStrictEqual([]);
  });

  it('returns 503 to a request whose headers have not arrived, on new and idle connections', async () => {
    const [unused, kept] = [open(list().slice(0, 40)), open(list())];
    await once(kept.socket, 'readable');
    kept.socket.write(list().slice(0, 40));
    await send(`${url}/livez`);
    const { code, ms } = await stop(service);
    expectTooLate(await unused.received, false);
    const [first, second] = (await kept.received).split(/(?=HTTP\/1\.1 503)/);
    expect(parseResponse(first ?? '').status).toBe(200);
    expectTooLate(second ?? '', false);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(GRACE_MS + EXIT_MS);
    expect(await used()).toBe(2);
  });

  it('returns 503 to a request on a connection that it had accepted', async () => {
    const store = await startApplication({ database, environment: { SHUTDOWN_GRACE: 1_000 } });
    url = store.url;
    const connections = store.app.get(Connections);
    const accepted = ['/v1/pets', '/v1/%zz', '/livez'].map((path) => ({ path, ...open('') }));
    await Promise.all(accepted.map(({ socket }) => once(socket, 'connect')));
    await send(`${url}/livez`);
    connections.drain();
    await until(() => connections.refusing.aborted);
    for (const { path, socket } of accepted) {
      socket.write(head(`GET ${path}`, authorization()));
    }
    for (const { path, received } of accepted) {
      expectTooLate(await received, path.startsWith('/v1'));
    }
    await store.close();
    expect(connections.cutOff).toBe(0);
    expect(await used()).toBe(1);
  });

  it('cuts off requests in flight after four fifths, without a response', async () => {
    const lock = await hold(database.url, 'LOCK TABLE pets');
    const { received } = open(list() + head('GET /livez'));
    await eventually(() => expectLocksWaitedFor(database, 1));
    const { code, ms, stdout } = await stop(service);
    expect([await received, code]).toEqual(['', 1]);
    expect(ms).toBeLessThan(GRACE_MS + EXIT_MS);
    expect(stdout).toMatch(/Requests [^"]*cut off: 1"/);
    await lock.letGo();
  });

  it('exits in time, whatever is in flight, though its database hangs', async () => {
    const proxy = await startDatabaseProxy(database.url);
    const hanging = services.start({ ...SETTINGS, NODE_ENV: '', DATABASE_URL: proxy.url });
    url = await hanging.listening();
    expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
    proxy.hang();
    const outcomes = Promise.allSettled([1, 2, 3].map(() => open(add() + NAMED).received));
    const { code, ms, stdout } = await stop(hanging);
    await outcomes;
    expect(code).toBe(1);
    expect(ms).toBeLessThan(GRACE_MS + EXIT_MS);
    expect(stdout).toMatch(/cut off|Forced exit/);
    proxy.close();
  });
});
