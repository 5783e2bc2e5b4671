import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import getPort from 'get-port';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { issueKey } from '../support/keys/keys.js';
import { hold } from '../support/database/holding.js';
import { scrape } from '../support/http/metrics.js';
import { describeOnPrometheus, type PrometheusServer, startPrometheus } from './prometheus-server.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

interface Panel {
  title: string;
  type: string;
  description?: string;
  targets?: { expr: string }[];
}
interface Dashboard {
  panels: Panel[];
  templating: { list: { name: string; query: string }[] };
}

const FILE = path.join(__dirname, '..', '..', 'deploy', 'grafana', 'animal-store.json');
const { panels, templating } = JSON.parse(readFileSync(FILE, 'utf8')) as Dashboard;
const charts = panels.filter(({ type }) => type !== 'row');

/** What Grafana puts in place of the variables. */
const VARIABLES = { $namespace: 'shop', $pod: 'animal-store-0', $__rate_interval: '1m', $__range: '1m' };
const resolve = (query: string) =>
  Object.entries(VARIABLES).reduce((text, [name, value]) => text.replaceAll(name, value), query);

/** The panels whose queries must have a value above zero under the load of this test. */
const OUTCOMES = [
  'Requests by operation',
  'Failed requests by operation',
  'Responses by status',
  'Creations sent again',
  'Allowed requests by plan',
  'Denied requests by plan and window',
  'Bans started by plan',
  'Replicas that count locally',
  'Requests decided locally',
  'Calls of deprecated operations',
  'Requests shed by overload',
];

describeOnPrometheus('the dashboard, on a service under a load that makes every outcome', () => {
  const SLOTS = 2;
  const services = new ServiceProcesses();
  let database: TestDatabase;
  /** In front of the database that counts. */
  let counters: DatabaseProxy;
  let url: string;
  let metrics: string;
  let prometheus: PrometheusServer;

  beforeAll(async () => {
    database = await createDatabase();
    counters = await startDatabaseProxy(database.url);
    const port = await getPort({ host: '127.0.0.1' });
    metrics = `http://127.0.0.1:${port}`;
    const service = services.start({
      DATABASE_URL: database.url,
      DIRECT_DATABASE_URL: counters.url,
      METRICS_PORT: String(port),
      MAX_CONCURRENT_REQUESTS_PER_OPERATION: String(SLOTS),
      SHUTDOWN_DELAY: '0s',
    });
    url = await service.ready();
    prometheus = await startPrometheus({ targets: [metrics], interval: '250ms' });
    await makeOutcomes();
    await scraped();
    await makeOutcomes();
    await loseCounters();
    await scraped();
  });
  afterAll(async () => {
    await prometheus.stop();
    await services.end('SIGTERM');
    counters.close();
    await database.drop();
  });

  /** Waits until Prometheus has scraped at least once more. */
  const scraped = () => pause(1000);
  const read = async (name: string) => (await scrape(metrics)).value(name) ?? 0;
  const call = async (key: string, times: number, path_ = '/v1/pets') => {
    for (let sent = 0; sent < times; sent += 1) {
      await send(url + path_, { key });
    }
  };

  async function makeOutcomes(): Promise<void> {
    const unlimited = await issueKey(database, { plan: 'business' });
    const { key } = unlimited;
    await call(key, 5);
    await call(key, 2, '/v1/pets/1');
    // 429 by the minute and then a ban; 429 by the day.
    await call(
      (await issueKey(database, { plan: 'pro', perMinute: 2, perDay: 100 })).key,
      requestsBeforeBan(2),
    );
    await call((await issueKey(database, { plan: 'pro', perMinute: 50, perDay: 1 })).key, 3);
    const creation = { method: 'POST', key, body: { name: 'Rex', categoryId: 1 } };
    for (const headers of [{ 'Idempotency-Key': 'once' }, { 'Idempotency-Key': 'once' }]) {
      await send(`${url}/v1/pets`, { ...creation, headers });
    }
    await shed(creation);
  }

  /**
   * Fills the slots of an operation with requests that wait for a lock, so that one of another client gets
   * 503.
   */
  async function shed(creation: Parameters<typeof send>[1]): Promise<void> {
    const { key } = await issueKey(database, { plan: 'business' });
    // A key that is not cached yet counts for its address.
    await call(key, 1);
    const holder = await hold(database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const waiting = Array.from({ length: SLOTS }, () => send(`${url}/v1/pets`, creation));
    await until(async () => (await inFlight()) === SLOTS);
    expect((await send(`${url}/v1/pets`, { ...creation, key })).status).toBe(503);
    await holder.letGo();
    await Promise.all(waiting);
  }

  const inFlight = async () =>
    (await scrape(metrics)).value('animal_store_requests_in_flight', { operation: 'createPet' });

  /** Makes the service count locally. */
  async function loseCounters(): Promise<void> {
    const { key } = await issueKey(database, { plan: 'business' });
    counters.goAway();
    await until(async () => {
      await call(key, 1);
      return (await read('animal_store_rate_limit_degraded_decisions_total')) > 0;
    });
  }

  it.each(charts)('has data for every query of "$title"', async ({ title, targets = [] }) => {
    expect(targets).not.toStrictEqual([]);
    for (const { expr } of targets) {
      const values = (await prometheus.query(resolve(expr))).map(({ value }) => value);
      expect(values.filter(Number.isFinite)).not.toStrictEqual([]);
      if (OUTCOMES.includes(title)) {
        expect(Math.max(...values.filter(Number.isFinite))).toBeGreaterThan(0);
      }
    }
  });

  it('shows each outcome: both windows and a ban, and the 503 of its operation', async () => {
    const denied = charts.find(({ title }) => title === 'Denied requests by plan and window');
    const series = await prometheus.query(resolve(denied?.targets?.[0]?.expr ?? ''));
    const reasons = series.flatMap(({ labels, value }) => (value > 0 ? [labels['reason']] : []));
    expect(new Set(reasons)).toEqual(new Set(['ban', 'day', 'minute']));
    const failed = charts.find(({ title }) => title === 'Failed requests by operation');
    const failures = await prometheus.query(resolve(failed?.targets?.[0]?.expr ?? ''));
    expect(failures.filter(({ value }) => value > 0).map(({ labels }) => labels['operation'])).toContain(
      'createPet',
    );
    // An operation that was requested just now and has not failed is shown as well.
    expect(failures.map(({ value }) => value)).toContain(0);
  });

  it('offers the values of its variables', async () => {
    for (const name of ['namespace', 'pod'] as const) {
      const { query = '' } = templating.list.find((variable) => variable.name === name) ?? {};
      const [, source = ''] = /^label_values\((.*), \w+\)$/.exec(resolve(query)) ?? [];
      const values = (await prometheus.query(source)).map(({ labels }) => labels[name]);
      expect(values).toEqual([VARIABLES[`$${name}`]]);
    }
  });

  it('has for each panel a question, and titles that differ', () => {
    expect(
      charts.filter(({ description = '' }) => !/[?]/.test(description)).map(({ title }) => title),
    ).toStrictEqual([]);
    expect(new Set(charts.map(({ title }) => title)).size).toBe(charts.length);
    expect(charts.map(({ title }) => title)).toEqual(expect.arrayContaining(OUTCOMES));
  });
});
