import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import getPort from 'get-port';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { hasRedis, type RedisServer, startRedis } from '../support/programs/redis.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { hold } from '../support/database/holding.js';
import { type Alertmanager, hasAlertmanager, startAlertmanager } from './alertmanager.js';
import { describeOnPrometheus, type PrometheusServer, startPrometheus } from './prometheus-server.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const RULES = path.join(__dirname, '..', '..', 'deploy', 'prometheus', 'rules.yml');
/** How much shorter all durations of the rules are here: five minutes are 2.5 s. */
const HASTE = 120;
const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The rules with shorter windows and delays; their expressions, thresholds and texts stay. */
function hastenedRules(): string {
  const hasten = (_all: string, before: string, count: string, unit = '', after: string) =>
    `${before}${(Number(count) * (UNIT_MS[unit] ?? 0)) / HASTE}ms${after}`;
  return readFileSync(RULES, 'utf8').replaceAll(/(\[|for: )(\d+)([mhd])(\]|\n)/g, hasten);
}

const describeWithFaults = hasAlertmanager && hasRedis() ? describeOnPrometheus : describe.skip;

describeWithFaults('an alert that is resolved after its fault', () => {
  const SLOTS = 10;
  const services = new ServiceProcesses();
  let database: TestDatabase;
  /** In front of the database of requests. */
  let queries: DatabaseProxy;
  /** In front of the database whose changes of keys the service receives. */
  let changes: DatabaseProxy;
  let redis: RedisServer;
  let alertmanager: Alertmanager;
  let prometheus: PrometheusServer;
  let url: string;
  let key: string;
  const load = new AbortController();
  let loading: Promise<unknown>;

  beforeAll(async () => {
    database = await createDatabase();
    queries = await startDatabaseProxy(database.url);
    changes = await startDatabaseProxy(database.url);
    redis = await startRedis();
    alertmanager = await startAlertmanager();
    const port = await getPort({ host: '127.0.0.1' });
    const service = services.start({
      DATABASE_URL: queries.url,
      DIRECT_DATABASE_URL: changes.url,
      COUNTER_STORE_URL: redis.url,
      METRICS_PORT: String(port),
      MAX_CONCURRENT_REQUESTS_PER_OPERATION: String(SLOTS),
      SHUTDOWN_DELAY: '0s',
    });
    url = await service.ready();
    ({ key } = await issueKey(database, { plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 }));
    await create();
    loading = Promise.all([repeatedly(`${url}/v1/pets`, { key }), repeatedly(`${url}/readyz`)]);
    prometheus = await startPrometheus({
      targets: [`http://127.0.0.1:${port}`],
      interval: '250ms',
      rules: hastenedRules(),
      alertmanager: alertmanager.address,
    });
  });
  afterAll(async () => {
    load.abort();
    await loading;
    await prometheus.stop();
    await alertmanager.stop();
    await services.end('SIGTERM');
    await redis.stop();
    queries.close();
    changes.close();
    await database.drop();
  });

  const create = () => send(`${url}/v1/pets`, { method: 'POST', key, body: { name: 'Rex', categoryId: 1 } });

  /** Sends requests as the clients of the service do, or probes as a load balancer does. */
  async function repeatedly(target: string, init?: { key: string }): Promise<void> {
    while (!load.signal.aborted) {
      await send(target, init);
      await pause(50);
    }
  }

  /**
   * Repeats a fault that is soon over until the alert has arrived: a busy machine may scrape too rarely to
   * see it once.
   */
  async function repeat(fault: () => Promise<void>, arrival: Promise<void>): Promise<void> {
    const arrived = new AbortController();
    const stop = () => arrived.abort();
    void arrival.then(stop, stop);
    while (!arrived.signal.aborted) {
      await fault();
    }
    await arrival;
  }

  const expectQuiet = async ({ alertname }: Record<string, string>) =>
    expect(await prometheus.query(`ALERTS{alertname="${alertname}"}`)).toStrictEqual([]);

  /** Expects an alert that names where it fires and what to do. */
  async function expectAlert(labels: Record<string, string>): Promise<void> {
    const { labels: all, annotations } = await alertmanager.notice('firing', labels);
    expect(all).toMatchObject({ namespace: 'shop' });
    expect(annotations['description']).toContain('shop');
    expect(annotations['runbook_url']).toMatch(new RegExp(`/runbooks\\.md#${labels['alertname']}$`, 'i'));
  }

  const expectResolution = (labels: Record<string, string>) =>
    expect(alertmanager.notice('resolved', labels)).resolves.toBeDefined();

  it('arrives when the database of requests is unavailable', async () => {
    const alert = { alertname: 'AnimalStoreRequestsFail', severity: 'page', objective: 'requests' };
    await expectQuiet(alert);
    queries.goAway();
    await expectAlert(alert);
    // The page also arrives if a load balancer sends requests to no replica, because none is ready.
    await until(async () => (await prometheus.query('animal_store:burn_rate{window="2m"}')).length > 0);
    await queries.comeBack();
    await expectResolution(alert);
  });

  it('arrives when the counter store has ended', async () => {
    const alert = { alertname: 'AnimalStoreRateLimitDegraded' };
    await expectQuiet(alert);
    const { port } = redis;
    await redis.stop();
    await expectAlert(alert);
    redis = await startRedis({}, { port });
    await expectResolution(alert);
  });

  it('arrives when changes of keys no longer arrive', async () => {
    const alert = { alertname: 'AnimalStoreKeyCacheNotCurrent' };
    await expectQuiet(alert);
    changes.goAway();
    await expectAlert(alert);
    await changes.comeBack();
    await expectResolution(alert);
  });

  it('arrives when many clients ignore Retry-After', async () => {
    const alert = { alertname: 'AnimalStoreBansSurge' };
    await expectQuiet(alert);
    const { key: first } = await issueKey(database, { plan: 'pro' });
    await send(`${url}/v1/pets`, { key: first });
    await repeat(async () => {
      for (let client = 0; client < 16; client += 1) {
        const { key: banned } = await issueKey(database, { plan: 'pro', perMinute: 2, perDay: 100 });
        await Promise.all(
          Array.from({ length: requestsBeforeBan(2) }, () => send(`${url}/v1/pets`, { key: banned })),
        );
      }
    }, expectAlert(alert));
    await expectResolution(alert);
  });

  it('arrives when a lock holds requests until no slot is left', async () => {
    const alert = { alertname: 'AnimalStoreRequestsShed', operation: 'createPet' };
    await expectQuiet(alert);
    const holder = await hold(database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const sent: ReturnType<typeof create>[] = [];
    await repeat(async () => {
      sent.push(...Array.from({ length: SLOTS * 5 }, () => create()));
      await pause(500);
    }, expectAlert(alert));
    await holder.letGo();
    expect((await Promise.all(sent)).some(({ status }) => status === 429)).toBe(true);
    await expectResolution(alert);
  });
});
