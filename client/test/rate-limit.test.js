import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { AnimalStore, BannedError, RateLimitError, RateLimitWaitError } from 'animal-store-client';
import { startService } from './support/service.js';
import { catchError, recordingFetch } from './support/store.js';

const BURST = path.join(import.meta.dirname, 'support', 'burst.js');
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let service;
let baseUrl;
let admin;
/** By how much the clocks of the service and of the clients are ahead. */
let aheadMs = 0;

before(async () => {
  service = await startService();
  baseUrl = `${service.url}/v1`;
  ({ admin } = new AnimalStore({ baseUrl, apiKey: service.adminKey }));
  // No day ends during these tests, whenever they run.
  await travel(DAY_MS - (Date.now() % DAY_MS));
});
after(() => service.stop());

describe('a client with default settings', () => {
  it('sends 150 parallel calls on plan Free in order, without a 429, and uses each window up', async () => {
    const { key } = await admin.keys.issue({ name: 'free', plan: 'free' });
    const { store, sent, responses } = connect(key);
    await travelToSecond(40);
    const names = Array.from({ length: 150 }, (_, index) => `pet ${index}`);
    const pets = await Promise.all(names.map((name) => store.pets.create({ name, categoryId: 1 })));
    assert.deepEqual(
      pets.map(({ name }) => name),
      names,
    );
    assert.deepEqual(await sent(), names);
    assert.deepEqual(allowedByWindow(responses), [60, 60, 30]);
    assert.equal(findDenied(responses).length, 0);
  });

  it('sends no call of 20 at 5 a minute that would have to wait longer than its time', async () => {
    const { key, id } = await admin.keys.issue({
      name: 'five',
      plan: 'enterprise',
      perMinute: 5,
      perDay: 100,
    });
    const { store, responses } = connect(key);
    await travelToSecond(40);
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => store.pets.list()));
    assert.deepEqual(allowedByWindow(responses), [5, 5, 5]);
    assert.equal(findDenied(responses).length, 0);
    assert.deepEqual(
      results.map(({ status }) => status),
      [...Array(15).fill('fulfilled'), ...Array(5).fill('rejected')],
    );
    assert.ok(results.slice(15).every(({ reason }) => reason instanceof RateLimitWaitError));
    assert.equal((await admin.keys.get(id)).bannedUntil, null);
  });

  it('gets one 429 when the window was spent before, and then sends one call before the others', async () => {
    const { key } = await admin.keys.issue({ name: 'ten', plan: 'enterprise', perMinute: 10, perDay: 100 });
    await travelToSecond(40);
    const other = connect(key);
    await Promise.all(Array.from({ length: 10 }, () => other.store.pets.list()));
    const { store, responses, inFlight } = connect(key);
    const calls = Array.from({ length: 20 }, (_, index) =>
      store.pets.create({ name: `${index}`, categoryId: 1 }),
    );
    const pets = await Promise.all(calls);
    assert.deepEqual(
      pets.map(({ name }) => Number(name)),
      calls.map((_, index) => index),
    );
    assert.deepEqual(findDenied(responses), [429]);
    assert.deepEqual(inFlight.slice(0, 3), [1, 1, 1]);
    assert.deepEqual(allowedByWindow(responses), [10, 10]);
  });

  it('has at most 8 requests in flight', async () => {
    const { key } = await admin.keys.issue({ name: 'busy', plan: 'business' });
    const { store, inFlight } = connect(key);
    await Promise.all(Array.from({ length: 100 }, () => store.pets.list({ limit: 1 })));
    assert.equal(Math.max(...inFlight), 8);
  });
});

describe('maxConcurrentRequests', () => {
  it('bounds the requests in flight', async () => {
    const { key } = await admin.keys.issue({ name: 'busy', plan: 'business' });
    const { store, inFlight } = connect(key, { maxConcurrentRequests: 3 });
    await Promise.all(Array.from({ length: 30 }, () => store.pets.list({ limit: 1 })));
    assert.equal(Math.max(...inFlight), 3);
  });

  it('throws a RangeError unless it is an integer of at least 1', () => {
    for (const maxConcurrentRequests of [0, -1, 1.5, NaN]) {
      assert.throws(() => new AnimalStore({ baseUrl, apiKey: 'key', maxConcurrentRequests }), RangeError);
    }
  });
});

describe('a call that has to wait for the limit', () => {
  it('fails at once, and sends nothing, when the wait is longer than its budget', async () => {
    const { key } = await admin.keys.issue({ name: 'one', plan: 'enterprise', perMinute: 1, perDay: 100 });
    const { store, responses } = connect(key, { budget: { timeoutMs: 10_000 } });
    await travelToSecond(20);
    await store.pets.list();
    const error = await catchError(store.pets.list());
    assert.ok(error instanceof RateLimitWaitError && error instanceof RateLimitError);
    assert.deepEqual([error.code, error.status, error.attempts], ['rate_limit_wait', null, 0]);
    assert.ok(error.retryAfterMs > 30_000 && error.retryAfterMs <= 41_000, String(error.retryAfterMs));
    assert.match(error.message, /^The call would have to wait (3\d|4[01]) s for the rate limit/);
    assert.equal(responses.length, 1);
  });

  it('may have its own budget, timeoutMs', async () => {
    const { key } = await admin.keys.issue({
      name: 'timeout',
      plan: 'enterprise',
      perMinute: 1,
      perDay: 100,
    });
    const { store, responses } = connect(key);
    await travelToSecond(20);
    await store.pets.list();
    const error = await catchError(store.pets.list({}, { timeoutMs: 10_000 }));
    assert.ok(error instanceof RateLimitWaitError);
    assert.equal(responses.length, 1);
  });

  it('fails at once when the wait is longer than maxRateLimitWaitMs, also within its time', async () => {
    const { key } = await admin.keys.issue({ name: 'one', plan: 'enterprise', perMinute: 1, perDay: 100 });
    const { store, responses } = connect(key, { budget: { maxRateLimitWaitMs: 10_000 } });
    await travelToSecond(20);
    await store.pets.list();
    const error = await catchError(store.pets.list());
    assert.ok(error instanceof RateLimitWaitError);
    // No response has denied anything.
    assert.equal(error.cause, undefined);
    assert.equal(responses.length, 1);
    await travelToSecond(55);
    await store.pets.list();
    await store.pets.list();
    assert.equal(responses.length, 3);
    assert.equal(findDenied(responses).length, 0);
  });

  it('fails with a BannedError while the key is banned, and sends nothing after that', async () => {
    const { key } = await admin.keys.issue({ name: 'banned', plan: 'enterprise', perMinute: 1, perDay: 100 });
    await travelToSecond(20);
    await provokeBan(key);
    const { store, responses } = connect(key, { budget: { timeoutMs: 10_000 } });
    const error = await catchError(store.pets.list());
    assert.ok(error instanceof BannedError && error instanceof RateLimitError);
    assert.deepEqual([error.code, error.status, error.attempts], ['api_key_banned', 429, 1]);
    const next = await catchError(store.pets.list());
    assert.ok(next instanceof RateLimitWaitError);
    assert.equal(next.cause, error);
    assert.equal(responses.length, 1);
    // Needs no room in the windows.
    assert.notEqual((await store.rateLimit.get()).bannedUntil, null);
  });

  it('has no ban as the cause of its wait if a spent day denies for longer', async () => {
    const { key } = await admin.keys.issue({ name: 'spent', plan: 'enterprise', perMinute: 1, perDay: 1 });
    await travelToSecond(20);
    const headers = { Authorization: `Bearer ${key}` };
    await fetch(`${baseUrl}/pets`, { headers });
    await fetch(`${baseUrl}/pets`, { headers });
    const { store } = connect(key, { budget: { timeoutMs: 10_000 } });
    const error = await catchError(store.pets.list());
    assert.ok(error instanceof BannedError);
    const next = await catchError(store.pets.list());
    assert.ok(next instanceof RateLimitWaitError);
    assert.equal(next.cause, undefined);
    assert.ok(next.retryAfterMs > error.retryAfterMs);
  });

  it('ends with its signal', async () => {
    const { key } = await admin.keys.issue({ name: 'one', plan: 'enterprise', perMinute: 1, perDay: 100 });
    await travelToSecond(20);
    const store = new AnimalStore({ baseUrl, apiKey: key });
    await store.pets.list();
    const controller = new AbortController();
    const reason = new Error('Enough');
    void setTimeout(20).then(() => controller.abort(reason));
    await assert.rejects(store.pets.list({}, { signal: controller.signal }), (error) => error === reason);
    assert.ok(!process.getActiveResourcesInfo().includes('Timeout'));
  });
});

describe('a limit that lasts longer than a minute', () => {
  it('is checked by one call a minute, because an administrator may lift it', async () => {
    const { key, quotaId } = await admin.keys.issue({
      name: 'day',
      plan: 'enterprise',
      perMinute: 60,
      perDay: 3,
    });
    const { store, responses } = connect(key);
    await Promise.all([store.pets.list(), store.pets.list(), store.pets.list()]);
    assert.ok((await catchError(store.pets.list())) instanceof RateLimitWaitError);
    await travel(MINUTE_MS);
    const [first, second] = await Promise.all([catchError(store.pets.list()), catchError(store.pets.list())]);
    assert.deepEqual([first.status, first.attempts], [429, 1]);
    assert.deepEqual([second.status, second.attempts], [null, 0]);
    await admin.quotas.update(quotaId, { plan: 'free', perMinute: null, perDay: null });
    await setTimeout(1100);
    assert.ok((await catchError(store.pets.list())) instanceof RateLimitWaitError);
    assert.equal(responses.length, 4);
    await travel(MINUTE_MS);
    await store.pets.list();
    await Promise.all(Array.from({ length: 10 }, () => store.pets.list({ limit: 1 })));
  });
});

describe('clients of one key in one process', () => {
  it('are paced together', async () => {
    const { key } = await admin.keys.issue({
      name: 'shared',
      plan: 'enterprise',
      perMinute: 20,
      perDay: 1000,
    });
    await travelToSecond(55);
    const responses = [];
    const onResponse = ({ status, headers }) => {
      responses.push({ status, reset: Number(headers.get('X-RateLimit-Reset')) });
    };
    const calls = Array.from({ length: 30 }, () =>
      new AnimalStore({ baseUrl, apiKey: key, onResponse }).pets.list({ limit: 1 }),
    );
    await Promise.all(calls);
    assert.equal(findDenied(responses).length, 0);
    assert.deepEqual(allowedByWindow(responses), [20, 10]);
  });
});

describe('clients of one key in four processes', () => {
  it('cause no ban and few 429s, and use the windows up', async () => {
    const { key, id } = await admin.keys.issue({ name: 'shared', plan: 'free' });
    await travelToSecond(50);
    const environment = { ...process.env, ANIMAL_STORE_URL: baseUrl, ANIMAL_STORE_KEY: key, CALLS: '28' };
    const processes = Array.from({ length: 4 }, () =>
      promisify(execFile)(process.execPath, [BURST], { env: environment }),
    );
    const outputs = (await Promise.all(processes)).map(({ stdout }) => JSON.parse(stdout));
    assert.deepEqual(
      outputs.flatMap(({ errors }) => errors),
      [],
    );
    const responses = outputs.flatMap((output) => output.responses);
    assert.deepEqual(allowedByWindow(responses), [60, 52]);
    const denied = responses.filter(({ status }) => status === 429);
    // About one in a window for each process, which cannot see what the others have in flight.
    assert.ok(denied.length <= 8, `${denied.length} requests got 429`);
    assert.equal((await admin.keys.get(id)).bannedUntil, null);
  });
});

/** A client whose pauses take no time, because they move its clock and that of the service. */
function connect(apiKey, options = {}) {
  const { fetch, requests } = recordingFetch();
  const responses = [];
  const inFlight = [];
  let count = 0;
  const store = new AnimalStore({
    baseUrl,
    apiKey,
    pause: (milliseconds, signal) => {
      signal.throwIfAborted();
      return travel(milliseconds);
    },
    monotonicNow: () => performance.now() + aheadMs,
    fetch: async (request) => {
      count += 1;
      inFlight.push(count);
      try {
        return await fetch(request);
      } finally {
        count -= 1;
      }
    },
    onResponse: ({ status, headers }) => {
      responses.push({ status, reset: Number(headers.get('X-RateLimit-Reset')) });
    },
    ...options,
  });
  const sent = () => Promise.all(requests.map(async (request) => (await request.json()).name));
  return { store, sent, responses, inFlight };
}

/** Sends requests until the key is banned. */
async function provokeBan(key) {
  let code;
  do {
    const response = await fetch(`${baseUrl}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    ({ code } = await response.json());
  } while (code !== 'api_key_banned');
}

async function travel(milliseconds) {
  await service.travel(milliseconds);
  aheadMs += Math.ceil(milliseconds);
}

/** Moves the clocks to a second of the next minute, by the clock of the service. */
async function travelToSecond(second) {
  const nowMs = Date.now() + aheadMs;
  await travel((Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS + second * 1000 - nowMs);
}

/** How many requests each window allowed, in the order of the windows. */
function allowedByWindow(responses) {
  const counts = new Map();
  for (const { status, reset } of responses) {
    counts.set(reset, (counts.get(reset) ?? 0) + (status < 400 ? 1 : 0));
  }
  return [...counts]
    .toSorted(([one], [other]) => one - other)
    .map(([, count]) => count)
    .filter((count) => count > 0);
}

function findDenied(responses) {
  return responses.map(({ status }) => status).filter((status) => status === 429);
}
