import type { Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { generateApiKey } from '../../src/auth/rules/api-key.js';
import { ConcurrencyLimit } from '../../src/http/connections/concurrency-limit.js';
import { MetricsServer } from '../../src/observability/metrics.server.js';
import { useApplication } from '../support/service/application.js';
import { until } from '../support/eventually.js';
import { denialsBeforeBan } from '../support/keys/bans.js';
import { expectError, expectRateLimitHeaders, quotingId } from '../support/http/expectations.js';
import { hold } from '../support/database/holding.js';
import { type HttpResponse, type Init, send } from '../support/http/http.js';
import { dial, head } from '../support/http/raw-http.js';
import { scrape } from '../support/http/metrics.js';
import { slotsTaken } from './slots.js';

/** The number of slots of each operation. */
const MAX = 2;

const store = useApplication({
  environment: { MAX_CONCURRENT_REQUESTS_PER_OPERATION: MAX, METRICS_PORT: 0 },
});
let client: IssuedKey;
let holder: Awaited<ReturnType<typeof hold>> | null = null;

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

async function letGo(): Promise<void> {
  await holder?.letGo();
  holder = null;
}

const fetchPath = (path: string, init: Init = {}) =>
  send(`${store.url}${path}`, { key: client.key, ...init });
const inFlight = (operation: string) => slotsTaken(store, operation);

/**
 * Takes all slots of an operation with requests that wait for a locked table; returns what lets them end, and
 * returns their statuses.
 */
async function fill(operation: string, path: string): Promise<() => Promise<number[]>> {
  holder = await hold(store.database.url, 'LOCK TABLE pets, orders IN ACCESS EXCLUSIVE MODE');
  const waiting = Array.from({ length: MAX }, () => fetchPath(path));
  await until(() => inFlight(operation) === MAX);
  return async () => {
    await letGo();
    return (await Promise.all(waiting)).map(({ status }) => status);
  };
}

/** Expects the response to a request of the client that has all slots. */
function expectTooMany(response: HttpResponse): void {
  const message =
    'Too many requests of this client are in flight at once. Send fewer at a time, and this one again ' +
    'shortly.';
  expectError(response, 429, 'too_many_concurrent_requests', message);
  expectNoWait(response);
}

/** Expects the response to a request of another client. */
function expectOverloaded(response: HttpResponse): void {
  const message = quotingId('This server is overloaded. Try again shortly.', response);
  expectError(response, 503, 'service_unavailable', message);
  expectNoWait(response);
}

function expectNoWait(response: HttpResponse): void {
  expectRateLimitHeaders(response);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(response.headers.get('cache-control')).toBe('no-store');
}

describe('a request while all slots of its operation are taken', () => {
  it('returns 429 at once to the client that has them, and is counted only in the metrics', async () => {
    const remaining = async () =>
      Number((await fetchPath('/v1/rate-limit')).headers.get('x-ratelimit-remaining'));
    const metrics = async () => {
      const read = await scrape(`http://127.0.0.1:${store.app.get(MetricsServer).port}`);
      return ['requests_shed_total', 'requests_in_flight'].map(
        (name) => read.value(`animal_store_${name}`, { operation: 'listPets' }) ?? 0,
      );
    };
    const [before, [shed = NaN]] = [await remaining(), await metrics()];
    const finish = await fill('listPets', '/v1/pets');
    const denied = await fetchPath('/v1/pets');
    expectTooMany(denied);
    expect(denied.headers.get('x-ratelimit-degraded')).toBe('true');
    expect(denied.headers.get('x-ratelimit-limit')).toBe(String(client.perMinute));
    expect(await metrics()).toEqual([shed + 1, MAX]);
    expect(await finish()).toEqual([200, 200]);
    expect(await remaining()).toBe(before - MAX);
    const status = await fetchPath('/v1/rate-limit');
    expect(status.json.denialsUntilBan).toBe(denialsBeforeBan(client.perMinute!));
  });

  it('returns 503 at once to another client, with or without a key, uncounted', async () => {
    const { key } = await store.issue();
    // A key that is not cached yet counts for its address.
    await Promise.all([fetchPath('/v1/rate-limit'), fetchPath('/v1/rate-limit', { key })]);
    const finish = await fill('listPets', '/v1/pets');
    expectOverloaded(await fetchPath('/v1/pets', { key }));
    expectOverloaded(await send(`${store.url}/v1/pets`));
    await finish();
    const { headers } = await fetchPath('/v1/rate-limit', { key });
    expect(headers.get('x-ratelimit-remaining')).toBe(headers.get('x-ratelimit-limit'));
  });

  it('returns deprecation headers as well', async () => {
    const finish = await fill('getPet', '/v1/pets/1');
    const denied = await fetchPath('/v1/pets/1');
    expectTooMany(denied);
    expect(denied.headers.get('deprecation')).toBe('@1764892800');
    expect(denied.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
    await finish();
  });

  it('delays no other operation, nor health', async () => {
    const finish = await fill('listOrders', '/v1/store/orders');
    const paths = ['/v1/store/orders', '/v1/rate-limit', '/readyz', '/livez'];
    const responses = await Promise.all(paths.map((path) => fetchPath(path)));
    expect(responses.map(({ status }) => status)).toEqual([429, 200, 200, 200]);
    await finish();
  });

  it('takes one of a limited number of slots, too, if it has no route', async () => {
    holder = await hold(store.database.url, 'LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
    // A key that must be looked up.
    const key = generateApiKey('staging');
    const waiting = Array.from({ length: MAX }, () => fetchPath('/v1/nothing', { key }));
    await until(() => inFlight('none') === MAX);
    expectTooMany(await fetchPath('/v1/nothing', { key }));
    await letGo();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([401, 401]);
  });
});

it('the work for a disconnected client keeps its slot until it is done', async () => {
  holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
  const disconnected = Array.from({ length: MAX }, () => dial(store.url));
  disconnected.forEach((socket) => socket.write(head('GET /v1/pets', `Authorization: Bearer ${client.key}`)));
  await until(() => inFlight('listPets') === MAX);
  const server: Server = store.app.getHttpServer();
  const count = promisify(server.getConnections.bind(server));
  const before = await count();
  disconnected.forEach((socket) => socket.resetAndDestroy());
  await until(async () => (await count()) === before - MAX);
  expectTooMany(await fetchPath('/v1/pets'));
  await letGo();
  await until(() => inFlight('listPets') === 0);
  expect((await fetchPath('/v1/pets')).status).toBe(200);
});

describe('a client that pipelines', () => {
  const get = (path: string, ...headers: string[]) =>
    head(`GET ${path}`, `Authorization: Bearer ${client.key}`, ...headers);

  it('gets the responses to 32 requests in their order', async () => {
    const paths = Array.from({ length: 31 }, (_, index) => (index % 2 === 0 ? '/livez' : `/v1/no/${index}`));
    const socket = dial(store.url);
    const response = text(socket);
    socket.write([...paths.map((path) => get(path)), get('/livez', 'Connection: close')].join(''));
    const bodies = [...(await response).matchAll(/"status":"ok"|at (\/v1\/no\/\d+)\.|Too many requests/g)];
    expect(bodies).toHaveLength(32);
    bodies.slice(0, -1).forEach(([body, path], index) => {
      expect([undefined, paths[index]]).toContain(path);
      expect(body === '"status":"ok"').toBe(index % 2 === 0);
    });
  });

  it('is disconnected beyond 32 requests sent at once, though each is shed before the next', async () => {
    const creations = () =>
      store.app
        .get(ConcurrencyLimit)
        .all()
        .find(({ operation }) => operation === 'createPet');
    const body = '{"name":"Rex","categoryId":7}';
    const headers = [
      `Authorization: Bearer ${client.key}`,
      'Content-Type: application/json',
      'Content-Length: 29',
    ];
    const create = head('POST /v1/pets', ...headers) + body;
    holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const [waiting, flood] = [dial(store.url), dial(store.url)];
    waiting.write(create.repeat(MAX));
    await until(() => inFlight('createPet') === MAX);
    const closed = new Promise((resolve) =>
      flood
        .resume()
        .on('error', () => {})
        .once('close', resolve),
    );
    flood.write(create.repeat(1000));
    await closed;
    expect(creations()?.shed).toBeLessThanOrEqual(32);
    waiting.destroy();
  });

  it.each(['/v1/pets', '/livez', '/openapi.json', '/nothing'])(
    'is disconnected beyond 32 requests in flight, whatever they are for: %s',
    async (path) => {
      const socket = dial(store.url);
      const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
      socket.resume();
      socket.write(get('/v1/nothing') + get(path).repeat(32));
      await closed;
      expect((await fetchPath('/livez')).status).toBe(200);
    },
  );
});
