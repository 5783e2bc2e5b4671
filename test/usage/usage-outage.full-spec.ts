import { randomUUID } from 'node:crypto';

import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { eventually } from '../support/eventually.js';
import { hold } from '../support/database/holding.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { send } from '../support/http/http.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { aggregateUsage, recordUsage } from '../support/keys/usage.js';

/** Half a minute into a minute, an hour and a day, all of which began at different instants. */
const HALF_PAST = new Date('2027-03-05T12:34:30.000Z');

const WRITTEN_AGAIN = 'Usage is written again; requests dropped meanwhile: 0';

describe('UsageRecorder, while the database is unavailable', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let store: TestApplication;
  let recorder: UsageRecorder;
  let key: IssuedKey;
  let warnings: jest.SpyInstance;

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startDatabaseProxy(database.url);
    store = await startApplication({ database, environment: { DATABASE_URL: proxy.url } });
    store.clock.travelTo(HALF_PAST);
    recorder = store.app.get(UsageRecorder);
    warnings = jest.spyOn(recorder['logger'], 'warn').mockImplementation();
    key = await store.issue(UNLIMITED);
  });
  afterEach(async () => {
    await store.close();
    proxy.close();
    await database.drop();
  });

  const call = () => send(`${store.url}/v1/pets`, { key: key.key });

  const queuedRequests = () => recorder['queued'].reduce((sum, { requests }) => sum + requests, 0);

  /** Calls until a request waits to be written; returns the number of calls. */
  async function callUntilSomethingWaits(): Promise<number> {
    for (let sent = 1; ; sent += 1) {
      await call();
      if (queuedRequests() > 0) {
        return sent;
      }
    }
  }

  /** Returns the number of stored requests, and expects the same number for each period. */
  async function stored(): Promise<number> {
    await aggregateUsage(database.url);
    const rows = await database.query<{ sum: number }>(
      'SELECT sum(succeeded + client_errors + server_errors)::int AS sum FROM usage GROUP BY period',
    );
    const sums = rows.map(({ sum }) => sum);
    expect(new Set(sums).size).toBeLessThanOrEqual(1);
    return sums[0] ?? 0;
  }

  it('loses no entry, and logs one line when the database goes away and one when it is back', async () => {
    const sent = await callUntilSomethingWaits();
    proxy.goAway();
    // Two attempts fail, and one line reports both.
    await recorder.flush();
    await recorder.flush();
    expect(warnings.mock.calls).toEqual([
      [expect.stringMatching(/^Usage cannot be written and is kept in memory: .+$/)],
    ]);
    await proxy.comeBack();
    await eventually(async () => expect((await call()).status).toBe(200));
    await eventually(async () => expect(warnings.mock.lastCall).toEqual([WRITTEN_AGAIN]));
    await recordUsage(store);
    expect(await stored()).toBe(sent + 1);
    expect(warnings).toHaveBeenCalledTimes(2);
  });

  it('retries a batch whose response was lost while the server processes it, and adds it once', async () => {
    await call();
    await recordUsage(store);
    const holder = await hold(database.url, 'LOCK TABLE usage_batches IN EXCLUSIVE MODE');
    await call();
    await eventually(() => expectLocksWaitedFor(database, 1));
    proxy.goAway();
    await recorder.flush();
    expect(warnings).toHaveBeenCalledTimes(1);
    await proxy.comeBack();
    await eventually(() => expectLocksWaitedFor(database, 2));
    await holder.letGo();
    await eventually(async () => expect(warnings.mock.lastCall).toEqual([WRITTEN_AGAIN]));
    expect(await stored()).toBe(2);
    await eventually(async () => expect((await call()).status).toBe(200));
    await recordUsage(store);
    expect(await stored()).toBe(3);
  });

  it('logs at shutdown how many requests could not be written, and why', async () => {
    const errors = jest.spyOn(recorder['logger'], 'error').mockImplementation();
    await callUntilSomethingWaits();
    const waiting = queuedRequests();
    proxy.goAway();
    await store.app.close();
    const logged = `The usage of ${waiting} requests could not be written before the end: `;
    expect(errors.mock.calls).toEqual([[expect.stringMatching(`^${logged}.+$`)]]);
  });

  it('keeps at most 50,000 entries, logs once that it is full, and later how many it dropped', async () => {
    const errors = jest.spyOn(recorder['logger'], 'error').mockImplementation();
    const request = {
      quotaId: randomUUID(),
      operation: 'listPets',
      deprecated: false,
      status: 200,
      atMs: store.clock.now(),
    };
    const record = (keyId: string) => recorder.record({ keyId, ...request });
    proxy.goAway();
    const recordKeys = (count: number) => Array.from({ length: count }, randomUUID).forEach(record);
    recordKeys(50_000);
    await eventually(async () => expect(queuedRequests()).toBe(50_000));
    expect(errors).not.toHaveBeenCalled();
    recordKeys(7);
    const logged: unknown = expect.stringMatching(/^Usage is no longer recorded: 50000 entries /);
    await eventually(async () => expect(errors.mock.calls).toEqual([[logged]]));

    await proxy.comeBack();
    const isBack = ['Usage is written again; requests dropped meanwhile: 7'];
    await eventually(async () => expect(warnings.mock.lastCall).toEqual(isBack), 20_000);
    expect(await stored()).toBe(50_000);
    expect(errors).toHaveBeenCalledTimes(1);
  });
});
