import { UsageJournal } from '../../src/usage/usage.journal.js';
import { WebhookEventWatch } from '../../src/webhooks/event-watch.js';
import { readEnvironment } from '../../src/process/settings/environment.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { type ServiceHome, sharedStores } from '../support/counter-stores.js';
import { send } from '../support/http/http.js';
import { recordUsage } from '../support/keys/usage.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

describe.each(sharedStores)('the events of a quota that %s counts', (_name, start) => {
  let home: ServiceHome;
  let store: TestApplication;

  beforeAll(async () => {
    home = await start();
    const { COUNTER_STORE_URL } = readEnvironment(home.settings);
    store = await startApplication({ database: home.database, environment: { COUNTER_STORE_URL } });
  });
  afterAll(async () => {
    await store.close();
    await home.stop();
  });

  it('are those of its day limit and its ban, each once', async () => {
    const { key: administrator } = await store.issue({ plan: 'business', role: 'admin' });
    const key = await store.issue({ plan: 'enterprise', perMinute: 10, perDay: 10 });
    const events = ['quota.day_limit_approaching', 'quota.day_limit_reached', 'quota.banned'];
    const body = { url: 'https://webhooks.invalid/', events };
    await send(`${store.url}/admin/webhooks`, { method: 'POST', key: administrator, body });
    const use = async (times: number) => {
      for (let sent = 0; sent < times; sent += 1) {
        await send(`${store.url}/v1/pets`, { key: key.key });
        await send(`${store.url}/v1/rate-limit`, { key: key.key });
      }
      await recordUsage(store);
      await store.app.get(UsageJournal).aggregate();
      await store.app.get(WebhookEventWatch).findEvents();
    };
    const found = async () => {
      const rows = await home.database.query<{ payload: { type: string; data: Record<string, unknown> } }>(
        'SELECT payload FROM webhook_deliveries ORDER BY created_at, event_type',
      );
      return rows.map(({ payload: { type, data } }) => [type, data['quotaId'], data['used']]);
    };
    await use(7);
    expect(await found()).toStrictEqual([]);
    await use(2);
    expect(await found()).toEqual([['quota.day_limit_approaching', key.quotaId, 9]]);
    await use(requestsBeforeBan(10));
    expect((await found()).slice(1)).toEqual([
      ['quota.banned', key.quotaId, undefined],
      ['quota.day_limit_reached', key.quotaId, 10],
    ]);
    await use(1);
    expect(await found()).toHaveLength(3);
  });
});
