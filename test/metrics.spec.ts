import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { IssuedKey, KeyOrder } from '../src/admin/key.schemas.js';
import { InvalidEnvironmentError } from '../src/environment.js';
import { MetricsServer } from '../src/metrics/metrics.server.js';
import { SHARED_COUNTER_STORE } from '../src/rate-limit/stores/fallback-counter-store.js';
import type { PostgresCounterStore } from '../src/rate-limit/stores/postgres-counter-store.js';
import { startApplication, type TestApplication } from './support/application.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { startDatabaseProxy } from './support/database-proxy.js';
import { until } from './support/eventually.js';
import { expectError } from './support/expectations.js';
import { send } from './support/http.js';
import { sendRaw } from './support/raw-http.js';
import { scrape, type Scrape } from './support/prometheus.js';

const ANY_PORT = { METRICS_PORT: 0 };
const REQUESTS = 'animal_store_request_duration_seconds';

let database: TestDatabase;
let store: TestApplication;

/** A service of its own for the tests of one part: its numbers begin at zero. */
function ofOneService(): void {
  beforeAll(async () => {
    database = await createDatabase();
    store = await startApplication({ database, environment: ANY_PORT });
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });
}

const metricsUrl = (of = store) => `http://127.0.0.1:${of.app.get(MetricsServer).port}`;
const metrics = () => scrape(metricsUrl());

async function call(
  key: string | undefined,
  times = 1,
  {
    path = '/v1/pets',
    ...init
  }: { path?: string; method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<number[]> {
  const statuses: number[] = [];
  for (let sent = 0; sent < times; sent += 1) {
    statuses.push((await send(store.url + path, { key, ...init })).status);
  }
  return statuses;
}

/** A key with limits of its own. */
const limited = (perMinute: number, perDay: number, order: Partial<KeyOrder> = {}): Promise<IssuedKey> =>
  store.issue({ plan: 'pro', perMinute, perDay, ...order });

const requests = (read: Scrape, operation: string, status: number) =>
  read.value(`${REQUESTS}_count`, { operation, status: String(status) });

describe('/metrics', () => {
  ofOneService();

  it('answers on a port of its own without a key, and nothing else is there', async () => {
    const { status, headers, text } = await send(`${metricsUrl()}/metrics`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain('animal_store_build_info{version="1.0.0"} 1\n');
    expectError(await send(`${metricsUrl()}/`), 404, 'not_found');
    expectError(await send(`${metricsUrl()}/v1/pets`), 404, 'not_found');
    const posted = await send(`${metricsUrl()}/metrics`, { method: 'POST' });
    expectError(posted, 405, 'method_not_allowed');
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });

  it.each([
    ['no HTTP', 400, 'nonsense\r\n\r\n'],
    [
      'headers that are too large',
      431,
      `GET /metrics HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
    ['CONNECT', 400, 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('refuses in form what is no request: %s', async (_name, status, request) => {
    const { status: told, body } = await sendRaw(metricsUrl(), request);
    const message: unknown = expect.any(String);
    expect([told, JSON.parse(body)]).toEqual([status, { code: expect.any(String), message, status }]);
  });

  it.each(['X-No-Host: x', 'Host: x\r\nExpect: a miracle'])('answers a request with %j', async (headers) => {
    const request = `GET /metrics HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`;
    expect((await sendRaw(metricsUrl(), request)).status).toBe(200);
  });

  it('is not there where clients are served', async () => {
    expectError(await send(`${store.url}/metrics`), 404, 'not_found');
  });

  it('is off unless METRICS_PORT is set', async () => {
    const silent = await startApplication({ database });
    expect(silent.app.get(MetricsServer).port).toBeNull();
    await silent.close();
  });

  it('ends the start with the setting that is wrong, where somebody else has the port', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const start = startApplication({ database, environment: { METRICS_PORT: port, HOST: '127.0.0.1' } });
    await expect(start).rejects.toBeInstanceOf(InvalidEnvironmentError);
    await expect(start).rejects.toThrow(`METRICS_PORT ${port}`);
    other.close();
  });

  it('answers no more once the service has ended', async () => {
    const short = await startApplication({ database, environment: ANY_PORT });
    const url = metricsUrl(short);
    await scrape(url);
    await short.close();
    await expect(scrape(url)).rejects.toThrow('fetch failed');
  });

  it('has every metric that docs/observing.md lists, and lists every one that it has', async () => {
    const listed = Array.from(
      (await readFile('docs/observing.md', 'utf8')).matchAll(/^\| `(animal_store_\w+)`/gm),
      ([, name]) => String(name),
    );
    const { types } = await metrics();
    const own = [...types.keys()].filter((name) => name.startsWith('animal_store_'));
    expect(own.toSorted()).toEqual(listed.toSorted());
    expect([...types.keys()]).toEqual(
      expect.arrayContaining(['nodejs_eventloop_lag_p99_seconds', 'nodejs_gc_duration_seconds']),
    );
  });
});

describe('connections on which no request comes', () => {
  ofOneService();

  const HEAD = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
  const refused = (read: Scrape) =>
    [400, 408, 431].map((status) =>
      read.value('animal_store_refused_connections_total', { status: String(status) }),
    );

  it('are told by the status that they were answered', async () => {
    expect(refused(await metrics())).toEqual([0, 0, 0]);
    const bytes: [string | Buffer, number][] = [
      ['nonsense\r\n\r\n', 400],
      [Buffer.from('160301006d0100006903037a', 'hex'), 400],
      [`CONNECT x:5432 ${HEAD}\r\n`, 400],
      [`GET /livez ${HEAD}A: ${'a'.repeat(17 * 1024)}\r\n\r\n`, 431],
    ];
    for (const [sent, status] of bytes) {
      expect((await sendRaw(store.url, sent)).status).toBe(status);
    }
    const read = await metrics();
    expect(refused(read)).toEqual([3, 0, 1]);
    expect(read.value(`${REQUESTS}_count`)).toBeUndefined();
  });

  it('are told as 408 where it comes too slowly, and an authenticated request whose body does is told so, too', async () => {
    const { key } = await store.issue({ plan: 'business' });
    const server: Server = store.app.getHttpServer();
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    const post = `POST /v1/pets ${HEAD}Content-Type: application/json\r\nContent-Length: 29\r\n`;
    const slow = [
      `GET /v1/pets ${HEAD}`,
      `${post}Authorization: Bearer ${key}\r\n\r\n{"name":`,
      `${post}\r\n{"name":`,
    ];
    const answers = await Promise.all(slow.map((sent) => sendRaw(store.url, sent)));
    expect(answers.map(({ status, body }) => [status, JSON.parse(body).code])).toEqual([
      [408, 'request_timeout'],
      [408, 'request_timeout'],
      [401, 'missing_api_key'],
    ]);
    await until(async () => requests(await metrics(), 'createPet', 408) === 1);
    const read = await metrics();
    expect(refused(read)).toEqual([3, 2, 1]);
    expect(requests(read, 'createPet', 401)).toBe(1);
    expect(read.samples.filter(({ name }) => name === `${REQUESTS}_count`)).toHaveLength(2);
  });
});

describe('requests', () => {
  ofOneService();

  it('are told by operation and status, whatever became of them, and unknown paths under one name', async () => {
    const { key } = await store.issue({ plan: 'business' });
    await call(key, 2);
    await call(key, 1, { method: 'POST', body: { name: 'Rex', categoryId: 1 } });
    await call(key, 1, { method: 'POST', body: '{' });
    await call(key, 1, { path: '/v1/pets/1' });
    await call(key, 1, { path: '/v1/pets/999' });
    await call(key, 1, { path: '/v1/nothing' });
    await call(key, 1, { path: '/v1/nothing/else' });
    await call(key, 1, { path: '/v1/%zz' });
    await call(undefined, 1);
    const read = await metrics();
    expect(requests(read, 'listPets', 200)).toBe(2);
    expect(requests(read, 'createPet', 201)).toBe(1);
    expect(requests(read, 'createPet', 400)).toBe(1);
    expect(requests(read, 'getPet', 200)).toBe(1);
    expect(requests(read, 'getPet', 404)).toBe(1);
    expect(requests(read, 'none', 404)).toBe(3);
    expect(requests(read, 'listPets', 401)).toBe(1);
    expect(read.value('animal_store_deprecated_requests_total', { operation: 'getPet' })).toBe(2);
    const texts = new Set(read.samples.flatMap(({ labels }) => Object.values(labels)));
    expect([...texts].filter((label) => label.includes('/') || label.includes('nothing'))).toEqual([]);
  });

  it('have durations in buckets that add up', async () => {
    const { key } = await store.issue();
    await call(key, 3);
    const read = await metrics();
    const labels = { operation: 'listPets', status: '200' };
    const buckets = read.samples.filter(
      ({ name, labels: { operation, status } }) =>
        name === `${REQUESTS}_bucket` && operation === 'listPets' && status === '200',
    );
    const counts = buckets.map(({ value }) => value);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(buckets.at(-1)).toMatchObject({ labels: { le: '+Inf' }, value: requests(read, 'listPets', 200) });
    const seconds = read.value(`${REQUESTS}_sum`, labels) ?? NaN;
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(30);
  });
});

describe('limits', () => {
  ofOneService();

  const allowed = (read: Scrape, plan: string, window: string) =>
    read.value('animal_store_admitted_requests_total', { plan, window });
  const refused = (read: Scrape, plan: string, window: string) =>
    read.value('animal_store_refused_requests_total', { plan, window });

  it('tell what was allowed and refused, by plan and window, and the bans that were started', async () => {
    const minute = await limited(2, 100);
    expect(await call(minute.key, 6)).toEqual([200, 200, 429, 429, 429, 429]);
    const day = await limited(50, 1, { plan: 'business' });
    expect(await call(day.key, 3)).toEqual([200, 429, 429]);
    const read = await metrics();
    expect(allowed(read, 'pro', 'minute')).toBe(2);
    expect(allowed(read, 'pro', 'day')).toBe(2);
    expect(allowed(read, 'business', 'day')).toBe(1);
    expect(refused(read, 'pro', 'minute')).toBe(1);
    expect(refused(read, 'pro', 'ban')).toBe(3);
    expect(refused(read, 'pro', 'day')).toBe(0);
    expect(refused(read, 'business', 'day')).toBe(2);
    expect(read.value('animal_store_bans_started_total', { plan: 'pro' })).toBe(1);
    expect(read.value('animal_store_bans_started_total', { plan: 'business' })).toBe(0);
  });

  it('tell of those without a key apart, who have no day', async () => {
    await call(undefined, 3);
    const read = await metrics();
    expect(allowed(read, '(stranger)', 'minute')).toBe(3);
    expect(allowed(read, '(stranger)', 'day')).toBeUndefined();
    expect(refused(read, '(stranger)', 'minute')).toBe(0);
  });

  it('do not count questions where a quota stands, but those of them that were refused', async () => {
    const { key } = await store.issue();
    const statuses = await call(key, 61, { path: '/v1/rate-limit' });
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    const read = await metrics();
    expect(allowed(read, 'free', 'minute')).toBe(0);
    expect(refused(read, 'free', 'inquiries')).toBe(1);
  });
});

describe('the stores', () => {
  ofOneService();

  const question = (read: Scrape, name: string, part: string) =>
    read.value(`animal_store_question_${part}`, { question: name });

  it('tell how long questions took, and how many one served', async () => {
    const { key } = await store.issue({ plan: 'business' });
    await call(key);
    await Promise.all(Array.from({ length: 20 }, () => call(key)));
    const read = await metrics();
    for (const name of ['count', 'page-of-pets']) {
      expect(question(read, name, 'batch_size_sum')).toBe(21);
      expect(question(read, name, 'batch_size_count')).toBe(question(read, name, 'duration_seconds_count'));
      expect(question(read, name, 'duration_seconds_sum')).toBeGreaterThan(0);
      expect(question(read, name, 'failures_total')).toBe(0);
    }
  });

  it('tell of keys that were remembered and looked up, and how fresh what is remembered is', async () => {
    const lookUps = (read: Scrape, result: string) =>
      read.value('animal_store_key_lookups_total', { result }) ?? NaN;
    const { key } = await store.issue();
    await until(async () => (await metrics()).value('animal_store_key_watch_holds') === 1);
    const before = await metrics();
    await call(key, 3);
    const read = await metrics();
    const [hits, misses] = ['hit', 'miss'].map((result) => lookUps(read, result) - lookUps(before, result));
    expect([hits, misses]).toEqual([2, 1]);
    expect(read.value('animal_store_key_knowledge_age_seconds')).toBeLessThan(0.8);
  });

  it('tell of both pools how many connections there are and who waits for one', async () => {
    await call((await store.issue()).key);
    const read = await metrics();
    for (const [pool, max] of [
      ['prisma', 3],
      ['statements', 9],
    ] as const) {
      expect(read.value('animal_store_database_connections_max', { pool })).toBe(max);
      expect(read.value('animal_store_database_connections_wanted', { pool })).toBe(0);
      const idle = read.value('animal_store_database_connections', { pool, state: 'idle' }) ?? NaN;
      const used = read.value('animal_store_database_connections', { pool, state: 'used' }) ?? NaN;
      expect(idle + used).toBeGreaterThanOrEqual(1);
    }
  });

  it('tell of answers that were given again, and of usage that waits', async () => {
    const { key } = await store.issue();
    const again = {
      method: 'POST',
      body: { name: 'Rex', categoryId: 1 },
      headers: { 'Idempotency-Key': 'k' },
    };
    expect(await call(key, 3, again)).toEqual([201, 201, 201]);
    const read = await metrics();
    expect(read.value('animal_store_idempotent_replays_total')).toBe(2);
    expect(read.value('animal_store_usage_left_out_total')).toBe(0);
    await until(async () => (await metrics()).value('animal_store_usage_waiting_entries') === 0);
  });
});

describe('an outage of the counter store', () => {
  ofOneService();

  it('is told, and of how many one decided alone, and its end', async () => {
    const proxy = await startDatabaseProxy(database.url);
    const shared = store.app.get<PostgresCounterStore>(SHARED_COUNTER_STORE);
    jest.replaceProperty(
      shared as unknown as { environment: object },
      'environment',
      Object.assign({}, shared['environment'], { DATABASE_URL: proxy.url }),
    );
    const { key } = await store.issue();
    await call(key);
    const state = (read: Scrape, name: string) =>
      read.value('animal_store_rate_limit_breaker', { state: name });
    expect(state(await metrics(), 'closed')).toBe(1);
    proxy.goAway();
    await until(() => shared['client'] === null);
    expect(await call(key, 2)).toEqual([200, 200]);
    const away = await metrics();
    expect([state(away, 'closed'), state(away, 'open')]).toEqual([0, 1]);
    expect(away.value('animal_store_decided_alone_total')).toBe(2);
    expect(away.value('animal_store_question_failures_total', { question: 'count' })).toBe(1);
    await proxy.comeBack();
    await until(async () => {
      await call(key);
      return state(await metrics(), 'closed') === 1;
    });
    proxy.close();
  });
});
