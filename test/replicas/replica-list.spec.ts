import { hostname } from 'node:os';
import { Logger } from '@nestjs/common';
import type { IssuedKey } from '../../src/admin/key.schemas.js';
import type { Replica } from '../../src/admin/replica.schemas.js';
import { CounterStoreError } from '../../src/rate-limit/stores/counter-store.js';
import {
  FallbackCounterStore,
  SHARED_COUNTER_STORE,
} from '../../src/rate-limit/stores/fallback-counter-store.js';
import type { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { ReplicaHeartbeat } from '../../src/replicas/replica.heartbeat.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';

let database: TestDatabase;
let first: TestApplication;
let second: TestApplication;
let admin: IssuedKey;
let client: IssuedKey;

beforeAll(async () => {
  database = await createDatabase();
  first = await startApplication({ database });
  second = await startApplication({ database, clock: first.clock });
  admin = await first.issue({ role: 'admin', plan: 'business' });
  client = await first.issue();
});
afterAll(async () => {
  await first.close();
  await database.drop();
});

const heartbeatOf = ({ app }: TestApplication) => app.get(ReplicaHeartbeat);
const list = async (): Promise<Replica[]> => {
  const { status, json } = await send(`${first.url}/admin/replicas`, { key: admin.key });
  expect(status).toBe(200);
  return json;
};
const ids = async () => (await list()).map(({ id }) => id);

describe('GET /admin/replicas', () => {
  it('lists a replica by itself, seconds after its start', async () => {
    await eventually(async () => expect(await ids()).toContain(heartbeatOf(first).id), 15_000);
  });

  it('returns 200 with the replicas, oldest start first, to administrators only', async () => {
    await heartbeatOf(second).beat();
    await heartbeatOf(first).beat();
    const response = await send(`${first.url}/admin/replicas`, { key: admin.key });
    expectRateLimitHeaders(response);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(response.json).toEqual(
      [first, second].map((replica) => ({
        id: heartbeatOf(replica).id,
        host: hostname(),
        startedAt: time,
        seenAt: time,
        countsLocallySince: null,
      })),
    );
    for (const { startedAt, seenAt } of response.json) {
      expect(Date.parse(startedAt)).toBeLessThan(Date.parse(seenAt));
    }
    expectError(await send(`${first.url}/admin/replicas`, { key: client.key }), 403, 'forbidden');
  });

  it('keeps the start and renews the time of the last heartbeat', async () => {
    const [before] = await list();
    await heartbeatOf(first).beat();
    const [after] = await list();
    expect(after?.startedAt).toBe(before?.startedAt);
    expect(Date.parse(after?.seenAt ?? '')).toBeGreaterThan(Date.parse(before?.seenAt ?? ''));
  });

  it('returns since when a replica counts locally, and null once its store counts again', async () => {
    const shared = second.app.get<PostgresCounterStore>(SHARED_COUNTER_STORE);
    const away = new CounterStoreError('noConnection', new Error('away'));
    const spies = [
      jest.spyOn(shared, 'consume').mockRejectedValue(away),
      jest.spyOn(shared, 'reconcile').mockRejectedValue(away),
    ];
    const warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const since = second.clock.now();
    await send(`${second.url}/v1/pets`, { key: client.key });
    expect(second.app.get(FallbackCounterStore).breakerState).toBe('open');
    await heartbeatOf(second).beat();
    const countsSince = (await list())[1]?.countsLocallySince ?? '';
    expect(Date.parse(countsSince)).toBeGreaterThanOrEqual(since);
    expect(Date.parse(countsSince)).toBeLessThanOrEqual(second.clock.now());
    spies.forEach((spy) => spy.mockRestore());
    await eventually(async () => {
      await heartbeatOf(second).beat();
      expect((await list())[1]?.countsLocallySince).toBeNull();
    }, 5_000);
    warnings.mockRestore();
  });

  it('leaves out replicas that were not seen for an hour, and deletes them after a day', async () => {
    await database.query(
      `INSERT INTO replicas VALUES
       (gen_random_uuid(), 'seen', '2001-01-01', now() - interval '50 minutes'),
       (gen_random_uuid(), 'not seen', '2001-01-01', now() - interval '61 minutes'),
       (gen_random_uuid(), 'of yesterday', '2001-01-01', now() - interval '25 hours')`,
    );
    await heartbeatOf(first).beat();
    expect((await list()).map(({ host }) => host)).toEqual(['seen', hostname(), hostname()]);
    expect(
      await database.query("SELECT host FROM replicas WHERE started_at = '2001-01-01' ORDER BY 1"),
    ).toEqual([{ host: 'not seen' }, { host: 'seen' }]);
    await database.query("DELETE FROM replicas WHERE started_at = '2001-01-01'");
  });

  it('logs one line when heartbeats fail, and one when they are written again', async () => {
    const warnings = jest.spyOn(heartbeatOf(first)['logger'], 'warn').mockImplementation();
    await database.query('ALTER TABLE replicas RENAME TO replicas_away');
    try {
      for (let failed = 0; failed < 3; failed += 1) {
        await expect(heartbeatOf(first).beat()).rejects.toThrow('does not exist');
      }
    } finally {
      await database.query('ALTER TABLE replicas_away RENAME TO replicas');
    }
    await heartbeatOf(first).beat();
    await heartbeatOf(first).beat();
    // Its own heartbeat may have failed meanwhile.
    await heartbeatOf(second).beat();
    expect(warnings.mock.calls.map(([line]) => String(line))).toEqual([
      'The heartbeat of this replica cannot be written: relation "replicas" does not exist',
      'The heartbeat of this replica is written again',
    ]);
    warnings.mockRestore();
  });

  it('no longer lists a replica that has stopped', async () => {
    expect(await ids()).toContain(heartbeatOf(second).id);
    const { id } = heartbeatOf(second);
    await second.close();
    expect(await ids()).toEqual([heartbeatOf(first).id]);
    expect(await database.query('SELECT id FROM replicas WHERE id = $1', [id])).toEqual([]);
  });
});
