import type { IssuedKey } from '../../../src/admin/keys/key.schemas.js';
import {
  FallbackCounterStore,
  SHARED_COUNTER_STORE,
} from '../../../src/rate-limit/stores/fallback-counter-store.js';
import type { PostgresCounterStore } from '../../../src/rate-limit/stores/postgres-counter-store.js';
import { startApplication, type TestApplication } from './application.js';
import { TestClock } from '../counters/clock.js';
import { createDatabase, type TestDatabase } from '../database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../database/database-proxy.js';
import { until } from '../eventually.js';
import { type HttpResponse, send } from '../http/http.js';

/** Much less than any deadline. */
export const AT_ONCE_MS = 300;
const RECOVERY_MS = 2000;
const ANONYMOUS_LIMIT = 5;

/** A replica of which only the connections to the counters can be cut. */
export interface Replica {
  app: TestApplication;
  proxy: DatabaseProxy;
  /** The warnings of its counter store. */
  lines: jest.SpyInstance;
  close(): Promise<void>;
}

// Those of the running test:
export let database: TestDatabase;
export let replica: Replica;
export let key: IssuedKey;
let replicas: Replica[];

/** Creates a database, a replica and a key for each test of the file. */
export function startForEach(): void {
  beforeEach(async () => {
    database = await createDatabase();
    replicas = [];
    replica = await startReplica();
    key = await replica.app.issue();
  });
  afterEach(async () => {
    await Promise.all(replicas.map((each) => each.close()));
    await database.drop();
  });
}

export async function startReplica(clock = new TestClock()): Promise<Replica> {
  const proxy = await startDatabaseProxy(database.url);
  const app = await startApplication({ database, environment: { ANONYMOUS_LIMIT }, clock });
  const store = app.app.get<PostgresCounterStore>(SHARED_COUNTER_STORE);
  jest.replaceProperty(
    store['connection'] as unknown as { environment: object },
    'environment',
    Object.assign({}, store['environment'], { DATABASE_URL: proxy.url }),
  );
  const lines = jest.spyOn(app.app.get(FallbackCounterStore)['logger'], 'warn').mockImplementation();
  const close = async () => {
    await app.close();
    proxy.close();
  };
  const started = { app, proxy, lines, close };
  replicas.push(started);
  return started;
}

export const call = (from = replica, { key: its }: { key?: string } = key) =>
  send(`${from.app.url}/v1/pets`, { key: its });
export const callAtOnce = (count: number, from = replica, its?: { key?: string }) =>
  Promise.all(Array.from({ length: count }, () => call(from, its)));

export async function callTimes(
  count: number,
  from = replica,
  its?: { key?: string },
): Promise<HttpResponse[]> {
  const responses: HttpResponse[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    responses.push(await call(from, its));
  }
  return responses;
}

export const isDegraded = ({ headers }: HttpResponse) => headers.get('x-ratelimit-degraded') === 'true';
export const remaining = ({ headers }: HttpResponse) => Number(headers.get('x-ratelimit-remaining'));
export const served = (responses: HttpResponse[]) => responses.filter(({ status }) => status === 200).length;

export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

/** Returns the stored counters of a key's quota. */
export async function stored({ quotaId } = key): Promise<{ minute: number; day: number } | undefined> {
  const [row] = await database.query<{ minute: number; day: number }>(
    'SELECT minute_used AS minute, day_used AS day FROM rate_limit_counters WHERE bucket_key = $1',
    [`quota:${quotaId}`],
  );
  return row;
}

/** Makes the store refuse connections, and waits until the replica has lost its own. */
export async function refuse({ app, proxy } = replica): Promise<void> {
  proxy.goAway();
  const store = app.app.get<PostgresCounterStore>(SHARED_COUNTER_STORE);
  await until(() => store['connection'].current === null);
}

/** Waits until the store responds again. Uses another key, so that the counters of the test's key do not change. */
export async function recovered(from = replica): Promise<void> {
  const others = await from.app.issue({ plan: 'business' });
  const start = performance.now();
  await until(async () => !isDegraded(await call(from, others)));
  expect(performance.now() - start).toBeLessThan(RECOVERY_MS);
}
