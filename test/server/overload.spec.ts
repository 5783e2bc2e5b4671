import { connect, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { generateApiKey } from '../../src/auth/rules/api-key.js';
import { ConcurrencyLimit } from '../../src/http/concurrency-limit.js';
import { MetricsServer } from '../../src/metrics/metrics.server.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { until } from '../support/eventually.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { hold } from '../support/load/holding.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { scrape } from '../support/programs/prometheus.js';
import { slotsTaken } from '../support/service/slots.js';

/** The number of slots of each operation. */
const MAX = 2;

let store: TestApplication;
let client: IssuedKey;
let holder: Awaited<ReturnType<typeof hold>> | null = null;

beforeAll(async () => {
  store = await startApplication({ environment: { MAX_CONCURRENT_REQUESTS: MAX, METRICS_PORT: 0 } });
});
beforeEach(async () => {
  client = await store.issue();
});
afterEach(async () => {
  await letGo();
  await until(() =>
    store.app
      .get(ConcurrencyLimit)
      .all()
      .every((load) => load.slots.length === 0),
  );
});
afterAll(() => store.close());

async function letGo(): Promise<void> {
  await holder?.letGo();
  holder = null;
}

const fetchPath = (path: string, init: Parameters<typeof send>[1] = {}) =>
  send(`${store.url}${path}`, { key: client.key, ...init });
const dial = (url = store.url) => connect(Number(new URL(url).port), '127.0.0.1');
const inFlight = (operation: string) => slotsTaken(store, operation);

/** Takes all slots of an operation with requests that wait for a locked table. */
async function fill(
  operation: string,
  path: string,
  init?: Parameters<typeof send>[1],
): Promise<Promise<HttpResponse>[]> {
  holder ??= await hold(store.database.url, 'LOCK TABLE pets, orders IN ACCESS EXCLUSIVE MODE');
  const waiting = Array.from({ length: MAX }, () => fetchPath(path, init));
  await until(() => inFlight(operation) === MAX);
  return waiting;
}

describe('a request while all slots of its operation are taken', () => {
  it('returns 503 immediately, with rate-limit headers and Retry-After, and is not counted', async () => {
    const { headers } = await fetchPath('/v1/rate-limit');
    const waiting = await fill('listPets', '/v1/pets');
    const sentMs = performance.now();
    const denied = await fetchPath('/v1/pets');
    expect(performance.now() - sentMs).toBeLessThan(500);
    expectError(denied, 503, 'service_unavailable', 'This server is overloaded. Try again shortly.');
    expectRateLimitHeaders(denied);
    expect(denied.headers.get('retry-after')).toBe('1');
    expect(denied.headers.get('cache-control')).toBe('no-store');
    await letGo();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    const after = await fetchPath('/v1/rate-limit');
    expect(after.headers.get('x-ratelimit-remaining')).toBe(
      String(Number(headers.get('x-ratelimit-remaining')) - MAX),
    );
  });

  it('is counted in the metrics', async () => {
    const operation = 'listPets';
    const read = async (name: string) => {
      const metrics = await scrape(`http://127.0.0.1:${store.app.get(MetricsServer).port}`);
      return metrics.value(`animal_store_${name}`, { operation }) ?? 0;
    };
    const shed = await read('shed_requests_total');
    const waiting = await fill(operation, '/v1/pets');
    await fetchPath('/v1/pets');
    expect(await read('requests_in_flight')).toBe(MAX);
    expect(await read('shed_requests_total')).toBe(shed + 1);
    await letGo();
    await Promise.all(waiting);
  });

  it('returns deprecation headers as well', async () => {
    const waiting = await fill('getPet', '/v1/pets/1');
    const denied = await fetchPath('/v1/pets/1');
    expect(denied.status).toBe(503);
    expect(denied.headers.get('deprecation')).toBe('@1764892800');
    expect(denied.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
    await letGo();
    await Promise.all(waiting);
  });

  it('delays no other operation, nor health', async () => {
    const waiting = await fill('listOrders', '/v1/store/orders');
    expect((await fetchPath('/v1/store/orders')).status).toBe(503);
    expect((await fetchPath('/v1/rate-limit')).status).toBe(200);
    expect((await fetchPath('/readyz')).status).toBe(200);
    expect((await fetchPath('/livez')).status).toBe(200);
    await letGo();
    await Promise.all(waiting);
  });
});

it('the work for a disconnected client keeps its slot until it is done', async () => {
  holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
  const disconnected = Array.from({ length: MAX }, () => dial());
  disconnected.forEach((socket) =>
    socket.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\n\r\n`),
  );
  await until(() => inFlight('listPets') === MAX);
  const server: Server = store.app.getHttpServer();
  const count = promisify(server.getConnections.bind(server));
  const before = await count();
  disconnected.forEach((socket) => socket.resetAndDestroy());
  await until(async () => (await count()) === before - MAX);
  expect((await fetchPath('/v1/pets')).status).toBe(503);
  await letGo();
  await until(() => inFlight('listPets') === 0);
  expect((await fetchPath('/v1/pets')).status).toBe(200);
});

describe('a client that pipelines', () => {
  const get = (path: string, ...headers: string[]) =>
    [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${client.key}`, ...headers, '\r\n'].join(
      '\r\n',
    );

  it('gets the responses to 32 requests in their order', async () => {
    const paths = Array.from({ length: 31 }, (_, index) => (index % 2 === 0 ? '/livez' : `/v1/no/${index}`));
    const socket = dial();
    const response = text(socket);
    socket.write([...paths.map((path) => get(path)), get('/livez', 'Connection: close')].join(''));
    const bodies = [...(await response).matchAll(/"status":"ok"|at (\/v1\/no\/\d+)\.|overloaded/g)];
    expect(bodies).toHaveLength(32);
    bodies.slice(0, -1).forEach(([body, path], index) => {
      expect([undefined, paths[index]]).toContain(path);
      expect(body === '"status":"ok"').toBe(index % 2 === 0);
    });
  });

  it.each(['/v1/pets', '/livez', '/openapi.json', '/nothing'])(
    'is disconnected beyond 32 requests in flight, whatever they are for: %s',
    async (path) => {
      const socket = dial();
      const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
      socket.resume();
      socket.write(get('/v1/nothing') + get(path).repeat(32));
      await closed;
      expect((await fetchPath('/livez')).status).toBe(200);
    },
  );
});

describe('a request without a route', () => {
  it('takes one of a limited number of slots, too', async () => {
    holder = await hold(store.database.url, 'LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
    // A key that must be looked up.
    const key = generateApiKey('staging');
    const waiting = Array.from({ length: MAX }, () => fetchPath('/v1/nothing', { key }));
    await until(() => inFlight('none') === MAX);
    const denied = await fetchPath('/v1/nothing', { key });
    expectError(denied, 503, 'service_unavailable');
    expectRateLimitHeaders(denied);
    await letGo();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([401, 401]);
  });
});
