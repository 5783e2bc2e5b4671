import { readEnvironment } from '../../src/process/settings/environment.js';
import { DAY_MS, MINUTE_MS, WrongClock } from '../support/time/clock.js';
import { type ServiceHome, sharedStores } from '../support/counter-stores.js';
import { descending } from './counting.js';
import { send } from '../support/http/http.js';
import { limitHeaders } from '../support/http/rate-limit-headers.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

describe.each(sharedStores)('replicas with wrong clocks, counting in %s', (_name, start) => {
  let home: ServiceHome;
  let replicas: TestApplication[];

  beforeAll(async () => {
    home = await start();
    const { COUNTER_STORE_URL } = readEnvironment(home.settings);
    replicas = [];
    for (const aheadMs of [5 * MINUTE_MS, -5 * MINUTE_MS]) {
      const clock = new WrongClock(aheadMs);
      const environment = { COUNTER_STORE_URL, BAN_DURATIONS: [] };
      replicas.push(await startApplication({ database: home.database, environment, clock }));
    }
    replicas[0]?.clock.returnToPresent();
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await home.stop();
  });

  it('share one window, one reset and one count', async () => {
    // A day is long enough not to end meanwhile.
    const limits = { perMinute: 1_000_000, perDay: 30 };
    const { key } = await (replicas[0] as TestApplication).issue({ plan: 'enterprise', ...limits });
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, index) => send(`${replicas[index % 2]?.url}/v1/pets`, { key })),
    );
    const dayEnd = (Math.floor(Date.now() / DAY_MS) + 1) * (DAY_MS / 1000);
    const headersByStatus = (status: number) =>
      responses.filter((response) => response.status === status).map(limitHeaders);
    expect(headersByStatus(200).toSorted(([, a = 0], [, b = 0]) => b - a)).toEqual(
      descending(29, 0).map((left) => [30, left, dayEnd]),
    );
    expect(headersByStatus(429)).toEqual(Array.from({ length: 70 }, () => [30, 0, dayEnd]));
  });
});
