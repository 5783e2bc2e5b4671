import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { generateApiKey } from '../src/auth/api-key.js';
import { ConcurrencyLimit } from '../src/http/concurrency-limit.js';
import { MetricsServer } from '../src/metrics/metrics.server.js';
import { startApplication, type TestApplication } from './support/application.js';
import { eventually, until } from './support/eventually.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { hold } from './support/holding.js';
import { type Answer, send } from './support/http.js';
import { scrape } from './support/prometheus.js';

/** How many of one operation are served at once. */
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
      .every((load) => load.slots.size === 0),
  );
});
afterAll(() => store.close());

async function letGo(): Promise<void> {
  await holder?.letGo();
  holder = null;
}

const ask = (path: string, init: Parameters<typeof send>[1] = {}) =>
  send(`${store.url}${path}`, { key: client.key, ...init });
const underWay = (operation: string) =>
  store.app
    .get(ConcurrencyLimit)
    .all()
    .find((load) => load.operation === operation)?.slots.size ?? 0;

/** As many of an operation as are served at once, that wait for a table. */
async function fill(
  operation: string,
  path: string,
  init?: Parameters<typeof send>[1],
): Promise<Promise<Answer>[]> {
  holder ??= await hold(store.database.url, 'LOCK TABLE pets, orders IN ACCESS EXCLUSIVE MODE');
  const waiting = Array.from({ length: MAX }, () => ask(path, init));
  await until(() => underWay(operation) === MAX);
  return waiting;
}

describe('who comes while as many of an operation are served as may be', () => {
  it('is told 503 at once, in form, with the limits and when to try again, and is not counted', async () => {
    const { headers } = await ask('/v1/rate-limit');
    const waiting = await fill('listPets', '/v1/pets');
    const sentMs = performance.now();
    const refused = await ask('/v1/pets');
    expect(performance.now() - sentMs).toBeLessThan(500);
    expectError(refused, 503, 'service_unavailable', 'This server is overloaded. Try again shortly.');
    expectRateLimitHeaders(refused);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    await letGo();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    const after = await ask('/v1/rate-limit');
    expect(after.headers.get('x-ratelimit-remaining')).toBe(
      String(Number(headers.get('x-ratelimit-remaining')) - MAX),
    );
  });

  it('is told of in the metrics', async () => {
    const operation = 'listPets';
    const read = async (name: string) => {
      const metrics = await scrape(`http://127.0.0.1:${store.app.get(MetricsServer).port}`);
      return metrics.value(`animal_store_${name}`, { operation }) ?? 0;
    };
    const shed = await read('shed_requests_total');
    const waiting = await fill(operation, '/v1/pets');
    await ask('/v1/pets');
    expect(await read('requests_under_way')).toBe(MAX);
    expect(await read('shed_requests_total')).toBe(shed + 1);
    await letGo();
    await Promise.all(waiting);
  });

  it('is told of a deprecation as well', async () => {
    const waiting = await fill('getPet', '/v1/pets/1');
    const refused = await ask('/v1/pets/1');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('deprecation')).toBe('@1764892800');
    expect(refused.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
    await letGo();
    await Promise.all(waiting);
  });

  it('holds up no other operation, nor health', async () => {
    const waiting = await fill('listOrders', '/v1/store/orders');
    expect((await ask('/v1/store/orders')).status).toBe(503);
    expect((await ask('/v1/rate-limit')).status).toBe(200);
    expect((await ask('/readyz')).status).toBe(200);
    expect((await ask('/livez')).status).toBe(200);
    await letGo();
    await Promise.all(waiting);
  });

  it('is served again as soon as one is answered', async () => {
    const waiting = await fill('listPets', '/v1/pets');
    expect((await ask('/v1/pets')).status).toBe(503);
    await letGo();
    await Promise.all(waiting);
    await until(() => underWay('listPets') === 0);
    expect((await ask('/v1/pets')).status).toBe(200);
  });
});

it('a client that goes leaves its place when what was begun for it is done, and not before', async () => {
  holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
  const { hostname, port } = new URL(store.url);
  const gone = Array.from({ length: MAX }, () => connect(Number(port), hostname));
  gone.forEach((socket) =>
    socket.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\n\r\n`),
  );
  await until(() => underWay('listPets') === MAX);
  const server: Server = store.app.getHttpServer();
  const count = promisify(server.getConnections.bind(server));
  const before = await count();
  gone.forEach((socket) => socket.resetAndDestroy());
  await until(async () => (await count()) === before - MAX);
  expect((await ask('/v1/pets')).status).toBe(503);
  await letGo();
  await until(() => underWay('listPets') === 0);
  expect((await ask('/v1/pets')).status).toBe(200);
});

describe('a client that pipelines', () => {
  const ONE = () => `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\n\r\n`;

  it('takes one place at a time, and is answered all of it, in order', async () => {
    const { hostname, port } = new URL(store.url);
    const socket = connect(Number(port), hostname);
    const answer = text(socket);
    const missing = Array.from({ length: 20 }, (_, index) => `/v1/pets/${1000 + index}`);
    const of = (path: string) => ONE().replace('/v1/pets', path);
    socket.write(missing.map(of).join('') + of('/livez').replace('Host', 'Connection: close\r\nHost'));
    const told = [...(await answer).matchAll(/HTTP\/1\.1 (\d+) |with the identifier \\"(\d+)/g)];
    expect(told.map(([, status, id]) => status ?? id)).toEqual([
      ...missing.flatMap((path) => ['404', path.slice('/v1/pets/'.length)]),
      '200',
    ]);
  });

  const NODE_READS = 64 * 1024;
  const get = (path: string, headers = '', body = '') =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
  it.each([
    ['/livez', get('/livez'), 10_000],
    ['/%zz', get('/%zz'), 10_000],
    ['bodies', get('/nothing', '', ' '.repeat(12 * 1024)), 500],
    ['a long header', get('/livez', `X-A: ${'a'.repeat(12 * 1024)}\r\n`), 500],
    ['many headers', get('/livez', 'a:\r\n'.repeat(3800)), 250],
  ])('is not read while one of its requests waits: %s', async (_name, request, count) => {
    holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const { hostname, port } = new URL(store.url);
    let [waiting, most] = [0, 0];
    const arrives = ({ socket: { remotePort } }: IncomingMessage, response: ServerResponse) => {
      if (remotePort === socket.localPort) {
        waiting += 1;
        most = Math.max(most, waiting);
        response.once('close', () => (waiting -= 1));
      }
    };
    store.app.getHttpServer().prependListener('request', arrives);
    const socket = connect(Number(port), hostname);
    const answers = text(socket);
    socket.write(ONE() + request.repeat(count) + request.replace('Host', 'Connection: close\r\nHost'));
    await until(() => underWay('listPets') === 1);
    // Others are served, while whatever the service would read of the rest arrives.
    expect((await Promise.all(Array.from({ length: 20 }, () => ask('/livez')))).length).toBe(20);
    await letGo();
    expect((await answers).match(/HTTP\/1\.1 \d/g)).toHaveLength(count + 2);
    // The one that runs, and one of which a part was read before.
    expect(most).toBeLessThanOrEqual(NODE_READS / request.length + 2);
  });

  it('is cut off when so much waits on all connections that memory would run out: bodies that come byte by byte', async () => {
    const roomy = await startApplication({ database: store.database });
    holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const { hostname, port } = new URL(roomy.url);
    const body = '1\r\n1\r\n'.repeat(9000);
    const bytewise = `POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`;
    const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname));
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
    // Nothing of it is left: another may pipeline.
    await eventually(async () => {
      const pipelining = connect(Number(port), hostname);
      const answers = text(pipelining);
      pipelining.write(ONE() + ONE().replace('Host', 'Connection: close\r\nHost'));
      expect((await answers).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    });
    await roomy.close();
  });

  it('gets what it created by the request in front', async () => {
    const { hostname, port } = new URL(store.url);
    const name = `Rex ${client.quotaId}`;
    const body = JSON.stringify({ name, categoryId: 1 });
    const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
    const post = ONE().replace('GET', 'POST').replace('\r\n\r\n', `\r\n${headers}\r\n\r\n${body}`);
    const socket = connect(Number(port), hostname);
    socket.write(post + ONE().replace('Host', 'Connection: close\r\nHost'));
    const responses = (await text(socket)).split(/(?=HTTP\/1\.1 \d)/);
    expect(responses).toEqual([
      expect.stringMatching(/^HTTP\/1\.1 201 /),
      expect.stringMatching(/^HTTP\/1\.1 200 /),
    ]);
    expect(responses[1]).toContain(name);
  });

  it('is done nothing more for behind an answer that says that the connection closes', async () => {
    const { hostname, port } = new URL(store.url);
    const socket = connect(Number(port), hostname);
    const answer = text(socket);
    const name = `Rex ${client.quotaId}`;
    const body = JSON.stringify({ name, categoryId: 1 });
    const post = ONE()
      .replace('GET', 'POST')
      .replace(
        '\r\n\r\n',
        `\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    // What stands behind two hosts may not be a request.
    socket.write(ONE().replace(/Host: .*/, 'Host: a,b') + post);
    expect([...(await answer).matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['400']);
    // One for the first, one for this.
    expect((await ask('/v1/pets')).headers.get('x-ratelimit-remaining')).toBe('58');
    expect(await store.database.query('SELECT 1 FROM pets WHERE name = $1', [name])).toEqual([]);
  });

  it('is not told that it is late with what is not read yet', async () => {
    holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const server: Server = store.app.getHttpServer();
    const connected = once(server, 'connection');
    const { hostname, port } = new URL(store.url);
    const socket = connect(Number(port), hostname);
    const answers = text(socket);
    socket.write(ONE() + ONE() + ONE().slice(0, 20));
    const [served] = await connected;
    await until(() => underWay('listPets') === 1);
    // As Node does when 30 seconds have passed.
    server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), served);
    await letGo();
    socket.write(ONE().slice(20).replace('Host', 'Connection: close\r\nHost'));
    expect((await answers).match(/HTTP\/1\.1 \d+/g)).toEqual(Array(3).fill('HTTP/1.1 200'));
  });

  it('and goes has nothing more begun for it', async () => {
    holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const { hostname, port } = new URL(store.url);
    const gone = connect(Number(port), hostname);
    gone.write(ONE().repeat(10));
    await until(() => underWay('listPets') === 1);
    gone.resetAndDestroy();
    await letGo();
    await until(() => underWay('listPets') === 0);
    // The one that was under way, and this one.
    expect((await ask('/v1/pets')).headers.get('x-ratelimit-remaining')).toBe('58');
  });
});

it('a client that goes in the middle of its body leaves no place taken', async () => {
  const { hostname, port } = new URL(store.url);
  for (let gone = 0; gone < 2 * MAX; gone += 1) {
    const socket = connect(Number(port), hostname);
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\n`;
    socket.end(`${head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{`);
    await once(socket.resume(), 'close');
  }
  await until(() => underWay('createPet') === 0);
  expect((await ask('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 1 } })).status).toBe(201);
});

it('a body that is slow to arrive takes no place', async () => {
  const { hostname, port } = new URL(store.url);
  const slow = Array.from({ length: MAX }, () => connect(Number(port), hostname));
  for (const socket of slow) {
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
    );
  }
  expect((await ask('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 1 } })).status).toBe(201);
  slow.forEach((socket) => socket.destroy());
});

it('what no route answers is bounded as well', async () => {
  holder = await hold(store.database.url, 'LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
  // A key that must be looked up.
  const key = generateApiKey('staging');
  const waiting = Array.from({ length: MAX }, () => ask('/v1/nothing', { key }));
  await until(() => underWay('none') === MAX);
  const refused = await ask('/v1/nothing', { key });
  expectError(refused, 503, 'service_unavailable');
  expectRateLimitHeaders(refused);
  await letGo();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([401, 401]);
});
