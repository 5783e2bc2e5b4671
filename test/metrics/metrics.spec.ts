import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { InvalidEnvironmentError } from '../../src/settings/environment.js';
import { MetricsServer } from '../../src/metrics/metrics.server.js';
import { SHARED_COUNTER_STORE } from '../../src/rate-limit/stores/fallback-counter-store.js';
import type { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { startDatabaseProxy } from '../support/database/database-proxy.js';
import { until } from '../support/eventually.js';
import { expectError } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { sendRaw, toHttpResponse } from '../support/http/raw-http.js';
import { scrape, type Scrape } from '../support/programs/prometheus.js';

const ANY_PORT = { METRICS_PORT: 0 };
const REQUESTS = 'animal_store_request_duration_seconds';

let database: TestDatabase;
let store: TestApplication;

/** Starts a service for the tests of one group, with all metrics at zero. */
function useOwnService(): void {
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

type Call = NonNullable<Parameters<typeof send>[1]> & { path?: string };

async function call(
  key: string | undefined,
  times = 1,
  { path = '/v1/pets', ...init }: Call = {},
): Promise<number[]> {
  const statuses: number[] = [];
  for (let sent = 0; sent < times; sent += 1) {
    statuses.push((await send(store.url + path, { key, ...init })).status);
  }
  return statuses;
}

/** Issues a key with its own limits. */
const limited = (perMinute: number, perDay: number, plan = 'pro'): Promise<IssuedKey> =>
  store.issue({ plan, perMinute, perDay });

const requests = (read: Scrape, operation: string, status: number) =>
  read.value(`${REQUESTS}_count`, { operation, status: String(status) });

describe('GET /metrics', () => {
  useOwnService();

  it('returns 200 without a key on its own port, which serves nothing else', async () => {
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

  it('returns a well-formed error for a malformed request, and 200 to a request without a Host', async () => {
    const malformed = toHttpResponse(await sendRaw(metricsUrl(), 'nonsense\r\n\r\n'));
    expect([malformed.status, malformed.json.code]).toEqual([400, 'invalid_request']);
    const request = 'GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n';
    expect((await sendRaw(metricsUrl(), request)).status).toBe(200);
  });

  it('is off unless METRICS_PORT is set, never on the port of the service, and closed once the service has ended', async () => {
    expectError(await send(`${store.url}/metrics`), 404, 'not_found');
    const withoutMetrics = await startApplication({ database });
    expect(withoutMetrics.app.get(MetricsServer).port).toBeNull();
    await withoutMetrics.close();
    const short = await startApplication({ database, environment: ANY_PORT });
    const url = metricsUrl(short);
    await scrape(url);
    await short.close();
    await expect(scrape(url)).rejects.toThrow('fetch failed');
  });

  it('aborts the start and names the setting when the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const start = startApplication({ database, environment: { METRICS_PORT: port, HOST: '127.0.0.1' } });
    await expect(start).rejects.toBeInstanceOf(InvalidEnvironmentError);
    await expect(start).rejects.toThrow(`METRICS_PORT ${port}`);
    other.close();
  });

  it('exposes exactly the metrics of docs/observing.md, and those of its alerts', async () => {
    const page = await readFile('docs/observing.md', 'utf8');
    const namesIn = (pattern: RegExp) => Array.from(page.matchAll(pattern), ([, name]) => String(name));
    const { types } = await metrics();
    const own = [...types.keys()].filter((name) => name.startsWith('animal_store_'));
    expect(own.toSorted()).toEqual(namesIn(/^\| `(animal_store_\w+)` /gm).toSorted());
    expect(own).toEqual(expect.arrayContaining(namesIn(/\b(animal_store_\w+)/g)));
    expect([...types.keys()]).toEqual(
      expect.arrayContaining(['nodejs_eventloop_lag_p99_seconds', 'nodejs_gc_duration_seconds']),
    );
  });
});

describe('metrics of connections', () => {
  useOwnService();

  const HEAD = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
  const denied = (read: Scrape) =>
    [400, 408, 431].map((status) =>
      read.value('animal_store_connection_errors_total', { status: String(status) }),
    );

  it('count each connection without a request by the status of its response', async () => {
    expect(denied(await metrics())).toEqual([0, 0, 0]);
    const bytes: [string | Buffer, number][] = [
      ['nonsense\r\n\r\n', 400],
      [Buffer.from('160301006d0100006903037a', 'hex'), 400],
      [`GET /livez ${HEAD}A: ${'a'.repeat(17 * 1024)}\r\n\r\n`, 431],
    ];
    for (const [sent, status] of bytes) {
      expect((await sendRaw(store.url, sent)).status).toBe(status);
    }
    const read = await metrics();
    expect(denied(read)).toEqual([2, 0, 1]);
    expect(read.value(`${REQUESTS}_count`)).toBeUndefined();
  });

  it('count slow headers as 408, and a body that did not arrive whole as 400 of its operation', async () => {
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
    const responses = await Promise.all(slow.map((sent) => sendRaw(store.url, sent)));
    expect(responses.map(({ status, body }) => [status, JSON.parse(body).code])).toEqual([
      [408, 'request_timeout'],
      [408, 'request_timeout'],
      [401, 'missing_api_key'],
    ]);
    await until(async () => requests(await metrics(), 'createPet', 400) === 1);
    const read = await metrics();
    expect(denied(read)).toEqual([2, 2, 1]);
    expect(requests(read, 'createPet', 401)).toBe(1);
    expect(read.samples.filter(({ name }) => name === `${REQUESTS}_count`)).toHaveLength(2);
  });

  it('count each connection that is closed by its bound', async () => {
    const name = 'animal_store_connections_closed_total';
    const closed = (read: Scrape) =>
      ['pipelined', 'unread_bytes', 'connections'].map((reason) => read.value(name, { reason }));
    expect(closed(await metrics())).toEqual([0, 0, 0]);
    const pipelined = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(33);
    await expect(sendRaw(store.url, pipelined)).rejects.toThrow('ECONNRESET');
    expect(closed(await metrics())).toEqual([1, 0, 0]);
  });
});

describe('metrics of requests', () => {
  useOwnService();

  it('count by operation and status, whatever the outcome, and count unknown paths under one name', async () => {
    const { key } = await store.issue({ plan: 'business' });
    await call(key, 2);
    await call(key, 1, { method: 'POST', body: { name: 'Rex', categoryId: 1 } });
    await call(key, 1, { method: 'POST', body: '{' });
    for (const path of ['/v1/pets/1', '/v1/pets/999', '/v1/nothing', '/v1/nothing/else', '/v1/%zz']) {
      await call(key, 1, { path });
    }
    await call(undefined, 1);
    const read = await metrics();
    const counted = read.samples
      .filter(({ name }) => name === `${REQUESTS}_count`)
      .map(({ labels: { operation, status }, value }) => `${operation} ${status} ${value}`);
    expect(counted.toSorted()).toEqual([
      'createPet 201 1',
      'createPet 400 1',
      'getPet 200 1',
      'getPet 404 1',
      'listPets 200 2',
      'listPets 401 1',
      'none 404 3',
    ]);
    expect(read.value('animal_store_deprecated_requests_total', { operation: 'getPet' })).toBe(2);
    const texts = new Set(read.samples.flatMap(({ labels }) => Object.values(labels)));
    expect([...texts].filter((label) => label.includes('/') || label.includes('nothing'))).toEqual([]);
  });
});

describe('metrics of limits', () => {
  useOwnService();

  const allowed = (read: Scrape, plan: string) =>
    read.value('animal_store_rate_limit_allowed_total', { plan });
  const denied = (read: Scrape, plan: string, reason: string) =>
    read.value('animal_store_rate_limit_denied_total', { plan, reason });

  it('count allowed requests by plan, denied requests by plan and reason, and bans', async () => {
    const minute = await limited(2, 100);
    expect(await call(minute.key, 6)).toEqual([200, 200, 429, 429, 429, 429]);
    const day = await limited(50, 1, 'business');
    expect(await call(day.key, 3)).toEqual([200, 429, 429]);
    const read = await metrics();
    const bans = (plan: string) => read.value('animal_store_bans_started_total', { plan });
    expect([allowed(read, 'pro'), allowed(read, 'business')]).toEqual([2, 1]);
    expect(['minute', 'ban', 'day'].map((reason) => denied(read, 'pro', reason))).toEqual([1, 3, 0]);
    expect(denied(read, 'business', 'day')).toBe(2);
    expect([bans('pro'), bans('business')]).toEqual([1, 0]);
  });

  it('count anonymous clients separately, and requests for the rate-limit status only when they are denied', async () => {
    await call(undefined, 3);
    const { key } = await store.issue();
    const statuses = await call(key, 61, { path: '/v1/rate-limit' });
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    const read = await metrics();
    expect([allowed(read, '(anonymous)'), allowed(read, 'free')]).toEqual([3, 0]);
    expect([denied(read, '(anonymous)', 'minute'), denied(read, 'free', 'status')]).toEqual([0, 1]);
  });
});

describe('metrics of the stores', () => {
  useOwnService();

  const query = (read: Scrape, name: string, part: string) =>
    read.value(`animal_store_query_${part}`, { query: name });

  it('have the duration and the batch size of queries', async () => {
    const { key } = await store.issue({ plan: 'business' });
    await call(key);
    await Promise.all(Array.from({ length: 20 }, () => call(key)));
    const read = await metrics();
    for (const name of ['count', 'page-of-pets']) {
      expect(query(read, name, 'batch_size_sum')).toBe(21);
      expect(query(read, name, 'batch_size_count')).toBe(query(read, name, 'duration_seconds_count'));
      expect(query(read, name, 'duration_seconds_sum')).toBeGreaterThan(0);
      expect(query(read, name, 'failures_total')).toBe(0);
    }
  });

  it('count hits and misses of the key cache, and show whether the cache is current', async () => {
    const lookUps = (read: Scrape, result: string) =>
      read.value('animal_store_api_key_cache_lookups_total', { result }) ?? NaN;
    const { key } = await store.issue();
    await until(async () => (await metrics()).value('animal_store_api_key_cache_current') === 1);
    const before = await metrics();
    await call(key, 3);
    const read = await metrics();
    const [hits, misses] = ['hit', 'miss'].map((result) => lookUps(read, result) - lookUps(before, result));
    expect([hits, misses]).toEqual([2, 1]);
    expect(read.value('animal_store_api_key_cache_age_seconds')).toBeLessThan(0.8);
  });

  it('have the size of both pools, and the number of requests that wait for a connection', async () => {
    await call((await store.issue()).key);
    const read = await metrics();
    for (const [pool, max] of Object.entries({ prisma: 3, queries: 9 })) {
      const connections = (state: string) =>
        read.value('animal_store_database_connections', { pool, state }) ?? NaN;
      expect(read.value('animal_store_database_connections_max', { pool })).toBe(max);
      expect(read.value('animal_store_database_pending_queries', { pool })).toBe(0);
      expect(connections('idle') + connections('used')).toBeGreaterThanOrEqual(1);
    }
  });

  it('count replayed responses and usage that is not written yet', async () => {
    const { key } = await store.issue();
    const again = {
      method: 'POST',
      body: { name: 'Rex', categoryId: 1 },
      headers: { 'Idempotency-Key': 'k' },
    };
    expect(await call(key, 3, again)).toEqual([201, 201, 201]);
    const read = await metrics();
    expect(read.value('animal_store_idempotent_replays_total')).toBe(2);
    expect(read.value('animal_store_usage_dropped_requests_total')).toBe(0);
    await until(async () => (await metrics()).value('animal_store_usage_queued_entries') === 0);
  });
});

describe('metrics during an outage of the counter store', () => {
  useOwnService();

  it('show the outage, the requests counted locally, and the recovery', async () => {
    const proxy = await startDatabaseProxy(database.url);
    const shared = store.app.get<PostgresCounterStore>(SHARED_COUNTER_STORE);
    jest.replaceProperty(
      shared['connection'] as unknown as { environment: object },
      'environment',
      Object.assign({}, shared['environment'], { DATABASE_URL: proxy.url }),
    );
    const { key } = await store.issue();
    await call(key);
    const state = (read: Scrape, name: string) =>
      read.value('animal_store_rate_limit_breaker_state', { state: name });
    expect(state(await metrics(), 'closed')).toBe(1);
    proxy.goAway();
    await until(() => shared['connection'].current === null);
    expect(await call(key, 2)).toEqual([200, 200]);
    const away = await metrics();
    expect([state(away, 'closed'), state(away, 'open')]).toEqual([0, 1]);
    expect(away.value('animal_store_rate_limit_local_decisions_total')).toBe(2);
    expect(away.value('animal_store_query_failures_total', { query: 'count' })).toBe(1);
    await proxy.comeBack();
    await until(async () => {
      await call(key);
      return state(await metrics(), 'closed') === 1;
    });
    proxy.close();
  });
});
