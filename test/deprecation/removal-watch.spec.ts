import { MetricsServer } from '../../src/observability/metrics.server.js';
import { RemovalWatch } from '../../src/deprecation/removal-watch.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { aggregateUsage, recordUsage } from '../support/keys/usage.js';
import { scrape } from '../support/http/metrics.js';
import { startApplication, useApplication } from '../support/service/application.js';

const store = useApplication({ environment: { METRICS_PORT: 0 } });
let admin: string;

beforeAll(async () => {
  ({ key: admin } = await store.issue({ ...UNLIMITED, role: 'admin' }));
});

const at = (time: string) => store.clock.travelTo(new Date(time));

/** Calls `getPet` with as many new keys, each twice. */
async function callGetPet(keys: number): Promise<void> {
  for (let issued = 0; issued < keys; issued += 1) {
    const { key } = await store.issue(UNLIMITED);
    await send(`${store.url}/v1/pets/1`, { key });
    await send(`${store.url}/v1/pets/1`, { key });
  }
  await recordUsage(store);
  await aggregateUsage(store.database.url);
}

/** Returns what the health warns of and the metric has, after a count. */
async function watched() {
  await store.app.get(RemovalWatch).count();
  const { json } = await send(`${store.url}/admin/health`, { key: admin });
  const metrics = await scrape(`http://127.0.0.1:${store.app.get(MetricsServer).port}`);
  const samples = metrics.samples.filter(
    ({ name }) => name === 'animal_store_deprecated_operation_recent_callers',
  );
  return { warnings: json.warnings, metric: samples.map(({ labels, value }) => [labels, value]) };
}

const warning = (callers: number) => ({
  code: 'deprecated_operation_called',
  message:
    `getPet will be removed on 2030-12-05, but ${callers} ${callers === 1 ? 'key' : 'keys'} called it ` +
    'in the last 7 days',
});
const metric = (callers: number) => [[{ operation: 'getPet' }, callers]];

describe('the health and the metrics', () => {
  it('have the keys that called an operation in 7 UTC days, for 30 days before its removal', async () => {
    at('2030-10-28T12:00:00Z');
    await callGetPet(2);
    at('2030-11-04T23:59:00Z');
    await callGetPet(1);
    expect(await watched()).toEqual({ warnings: [], metric: [] });
    at('2030-11-05T00:00:00Z');
    expect(await watched()).toEqual({ warnings: [warning(1)], metric: metric(1) });
    at('2030-11-10T23:59:00Z');
    expect(await watched()).toEqual({ warnings: [warning(1)], metric: metric(1) });
    at('2030-11-11T00:00:00Z');
    expect(await watched()).toEqual({ warnings: [], metric: metric(0) });
    await callGetPet(3);
    expect(await watched()).toEqual({ warnings: [warning(3)], metric: metric(3) });
    at('2030-12-05T00:00:00Z');
    expect(await watched()).toEqual({ warnings: [], metric: [] });
  });

  it('have them soon after a start', async () => {
    at('2030-11-11T00:30:00Z');
    const { database, clock } = store;
    const replica = await startApplication({ database, clock });
    at('2030-11-11T00:30:00Z');
    await eventually(async () => expect(replica.app.get(RemovalWatch).warnings).toEqual([warning(3)]));
    await replica.close();
  });

  it('still have the last count while the database cannot count', async () => {
    at('2030-11-11T01:00:00Z');
    await store.app.get(RemovalWatch).count();
    await store.database.query('ALTER TABLE usage RENAME TO lost');
    await expect(store.app.get(RemovalWatch).count()).rejects.toThrow('usage');
    await store.database.query('ALTER TABLE lost RENAME TO usage');
    expect(store.app.get(RemovalWatch).warnings).toEqual([warning(3)]);
  });
});
