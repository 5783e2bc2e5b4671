import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { IssuedKey } from '../../src/admin/key.schemas.js';
import { generateApiKey } from '../../src/auth/rules/api-key.js';
import { ConcurrencyLimit } from '../../src/server/concurrency-limit.js';
import { MetricsServer } from '../../src/metrics/metrics.server.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { eventually, until } from '../support/eventually.js';
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
  const ONE = () => `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\n\r\n`;

  it('uses one slot at a time, and gets all responses in order', async () => {
    const socket = dial();
    const response = text(socket);
    const missing = Array.from({ length: 20 }, (_, index) => `/v1/pets/${1000 + index}`);
    const of = (path: string) => ONE().replace('/v1/pets', path);
    socket.write(missing.map(of).join('') + of('/livez').replace('Host', 'Connection: close\r\nHost'));
    const received = [...(await response).matchAll(/HTTP\/1\.1 (\d+) |with the identifier \\"(\d+)/g)];
    expect(received.map(([, status, id]) => status ?? id)).toEqual([
      ...missing.flatMap((path) => ['404', path.slice('/v1/pets/'.length)]),
      '200',
    ]);
  });

  const NODE_READS = 64 * 1024;
  const get = (path: string, headers = '', body = '') =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
  it.each([
    ['/livez', get('/livez'), 3000],
    ['/%zz', get('/%zz'), 3000],
    ['bodies', get('/nothing', '', ' '.repeat(12 * 1024)), 500],
    ['a long header', get('/livez', `X-A: ${'a'.repeat(12 * 1024)}\r\n`), 500],
    ['many headers', get('/livez', 'a:\r\n'.repeat(3800)), 250],
  ])('is not read from while one of its requests waits: %s', async (_name, request, count) => {
    holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    let [waiting, most] = [0, 0];
    const arrives = ({ socket: { remotePort } }: IncomingMessage, response: ServerResponse) => {
      if (remotePort === socket.localPort) {
        waiting += 1;
        most = Math.max(most, waiting);
        response.once('close', () => (waiting -= 1));
      }
    };
    store.app.getHttpServer().prependListener('request', arrives);
    const socket = dial();
    const responses = text(socket);
    socket.write(ONE() + request.repeat(count) + request.replace('Host', 'Connection: close\r\nHost'));
    await until(() => inFlight('listPets') === 1);
    // Meanwhile whatever the service would read of the rest arrives.
    expect((await Promise.all(Array.from({ length: 20 }, () => fetchPath('/livez')))).length).toBe(20);
    await letGo();
    expect((await responses).match(/HTTP\/1\.1 \d/g)).toHaveLength(count + 2);
    // The running request, and one that was partly read before.
    expect(most).toBeLessThanOrEqual(NODE_READS / request.length + 2);
  });

  it('is disconnected when the waiting requests of all connections would fill the memory: bodies sent byte by byte', async () => {
    const other = await startApplication({ database: store.database });
    holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const body = '1\r\n1\r\n'.repeat(9000);
    const bytewise = `POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`;
    const sockets = Array.from({ length: 20 }, () => dial(other.url));
    let cutOff = 0;
    for (const socket of sockets) {
      socket.on('error', () => {}).on('close', () => (cutOff += 1));
      socket.resume().write(ONE() + bytewise);
    }
    await until(() => cutOff >= sockets.length / 2);
    expect(cutOff).toBeLessThan(sockets.length);
    sockets.forEach((socket) => socket.destroy());
    await until(() => cutOff === sockets.length);
    await letGo();
    // The memory is free again: another client may pipeline.
    await eventually(async () => {
      const pipelining = dial(other.url);
      const responses = text(pipelining);
      pipelining.write(ONE() + ONE().replace('Host', 'Connection: close\r\nHost'));
      expect((await responses).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    });
    await other.close();
  });

  it('gets the animal that its preceding request created', async () => {
    const name = `Rex ${client.quotaId}`;
    const body = JSON.stringify({ name, categoryId: 1 });
    const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
    const post = ONE().replace('GET', 'POST').replace('\r\n\r\n', `\r\n${headers}\r\n\r\n${body}`);
    const socket = dial();
    socket.write(post + ONE().replace('Host', 'Connection: close\r\nHost'));
    const responses = (await text(socket)).split(/(?=HTTP\/1\.1 \d)/);
    expect(responses).toEqual([
      expect.stringMatching(/^HTTP\/1\.1 201 /),
      expect.stringMatching(/^HTTP\/1\.1 200 /),
    ]);
    expect(responses[1]).toContain(name);
  });

  it('gets no 408 for a request that the service has not read yet', async () => {
    holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const server: Server = store.app.getHttpServer();
    const connected = once(server, 'connection');
    const socket = dial();
    const responses = text(socket);
    socket.write(ONE() + ONE() + ONE().slice(0, 20));
    const [served] = await connected;
    await until(() => inFlight('listPets') === 1);
    // Node does the same after 30 seconds.
    server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), served);
    await letGo();
    socket.write(ONE().slice(20).replace('Host', 'Connection: close\r\nHost'));
    expect((await responses).match(/HTTP\/1\.1 \d+/g)).toEqual(Array(3).fill('HTTP/1.1 200'));
  });

  it('has no further request started after it disconnects', async () => {
    holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const disconnected = dial();
    disconnected.write(ONE().repeat(10));
    await until(() => inFlight('listPets') === 1);
    disconnected.resetAndDestroy();
    await letGo();
    await until(() => inFlight('listPets') === 0);
    // The one that was in flight, and this one.
    expect((await fetchPath('/v1/pets')).headers.get('x-ratelimit-remaining')).toBe('58');
  });
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
