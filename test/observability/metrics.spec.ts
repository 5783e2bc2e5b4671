import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { DiscoveryService } from '@nestjs/core';
import { Batcher } from '../../src/database/batches/batcher.js';
import { MetricsRegistry, type MetricsSource } from '../../src/process/metrics-registry.js';
import { MetricsServer } from '../../src/observability/metrics.server.js';
import { VERSION } from '../../src/process/version.js';
import { CounterStore } from '../../src/rate-limit/stores/counter-store.js';
import type { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { denialsBeforeBan, requestsBeforeBan } from '../support/keys/bans.js';
import { shareApplication, startApplication, type TestApplication } from '../support/service/application.js';
import { startDatabaseProxy } from '../support/programs/database-proxy.js';
import { until } from '../support/eventually.js';
import { expectError } from '../support/http/expectations.js';
import { type Init, send } from '../support/http/http.js';
import { head, sendRaw, toHttpResponse } from '../support/http/raw-http.js';
import { scrape } from '../support/http/metrics.js';

const ANY_PORT = { METRICS_PORT: 0 };
const REQUESTS = 'http_server_request_duration_seconds';

const store = shareApplication({ environment: ANY_PORT });

const metricsUrl = (of: TestApplication = store) => `http://127.0.0.1:${of.app.get(MetricsServer).port}`;
const metrics = () => scrape(metricsUrl());

/** Returns the counts whose names match, by name and labels: `rate_limit_denied_total pro minute`. */
async function counts(names: RegExp): Promise<[string, number][]> {
  const { samples } = await metrics();
  return samples
    .filter(({ name }) => /^(animal_store|http_server)_.*_(total|count)$/.test(name))
    .map(({ name, labels, value }): [string, number] => [
      [name.replace(/^(animal_store|http_server)_/, ''), ...Object.values(labels)].join(' '),
      value,
    ])
    .filter(([name]) => names.test(name));
}

/** Returns by how much these counts grow while `work` runs; those that do not grow are left out. */
async function growth(names: RegExp, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = new Map(await counts(names));
  await work();
  return Object.fromEntries(
    (await counts(names))
      .map(([name, value]): [string, number] => [name, value - (before.get(name) ?? 0)])
      .filter(([, grown]) => grown !== 0),
  );
}

/** Sends a request several times, and returns the statuses. */
async function call(key: string | undefined, times = 1, init: Init & { path?: string } = {}) {
  const { path = '/v1/pets', ...rest } = init;
  const statuses: number[] = [];
  for (let sent = 0; sent < times; sent += 1) {
    statuses.push((await store.send(path, { ...rest, key })).status);
  }
  return statuses;
}

describe('GET /metrics', () => {
  it('returns 200 without a key on its own port, which serves nothing else', async () => {
    const { status, headers, text } = await send(`${metricsUrl()}/metrics`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain(`animal_store_build_info{version="${VERSION}"} 1\n`);
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

  it('is off without METRICS_PORT, never on the service port, and closes after the service', async () => {
    expectError(await send(`${store.url}/metrics`), 404, 'not_found');
    const { database } = store;
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
    const environment = { METRICS_PORT: port, HOST: '127.0.0.1' };
    const start = startApplication({ database: store.database, environment });
    await expect(start).rejects.toThrow(`Port ${port} is in use: stop that program, or set METRICS_PORT`);
    other.close();
  });

  it('exposes exactly the metrics of docs/observing.md, and all that alerts or dashboard query', async () => {
    const page = await readFile('docs/observing.md', 'utf8');
    const namesIn = (pattern: RegExp) => Array.from(page.matchAll(pattern), ([, name]) => String(name));
    const { names } = await metrics();
    const own = names.filter((name) => /^(animal_store|http)_/.test(name));
    expect(own.toSorted()).toEqual(namesIn(/^\| `((?:animal_store|http)_\w+)` /gm).toSorted());
    for (const file of ['deploy/prometheus/rules.yml', 'deploy/grafana/animal-store.json']) {
      const queried =
        (await readFile(file, 'utf8')).match(/\b(?:animal_store|http_server)_\w+(?=\{|\)|\[| )/g) ?? [];
      const base = queried.map((name) => name.replace(/_(?:bucket|count|sum)$/, ''));
      expect(base).not.toStrictEqual([]);
      expect(own).toEqual(expect.arrayContaining(base));
    }
    expect(names).toEqual(
      expect.arrayContaining(['nodejs_eventloop_lag_p99_seconds', 'nodejs_gc_duration_seconds']),
    );
  });
});

describe('addMetrics', () => {
  /** Callers share one run of this; no request waits for a query of its own. */
  const SHARED = new Set(['aggregate-usage']);

  it('adds the batches of every Batcher', () => {
    const registry = new MetricsRegistry();
    const addBatches = jest.spyOn(registry, 'addBatches');
    const instances = store.app.get(DiscoveryService, { strict: false }).getProviders();
    const providers = new Set(instances.map(({ instance }) => instance as Partial<MetricsSource> | null));
    const batchers = [...providers].flatMap((provider) => {
      provider?.addMetrics?.(registry);
      return Object.entries<unknown>({ ...provider })
        .filter((entry): entry is [string, Batcher<unknown, unknown>] => entry[1] instanceof Batcher)
        .map(([name, { metrics: batches }]) => ({
          batches,
          line: `${provider?.constructor.name}.${name}: client: prisma, or addMetrics() with addBatches()`,
        }));
    });
    expect(batchers.length).toBeGreaterThan(4);
    const added = new Set(addBatches.mock.calls.flat());
    const missing = batchers.filter(({ batches }) => !added.has(batches) && !SHARED.has(batches.name));
    expect(missing.map(({ line }) => line)).toStrictEqual([]);
  });
});

describe('metrics of connections', () => {
  const OWN = /^(connection|request_duration)/;

  it('count each connection without a request by the status of its response', async () => {
    const bytes: [string | Buffer, number][] = [
      ['nonsense\r\n\r\n', 400],
      [Buffer.from('160301006d0100006903037a', 'hex'), 400],
      [head('GET /livez', `A: ${'a'.repeat(17 * 1024)}`), 431],
    ];
    const grown = await growth(OWN, async () => {
      for (const [sent, status] of bytes) {
        expect((await sendRaw(store.url, sent)).status).toBe(status);
      }
    });
    expect(grown).toEqual({ 'connection_errors_total 400': 2, 'connection_errors_total 431': 1 });
  });

  it('count slow headers as 408, and a body that did not arrive whole as 400 of its operation', async () => {
    const server: Server = store.app.getHttpServer();
    const { headersTimeout, requestTimeout } = server;
    Object.assign(server, { headersTimeout: 100, requestTimeout: 100 });
    const post = (...headers: string[]) =>
      `${head('POST /v1/pets', 'Content-Type: application/json', 'Content-Length: 29', ...headers)}{"name":`;
    const slow = [
      'GET /v1/pets HTTP/1.1\r\nHost: x\r\n',
      post(`Authorization: Bearer ${store.key}`),
      post('Connection: close'),
    ];
    const grown = await growth(OWN, async () => {
      const responses = await Promise.all(slow.map((sent) => sendRaw(store.url, sent)));
      expect(responses.map(({ status, body }) => [status, JSON.parse(body).code])).toEqual([
        [408, 'request_timeout'],
        [408, 'request_timeout'],
        [408, 'request_timeout'],
      ]);
      await until(async () => (await counts(/400 http createPet$/))[0]?.[1] === 2);
    });
    Object.assign(server, { headersTimeout, requestTimeout });
    expect(grown).toEqual({
      'connection_errors_total 408': 3,
      'request_duration_seconds_count POST /v1/pets 400 http createPet': 2,
    });
  });

  it('count each connection that is closed by its bound', async () => {
    const grown = await growth(OWN, async () => {
      await expect(sendRaw(store.url, head('GET /livez').repeat(33))).rejects.toThrow('ECONNRESET');
    });
    expect(grown).toMatchObject({ 'connections_closed_total pipelined': 1 });
    expect((await counts(/^connections_closed/)).map(([name]) => name.split(' ')[1])).toEqual(
      expect.arrayContaining(['pipelined', 'unread_bytes', 'connections']),
    );
  });
});

describe('metrics of requests', () => {
  it('count by method, route, status and operation; unknown paths have no route', async () => {
    const { key } = store;
    const grown = await growth(/^request(_duration|s_deprecated)/, async () => {
      await call(key, 2);
      await call(key, 1, { method: 'POST', body: { name: 'Rex', categoryId: 1 } });
      await call(key, 1, { method: 'POST', body: '{' });
      for (const path of ['/v1/pets/1', '/v1/pets/999', '/v1/nothing', '/nothing', '/v1/%zz']) {
        await call(key, 1, { path });
      }
      await call(key, 1, { method: 'HEAD' });
      await call(key, 1, { method: 'PROPFIND' });
      await call(undefined, 1, { headers: { 'X-Forwarded-Proto': 'gopher' } });
    });
    expect(grown).toEqual({
      'requests_deprecated_total getPet': 2,
      'request_duration_seconds_count POST /v1/pets 201 http createPet': 1,
      'request_duration_seconds_count POST /v1/pets 400 http createPet': 1,
      'request_duration_seconds_count GET /v1/pets/{petId} 200 http getPet': 1,
      'request_duration_seconds_count GET /v1/pets/{petId} 404 http getPet': 1,
      'request_duration_seconds_count GET /v1/pets 200 http listPets': 2,
      'request_duration_seconds_count GET /v1/pets 401 http listPets': 1,
      'request_duration_seconds_count HEAD /v1/pets 200 http listPets': 1,
      'request_duration_seconds_count GET  404 http none': 3,
      'request_duration_seconds_count _OTHER  405 http none': 1,
    });
    const read = await metrics();
    const removal = read.value('animal_store_deprecated_operation_sunset_timestamp_seconds', {
      operation: 'getPet',
    });
    expect(removal).toBe(Date.parse('2030-12-05T00:00:00Z') / 1000);
    const texts = read.samples.flatMap(({ labels }) => Object.values(labels));
    expect(texts.filter((label) => label.includes('nothing'))).toStrictEqual([]);
  });

  it('have a zero for each failure of a requested operation, so that the first is an increase', async () => {
    await call(store.key);
    await call(store.key, 1, { path: '/v1/nothing' });
    expect(await counts(/^request_duration_seconds_count GET (\/v1\/pets)? 5/)).toEqual([
      ['request_duration_seconds_count GET /v1/pets 500 http listPets', 0],
      ['request_duration_seconds_count GET /v1/pets 503 http listPets', 0],
    ]);
  });

  it('take the scheme that a trusted proxy forwards, and no other word', async () => {
    const environment = { ...ANY_PORT, TRUST_PROXY: 1 };
    const proxied = await startApplication({ database: store.database, environment });
    for (const scheme of ['https', 'gopher']) {
      await send(`${proxied.url}/v1/pets`, { headers: { 'X-Forwarded-Proto': scheme } });
    }
    const { samples } = await scrape(metricsUrl(proxied));
    const counted = samples.filter(({ name, value }) => name === `${REQUESTS}_count` && value > 0);
    expect(counted.map(({ labels: { url_scheme: scheme } }) => scheme)).toEqual(['https', 'http']);
    await proxied.close();
  });

  it("have the buckets that OpenTelemetry's conventions advise, and two for faster requests", async () => {
    const { samples } = await metrics();
    const bounds = samples
      .filter(({ name, labels }) => name === `${REQUESTS}_bucket` && labels['operation'] === 'none')
      .map(({ labels: { le } }) => Number(le?.replace('+Inf', 'Infinity')));
    const advised = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
    expect([...new Set(bounds)]).toEqual([0.001, 0.0025, ...advised, Infinity]);
  });
});

describe('metrics of limits', () => {
  const OWN = /^(rate_limit|bans)/;

  it('count allowed requests by plan, denied requests by plan and reason, and bans', async () => {
    const minute = await store.issue({ plan: 'pro', perMinute: 2, perDay: 100 });
    const day = await store.issue({ plan: 'business', perMinute: 50, perDay: 1 });
    const grown = await growth(OWN, async () => {
      const statuses = await call(minute.key, requestsBeforeBan(2) + 2);
      expect(statuses).toEqual([200, 200, ...Array<number>(denialsBeforeBan(2) + 2).fill(429)]);
      expect(await call(day.key, 3)).toEqual([200, 429, 429]);
    });
    expect(grown).toEqual({
      'rate_limit_allowed_total pro': 2,
      'rate_limit_allowed_total business': 1,
      'rate_limit_denied_total pro minute': denialsBeforeBan(2) - 1,
      'rate_limit_denied_total pro ban': 3,
      'rate_limit_denied_total business day': 2,
      'bans_started_total pro': 1,
    });
  });

  it('count anonymous clients separately, and only denied ones with a limit of their own', async () => {
    const { key } = await store.issue();
    const grown = await growth(OWN, async () => {
      await call(undefined, 3);
      for (const request of [{ path: '/v1/rate-limit' }, { path: '/v1/keys/x/revoke', method: 'POST' }]) {
        const statuses = await call(key, 61, request);
        expect(statuses.filter((status) => status === 429)).toHaveLength(1);
      }
    });
    expect(grown).toEqual({
      'rate_limit_allowed_total (anonymous)': 3,
      'rate_limit_denied_total free rate_limit_status': 1,
      'rate_limit_denied_total free key_revocation': 1,
    });
  });
});

describe('metrics of the stores', () => {
  it('have the duration and the batch size of queries', async () => {
    const own = await metrics();
    await call(store.key);
    await Promise.all(Array.from({ length: 20 }, () => call(store.key)));
    const read = await metrics();
    for (const query of ['count-requests', 'page-of-pets']) {
      const grown = (part: string) => {
        const name = `animal_store_query_${part}`;
        return (read.value(name, { query }) ?? NaN) - (own.value(name, { query }) ?? 0);
      };
      expect([grown('batch_size_sum'), grown('requests_failed_total')]).toEqual([21, 0]);
      expect(grown('batch_size_count')).toBe(grown('duration_seconds_count'));
      expect(grown('duration_seconds_sum')).toBeGreaterThan(0);
    }
  });

  it('count hits and misses of the key cache, and show whether the cache is current', async () => {
    const { key } = await store.issue();
    await until(async () => (await metrics()).value('animal_store_api_key_cache_current') === 1);
    expect(await growth(/^api_key_cache/, () => call(key, 3))).toEqual({
      'api_key_cache_lookups_total hit': 2,
      'api_key_cache_lookups_total miss': 1,
    });
    expect((await metrics()).value('animal_store_api_key_cache_age_seconds')).toBeLessThan(0.8);
  });

  it('have the size of both pools, and the number of requests that wait for a connection', async () => {
    await call(store.key);
    await store.issue();
    const read = await metrics();
    for (const [pool, max] of Object.entries({ transactions: 3, queries: 9 })) {
      const connections = (state: string) =>
        read.value('animal_store_database_connections', { pool, state }) ?? NaN;
      expect(read.value('animal_store_database_connections_max', { pool })).toBe(max);
      expect(read.value('animal_store_database_queries_pending', { pool })).toBe(0);
      expect(connections('idle') + connections('used')).toBeGreaterThanOrEqual(1);
    }
  });

  it('count replayed responses and usage that is not written yet', async () => {
    const headers = { 'Idempotency-Key': 'k' };
    const again = { method: 'POST', body: { name: 'Rex', categoryId: 1 }, headers };
    const grown = await growth(/^(idempotent|usage)/, () => call(store.key, 3, again));
    expect(grown).toEqual({ idempotent_replays_total: 2 });
    await until(async () => (await metrics()).value('animal_store_usage_entries_queued') === 0);
  });
});

describe('metrics during an outage of the counter store', () => {
  it('show the outage, the requests counted locally, and the recovery', async () => {
    const proxy = await startDatabaseProxy(store.database.url);
    const shared = store.app.get<CounterStore, PostgresCounterStore>(CounterStore);
    jest.replaceProperty(shared['connection']['pool'].options, 'connectionString', proxy.url);
    const { key } = store;
    // From now on it connects by the proxy.
    await store.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'animal-store ` +
        `counters'`,
    );
    await until(() => shared['connection']['pool'].totalCount === 0);
    expect(await call(key)).toEqual([200]);
    const isOpen = async () => (await metrics()).value('animal_store_rate_limit_degraded') === 1;
    expect(await isOpen()).toBe(false);
    proxy.goAway();
    const grown = await growth(/^rate_limit_degraded_decisions|^query_requests_failed/, async () => {
      await until(() => shared['connection']['pool'].totalCount === 0);
      expect(await call(key, 2)).toEqual([200, 200]);
    });
    expect(grown).toEqual({
      rate_limit_degraded_decisions_total: 2,
      'query_requests_failed_total count-requests': 1,
    });
    expect(await isOpen()).toBe(true);
    await proxy.comeBack();
    await until(async () => (await call(key)).length === 1 && !(await isOpen()));
    proxy.close();
  });
});
