import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RateLimitError } from 'animal-store-client';
import { catchError, connect, errorResponse, recordingFetch, recordingPause } from './support/store.js';

const denied = () =>
  errorResponse(429, 'too_many_concurrent_requests', {
    'Retry-After': '1',
    RateLimit: '"minute";r=250;t=30, "day";r=9000;t=3600',
    'RateLimit-Policy': '"minute";q=300;w=60, "day";q=10000;w=86400',
  });

describe('a 429 too_many_concurrent_requests', () => {
  it('is repeated after Retry-After, even a request that is repeated for nothing else', async () => {
    const { pause, waits } = recordingPause();
    const { fetch, requests } = recordingFetch((_request, attempt) => (attempt === 1 ? denied() : undefined));
    const store = await connect({ fetch, pause, random: () => 0.5 });
    await store.key.rotate();
    assert.deepEqual([requests.length, waits], [2, [1000]]);
  });

  it('holds no other call of the key', async () => {
    let resume;
    const paused = new Promise((resolve) => (resume = resolve));
    const { fetch, requests } = recordingFetch((_request, attempt) => (attempt === 1 ? denied() : undefined));
    const budget = { maxRateLimitWaitMs: 0 };
    const store = await connect({ fetch, pause: () => paused, budget });
    const first = store.pets.list({ limit: 1 }).withResponse();
    assert.equal((await store.pets.list({ limit: 2 })).items.length, 2);
    resume();
    assert.equal((await first).attempts, 2);
    assert.deepEqual(
      requests.map(({ url }) => new URL(url).searchParams.get('limit')),
      ['1', '2', '1'],
    );
  });

  it('is a RateLimitError with the time of Retry-After once the budget is used up', async () => {
    const store = await connect({ fetch: denied, budget: { maxAttempts: 1 } });
    const error = await catchError(store.pets.list());
    assert.ok(error instanceof RateLimitError);
    assert.deepEqual([error.code, error.retryAfterMs], ['too_many_concurrent_requests', 1000]);
  });

  it('halves the requests in flight, which then grow by one with as many responses', async () => {
    const waiting = [];
    const page = () => new Response('[]');
    let respond = async () => page();
    const store = await connect({ fetch: () => respond(), pause: async () => {} });
    await Promise.all(Array.from({ length: 20 }, () => store.pets.list()));
    respond = () => new Promise((resolve) => waiting.push(resolve));
    const calls = Promise.all(Array.from({ length: 60 }, () => store.pets.list()));
    const inFlight = [];
    for (const response of [denied(), ...Array.from({ length: 26 }, page)]) {
      await settle();
      inFlight.push(waiting.length);
      waiting.shift()(response);
    }
    assert.deepEqual(inFlight.slice(0, 10), [8, 7, 6, 5, 4, 4, 5, 5, 5, 5]);
    assert.deepEqual(inFlight.slice(10), [5, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 8, 8]);
    respond = async () => page();
    waiting.forEach((resolve) => resolve(page()));
    await calls;
  });
});

/** Lets all that needs no response proceed. */
async function settle() {
  for (let turn = 0; turn < 5; turn += 1) {
    await setImmediate();
  }
}
