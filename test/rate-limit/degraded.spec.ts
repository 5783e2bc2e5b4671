import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { CounterStore } from '../../src/rate-limit/stores/counter-store.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import type { PostgresCounterStore } from '../../src/rate-limit/stores/postgres-counter-store.js';
import { ban, denialsBeforeBan } from '../support/keys/bans.js';
import { descending } from './counting.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually, until } from '../support/eventually.js';
import { expectError, expectRateLimitHeaders, quotingId } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { isDegraded, remaining } from '../support/http/rate-limit-headers.js';
import { hold } from '../support/database/holding.js';
import { listPetsTimes, useApplication } from '../support/service/application.js';

/** Much less than any deadline. */
const AT_ONCE_MS = 300;
/** The longest wait of a request when the store hangs: the deadline, and a margin for a busy machine. */
const WAIT_MS = 750 + 400;
const RECOVERY_MS = 2000;

const replica = useApplication();
let store: PostgresCounterStore;
let fallback: FallbackCounterStore;
/** Only the connections to the counters can be cut. */
let proxy: DatabaseProxy;
let key: IssuedKey;
/** The warnings of the counter store. */
let lines: jest.SpyInstance;

beforeAll(async () => {
  store = replica.app.get<CounterStore, PostgresCounterStore>(CounterStore);
  fallback = replica.app.get(FallbackCounterStore);
  proxy = await startDatabaseProxy(replica.database.url);
  jest.replaceProperty(store['connection']['pool'].options, 'connectionString', proxy.url);
  lines = jest.spyOn(fallback['logger'], 'warn').mockImplementation();
});
beforeEach(async () => {
  lines.mockClear();
  replica.clock.travelToMinuteStart();
  key = await replica.issue();
});
afterEach(async () => {
  await proxy.comeBack();
  await until(async () => {
    await fallback['endOutage']();
    return fallback.outage === null;
  });
});
afterAll(() => proxy.close());

const call = () => send(`${replica.url}/v1/pets`, { key: key.key });
const callTimes = (count: number) => listPetsTimes(replica, key.key, count);
const served = (responses: HttpResponse[]) => responses.filter(({ status }) => status === 200).length;

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

/** Returns the stored counters of the quota. */
const stored = () =>
  replica.database.query(
    'SELECT minute_used AS minute, day_used AS day FROM rate_limit_counters WHERE bucket_key = $1',
    [`quota:${key.quotaId}`],
  );

/** Makes the store refuse connections, and waits until the replica has lost its own. */
async function refuse(): Promise<void> {
  proxy.goAway();
  await until(() => store['connection']['pool'].totalCount === 0);
}

/**
 * Waits until the store responds again. Uses another key, so that the counters of the test's key do not
 * change.
 */
async function recovered(): Promise<void> {
  const other = await replica.issue({ plan: 'business' });
  const isCounted = async () => !isDegraded(await send(`${replica.url}/v1/pets`, { key: other.key }));
  await until(isCounted, RECOVERY_MS);
}

/** Locks the row of the quota. */
const holdRow = () =>
  hold(
    replica.database.url,
    `SELECT 1 FROM rate_limit_counters WHERE bucket_key = 'quota:${key.quotaId}' FOR UPDATE`,
  );

describe('a replica whose counter store refuses connections', () => {
  it('allows a quota what last remained, marks responses, and uses the store when it is back', async () => {
    key = await replica.issue({ plan: 'enterprise', perMinute: 10, perDay: 100 });
    expect((await callTimes(4)).map(remaining)).toEqual(descending(9, 6));
    await refuse();
    const first = await timed(() => call());
    expect(first.ms).toBeLessThan(AT_ONCE_MS);
    const responses = [first.result, ...(await callTimes(8))];
    expect(responses.every(isDegraded)).toBe(true);
    expect(served(responses)).toBe(6);
    expect(responses.map(remaining)).toEqual([...descending(5, 0), 0, 0, 0]);
    for (const response of responses) {
      expectRateLimitHeaders(response);
    }
    const message = expect.stringContaining(`${denialsBeforeBan(10) - 3} denials`);
    expectError(responses.at(-1) as HttpResponse, 429, 'rate_limit_exceeded', message);
    expect(lines.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^The counter store is unavailable, so this replica counts locally: .*ECONNREFUSED/,
        ),
      ],
    ]);
    await proxy.comeBack();
    await recovered();
    const after = await call();
    expect([after.status, isDegraded(after), remaining(after)]).toEqual([200, false, 5]);
    expect(await stored()).toEqual([{ minute: 5, day: 5 }]);
    expect(lines.mock.calls.slice(1)).toEqual([['The counter store is back']]);
  });

  it('replaces a leaked key although its quota is banned', async () => {
    await ban(replica.database, key, new Date(replica.clock.now() + 60_000));
    expect((await call()).status).toBe(429);
    await refuse();
    const replace = (body: object) =>
      send(`${replica.url}/v1/key/rotate`, { method: 'POST', key: key.key, body });
    const invalid = await replace({ leaked: true, overlapSeconds: 3600 });
    expect([invalid.status, isDegraded(invalid), remaining(invalid)]).toEqual([400, true, 0]);
    const replaced = await replace({ leaked: true });
    expect([replaced.status, isDegraded(replaced), remaining(replaced)]).toEqual([201, true, 0]);
    expectRateLimitHeaders(replaced);
  });

  it('enforces the last known ban, and lets administrators see, change and revoke the key', async () => {
    const admin = await replica.issue({ role: 'admin', plan: 'business' });
    const end = new Date(replica.clock.now() + 60_000);
    await ban(replica.database, key, end);
    const before = await call();
    expectError(before, 429, 'api_key_banned');
    await refuse();
    const after = await call();
    expectError(after, 429, 'api_key_banned');
    expect(isDegraded(after)).toBe(true);
    expect(after.headers.get('x-ratelimit-reset')).toBe(before.headers.get('x-ratelimit-reset'));
    const administer = (method: string, path: string, body?: object) =>
      send(`${replica.url}/admin${path}`, { method, key: admin.key, body });
    for (const [method, path, body] of [
      ['GET', `/keys/${key.id}`],
      ['GET', `/quotas/${key.quotaId}`],
      ['PATCH', `/quotas/${key.quotaId}`, { plan: 'pro' }],
      ['POST', `/keys/${key.id}/revoke`],
    ] as const) {
      const { status, json, headers } = await administer(method, path, body);
      expect([status, json.bannedUntil]).toEqual([200, end.toISOString()]);
      expect(headers.get('x-ratelimit-degraded')).toBe('true');
    }
    // A change takes effect within a second.
    await eventually(async () => expectError(await call(), 401, 'invalid_api_key'));
  });

  it('returns 503 at once, naming the counters, to lift a ban and to list keys with theirs', async () => {
    const admin = await replica.issue({ role: 'admin', plan: 'business' });
    await ban(replica.database, key, new Date(replica.clock.now() + 60_000));
    await refuse();
    await call();
    for (const [method, path] of [
      ['GET', '/keys'],
      ['POST', `/quotas/${key.quotaId}/unban`],
    ] as const) {
      const { ms, result: response } = await timed(() =>
        send(`${replica.url}/admin${path}`, { method, key: admin.key }),
      );
      expect(ms).toBeLessThan(AT_ONCE_MS);
      expectRateLimitHeaders(response);
      const message =
        'The counter store, which holds the bans, is unavailable or overloaded. Try again shortly.';
      expectError(response, 503, 'service_unavailable', quotingId(message, response));
      expect(response.headers.get('retry-after')).toBe('1');
    }
    expect(
      await replica.database.query("SELECT 1 FROM audit_events WHERE action = 'quota.unbanned'"),
    ).toEqual([]);
  });
});

describe('a replica whose counter store hangs', () => {
  it('returns 503 with Retry-After until three queries had no reply, then decides at once', async () => {
    await callTimes(10);
    proxy.hang();
    for (let query = 1; query <= 2; query += 1) {
      const { ms, result } = await timed(() => call());
      expectError(result, 503, 'service_unavailable');
      expect(result.headers.get('retry-after')).toBe('1');
      expectRateLimitHeaders(result);
      expect(ms).toBeLessThan(WAIT_MS);
    }
    expect(lines).not.toHaveBeenCalled();
    const third = await timed(() => call());
    expect([third.result.status, isDegraded(third.result), remaining(third.result)]).toEqual([200, true, 49]);
    expect(third.ms).toBeLessThan(WAIT_MS);
    const { ms, result } = await timed(() => callTimes(5));
    expect(result.map(remaining)).toEqual(descending(48, 44));
    expect(ms).toBeLessThan(AT_ONCE_MS);
    const status = await send(`${replica.url}/v1/rate-limit`, { key: key.key });
    expect([status.status, isDegraded(status)]).toEqual([200, true]);
    expect(status.json.windows).toMatchObject([{ remaining: 44 }, { remaining: 984 }]);
    expect(lines.mock.calls).toEqual([[expect.stringMatching(/is unavailable.*no response within 750 ms/)]]);
    await proxy.comeBack();
    await recovered();
    expect(await stored()).toEqual([{ minute: 10, day: 10 }]);
    expect(lines).toHaveBeenCalledTimes(2);
  });

  it('decides the requests queued behind the third query without a reply together with its own', async () => {
    await callTimes(10);
    proxy.hang();
    // As after two queries without a reply, each of which would take 750 ms.
    fallback['silentQueries'] = 2;
    const third = call();
    await until(() => store['batcher']['inFlight'] === 1);
    const queued = Promise.all([call(), call()]);
    await until(() => store['batcher']['queue'].length === 2);
    expect(isDegraded(await third)).toBe(true);
    const { ms, result } = await timed(() => queued);
    expect(result.map(isDegraded)).toEqual([true, true]);
    expect(new Set(result.map(remaining))).toEqual(new Set([47, 48]));
    expect(ms).toBeLessThan(AT_ONCE_MS);
  });

  it('returns 503 to all requests of a query without a reply, and counts the next as ever', async () => {
    await call();
    const lock = await holdRow();
    const { ms, result } = await timed(() => Promise.all(Array.from({ length: 9 }, call)));
    expect(served(result)).toBe(0);
    expect(ms).toBeLessThan(2 * WAIT_MS);
    await lock.letGo();
    const next = await call();
    expect([next.status, isDegraded(next)]).toEqual([200, false]);
    expect(lines).not.toHaveBeenCalled();
  });
});

describe('a replica whose connection to the counter store is cut', () => {
  it('returns 503 to the request in flight, and decides the next if the store refuses it', async () => {
    await call();
    const lock = await holdRow();
    const cut = call();
    await eventually(() => expectLocksWaitedFor(replica.database, 1));
    proxy.goAway();
    expectError(await cut, 503, 'service_unavailable');
    expect((await callTimes(3)).map(isDegraded)).toEqual([true, true, true]);
    await lock.letGo();
    await proxy.comeBack();
    await recovered();
  });
});

describe('a replica whose counter store is back, but slow', () => {
  it('counts in it again, though a new connection takes longer than a count may', async () => {
    await refuse();
    expect(isDegraded(await call())).toBe(true);
    await proxy.comeBack();
    // It takes five round trips to open a connection, and one to count.
    proxy.slowDown(80);
    await until(async () => !isDegraded(await call()), 5000);
    expect(lines.mock.calls.slice(1)).toEqual([['The counter store is back']]);
  });
});
