import type { Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { IssuedKey } from '../../src/admin/key.schemas.js';
import { ConcurrencyLimit } from '../../src/server/concurrency-limit.js';
import { MetricsServer } from '../../src/metrics/metrics.server.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { eventually, until } from '../support/eventually.js';
import { hold } from '../support/load/holding.js';
import { send } from '../support/http/http.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';

/** Much less than the keep-alive timeout. */
const SOON_MS = 3_000;

let store: TestApplication;
let client: IssuedKey;

beforeEach(async () => {
  store = await startApplication({ environment: { METRICS_PORT: 0 } });
  client = await store.issue();
});
afterEach(() => store.close());

const servicePort = () => Number(new URL(store.url).port);
const metricsPort = () => store.app.get(MetricsServer).port ?? 0;
const get = (path: string, version = '1.1') =>
  `GET ${path} HTTP/${version}\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\n\r\n`;
const post = (body: string, length = body.length) =>
  `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

/** Sends bytes and a FIN, and reads until the server closes the connection. */
async function sendAndHalfClose(bytes: string, port = servicePort()) {
  const startMs = performance.now();
  const received = await text(connect(port, '127.0.0.1').end(bytes));
  expect(performance.now() - startMs).toBeLessThan(SOON_MS);
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  return { statuses, received, body: received.split('\r\n\r\n').at(-1) ?? '' };
}

async function pets(): Promise<string[]> {
  const rows = await store.database.query<{ name: string }>('SELECT name FROM pets ORDER BY id');
  return rows.map(({ name }) => name);
}

async function remaining(): Promise<number> {
  const { headers } = await send(`${store.url}/v1/rate-limit`, { key: client.key });
  return Number(headers.get('x-ratelimit-remaining'));
}

/** Waits until no connection is open and no request is in flight. */
async function expectNothingLeft(): Promise<void> {
  const server: Server = store.app.getHttpServer();
  const count = promisify(server.getConnections.bind(server));
  await until(async () => (await count()) === 0);
  await until(() =>
    store.app
      .get(ConcurrencyLimit)
      .all()
      .every(({ slots }) => slots.length === 0),
  );
}

describe('a client that half-closes its connection', () => {
  it.each(['1.1', '1.0'])(
    'gets the response to its request, after which the connection is closed: HTTP/%s',
    async (version) => {
      const { statuses, body } = await sendAndHalfClose(get('/v1/pets', version));
      expect([statuses, body]).toEqual([[200], '[]']);
      await expectNothingLeft();
    },
  );

  it('gets the responses to all pipelined requests in order, after which the connection is closed', async () => {
    const missing = Array.from({ length: 10 }, (_, index) => `/v1/pets/${1000 + index}`);
    const { statuses, received } = await sendAndHalfClose(
      missing.map((path) => get(path)).join('') + get('/livez') + post('{"name":"Rex","categoryId":1}'),
    );
    expect(statuses).toEqual([...missing.map(() => 404), 200, 201]);
    expect([...received.matchAll(/identifier \\"(\d+)/g)].map(([, id]) => `/v1/pets/${id}`)).toEqual(missing);
    expect(await pets()).toEqual(['Rex']);
    await expectNothingLeft();
  });

  it('gets 400 for incomplete headers, after the responses to the requests before', async () => {
    const half = post('{"name":"Rex","categoryId":1}').slice(0, 40);
    expect((await sendAndHalfClose(half)).statuses).toEqual([400]);
    expect((await sendAndHalfClose(get('/v1/pets') + half)).statuses).toEqual([200, 400]);
    await expectNothingLeft();
    expect(await remaining()).toBe(59);
  });

  it('gets 400 for an incomplete body, and nothing is stored', async () => {
    const { statuses, body } = await sendAndHalfClose(post('{"name":"Rex","categoryId":1}', 99));
    expect(statuses).toEqual([400]);
    expect(JSON.parse(body)).toEqual({ code: 'invalid_request', message: expect.any(String), status: 400 });
    expect(await pets()).toEqual([]);
    await expectNothingLeft();
  });

  it('is disconnected immediately when it has sent nothing or has its response', async () => {
    expect((await sendAndHalfClose('')).received).toBe('');
    const socket = connect(servicePort(), '127.0.0.1');
    const received = text(socket);
    socket.write(get('/livez'), () => socket.once('data', () => socket.end()));
    expect(await received).toMatch(/^HTTP\/1\.1 200 /);
    await expectNothingLeft();
  });

  it('gets the metrics', async () => {
    const { statuses, received } = await sendAndHalfClose(get('/metrics') + get('/nothing'), metricsPort());
    expect(statuses).toEqual([200, 404]);
    expect(received).toContain('animal_store_');
  });

  it('gets its responses during a shutdown', async () => {
    const lock = await hold(store.database.url, 'LOCK TABLE pets');
    const pending = sendAndHalfClose(get('/v1/pets') + get('/v1/pets'));
    await eventually(() => expectLocksWaitedFor(store.database, 1));
    const closed = store.app.close();
    await eventually(() => expect(fetch(`${store.url}/livez`)).rejects.toThrow('fetch failed'));
    await lock.letGo();
    const { statuses, received } = await pending;
    expect(statuses).toEqual([200, 200]);
    expect(received.match(/^connection: \S+/gim)).toEqual(['Connection: keep-alive', 'Connection: close']);
    await closed;
  });
});

describe('a client that closes its connection', () => {
  it('has at most one more request started after a response that cannot be sent', async () => {
    const lock = await hold(store.database.url, 'LOCK TABLE pets');
    const gone = connect(servicePort(), '127.0.0.1');
    gone.write(get('/v1/pets').repeat(10));
    await eventually(() => expectLocksWaitedFor(store.database, 1));
    gone.destroy();
    await lock.letGo();
    await expectNothingLeft();
    expect(await remaining()).toBeGreaterThanOrEqual(57);
  });
});
