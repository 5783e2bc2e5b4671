import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnimalStore } from 'animal-store-client';
import {
  baseUrl,
  catchError,
  connect,
  errorResponse,
  issueKey,
  makeRoom,
  recordingFetch,
  recordingPause,
} from './support/store.js';

describe('a failed attempt', () => {
  const away = (headers) => () => errorResponse(503, 'service_unavailable', headers);

  it('is repeated after a 429 as soon as Retry-After allows', async () => {
    const issued = await issueKey({ perMinute: 5, perDay: 5 });
    const other = new AnimalStore({ baseUrl, apiKey: issued.key });
    for (let count = 0; count < 5; count += 1) {
      await other.pets.list({ limit: 1 });
    }
    const { fetch, responses } = recordingFetch();
    const { pause, waits } = recordingPause(() => makeRoom(issued));
    const store = new AnimalStore({
      baseUrl,
      apiKey: issued.key,
      fetch,
      pause,
      budget: { timeoutMs: Infinity },
    });
    assert.equal((await store.pets.list({ limit: 1 })).items.length, 1);
    assert.deepEqual(
      responses.map(({ status }) => status),
      [429, 200],
    );
    const retryAfterMs = Number(responses[0].headers.get('Retry-After')) * 1000;
    assert.equal(waits.length, 1);
    // The wait begins a little later than the response arrives.
    assert.ok(
      waits[0] < retryAfterMs + 1 && waits[0] > retryAfterMs - 1000,
      `${waits[0]} of ${retryAfterMs}`,
    );
  });

  it('is repeated after too many at once, though its call may not wait for a limit', async () => {
    const { fetch, requests } = recordingFetch((request, number) =>
      number === 1 ? errorResponse(429, 'too_many_concurrent_requests', { 'Retry-After': '1' }) : undefined,
    );
    const { pause, waits } = recordingPause();
    const store = await connect({ fetch, pause, random: () => 0, budget: { maxRateLimitWaitMs: 0 } });
    await store.pets.create({ name: 'Rex', categoryId: 1 });
    assert.deepEqual([requests.length, waits], [2, [1000]]);
  });

  it('is repeated as Retry-After says when that is an HTTP date', async () => {
    const nowMs = Date.parse('2030-01-01T00:00:00Z');
    const { pause, waits } = recordingPause();
    const dates = ['Tue, 01 Jan 2030 00:00:07 GMT', 'Mon, 31 Dec 2029 23:59:00 GMT'];
    const { fetch } = recordingFetch(() =>
      dates.length > 0
        ? errorResponse(503, 'service_unavailable', { 'Retry-After': dates.shift() })
        : undefined,
    );
    const store = await connect({ fetch, pause, now: () => nowMs, random: () => 0.5 });
    await store.pets.list();
    // The second is over already.
    assert.deepEqual(waits, [7000, 250]);
  });

  it('is repeated after the random wait when Retry-After is shorter', async () => {
    for (const [seconds, expected] of [
      ['0', [125, 250, 500, 1000, 2000]],
      ['1', [1000, 1000, 1000, 1000, 2000]],
    ]) {
      const { pause, waits } = recordingPause();
      const { fetch } = recordingFetch(away({ 'Retry-After': seconds }));
      const store = await connect({ fetch, pause, random: () => 0.5 });
      await catchError(store.pets.list());
      assert.deepEqual(waits, expected);
    }
  });

  it('is repeated after a random wait whose bound doubles up to ten seconds', async () => {
    for (const [random, expected] of [
      [0, [0, 0, 0, 0, 0, 0, 0, 0]],
      [0.5, [125, 250, 500, 1000, 2000, 4000, 5000, 5000]],
      [1, [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]],
    ]) {
      const { pause, waits } = recordingPause();
      const store = await connect({
        ...recordingFetch(away({ 'Retry-After': 'soon' })),
        pause,
        random: () => random,
        budget: { maxAttempts: 9 },
      });
      await catchError(store.pets.list());
      assert.deepEqual(waits, expected);
    }
  });

  it('is repeated after waits that spread up to the bound by default', async () => {
    const { pause, waits } = recordingPause();
    const store = await connect({
      ...recordingFetch(away()),
      pause,
      budget: { maxAttempts: 200, timeoutMs: Infinity },
    });
    await catchError(store.pets.list());
    const capped = waits.slice(6);
    assert.ok(Math.min(...capped) >= 0 && Math.max(...capped) < 10_000);
    assert.ok(Math.min(...capped) < 2000 && Math.max(...capped) > 8000);
  });

  for (const [status, code] of [
    [408, 'request_timeout'],
    [500, 'internal_error'],
    [502, 'unexpected_response'],
    [503, 'service_unavailable'],
    [504, 'unexpected_response'],
  ]) {
    it(`is repeated after ${status}, for a GET and a POST`, async () => {
      const { pause, waits } = recordingPause();
      const { fetch, requests } = recordingFetch((_request, attempt) =>
        attempt % 2 === 1 ? errorResponse(status, code) : undefined,
      );
      const store = await connect({ fetch, pause });
      await store.pets.list();
      await store.pets.create({ name: 'Again', categoryId: 1 });
      assert.deepEqual([requests.length, waits.length], [4, 2]);
    });
  }

  for (const status of [400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 501]) {
    it(`is not repeated after ${status}`, async () => {
      const { fetch, requests } = recordingFetch(() =>
        errorResponse(status, 'conflict', { 'Retry-After': '1' }),
      );
      const store = await connect({ fetch });
      assert.equal((await catchError(store.pets.list())).status, status);
      assert.equal(requests.length, 1);
    });
  }

  it('is repeated when the network fails', async () => {
    const { pause, waits } = recordingPause();
    const { fetch, requests } = recordingFetch((_request, attempt) => {
      if (attempt < 3) {
        throw new TypeError('The line is cut');
      }
    });
    const store = await connect({ fetch, pause });
    assert.equal((await store.pets.list({ limit: 1 })).items.length, 1);
    assert.deepEqual([requests.length, waits.length], [3, 2]);
  });

  it('ends the call with its error when it is the last of the budget', async () => {
    const { fetch, requests } = recordingFetch((_request, attempt) =>
      errorResponse(503, `attempt_${attempt}`),
    );
    const { pause, waits } = recordingPause();
    const store = await connect({ fetch, pause, budget: { maxAttempts: 4 } });
    assert.equal((await catchError(store.pets.list())).code, 'attempt_4');
    assert.deepEqual([requests.length, waits.length], [4, 3]);
  });

  it('ends the call at once when the wait is longer than its time', async () => {
    const { pause, waits } = recordingPause();
    const { fetch, requests } = recordingFetch(away({ 'Retry-After': '90' }));
    const store = await connect({ fetch, pause });
    const error = await catchError(store.pets.list());
    assert.deepEqual([error.status, error.retryAfterMs], [503, 90_000]);
    assert.deepEqual([requests.length, waits], [1, []]);
  });

  it('is repeated as long as waits and attempts are within the time of the call', async () => {
    let nowMs = 0;
    const { pause, waits } = recordingPause((ms) => (nowMs += ms));
    const { fetch } = recordingFetch(() => {
      nowMs += 1000;
      return errorResponse(503, 'service_unavailable', { 'Retry-After': '3' });
    });
    const store = await connect({ fetch, pause, monotonicNow: () => nowMs, budget: { timeoutMs: 10_000 } });
    await catchError(store.pets.list());
    // 1 + 3 + 1 + 3 + 1 are over; with three more nothing would be left for an attempt.
    assert.deepEqual([waits, nowMs], [[3000, 3000], 9000]);
  });

  for (const { timeoutMs, expected, what } of [
    { timeoutMs: 3000, expected: [], what: 'is not repeated when the wait ends with the time of the call' },
    { timeoutMs: 3001, expected: [3000], what: 'is repeated when the wait ends a millisecond earlier' },
  ]) {
    it(what, async () => {
      let nowMs = 0.25;
      const { pause, waits } = recordingPause((ms) => (nowMs += ms));
      const { fetch, requests } = recordingFetch(away({ 'Retry-After': '3' }));
      const store = await connect({ fetch, pause, monotonicNow: () => nowMs, budget: { timeoutMs } });
      assert.equal((await catchError(store.pets.list())).status, 503);
      assert.deepEqual([waits, requests.length], [expected, expected.length + 1]);
    });
  }

  it('ends the call with its error when the pause takes all of its time', async () => {
    let nowMs = 0;
    const { pause, waits } = recordingPause(() => (nowMs += 3_600_000));
    const { fetch, requests } = recordingFetch(away({ 'Retry-After': '1' }));
    const store = await connect({ fetch, pause, monotonicNow: () => nowMs });
    assert.equal((await catchError(store.pets.list())).status, 503);
    assert.deepEqual([waits, requests.length], [[1000], 1]);
  });

  it('is repeated even when the clock of the machine changes', async () => {
    let nowMs = Date.now();
    const { fetch, requests } = recordingFetch(away({ 'Retry-After': '1' }));
    const store = await connect({ fetch, ...recordingPause(), now: () => (nowMs += 3_600_000) });
    await catchError(store.pets.list());
    assert.equal(requests.length, 6);
  });

  it('may have a time with a fraction of a millisecond', async () => {
    const store = await connect({ budget: { attemptTimeoutMs: 5000.5 } });
    assert.equal((await store.pets.list({ limit: 1 })).items.length, 1);
  });

  it('is repeated when it takes too long', async () => {
    const { fetch, requests } = recordingFetch((request, attempt) =>
      attempt === 1 ? hanging(request) : undefined,
    );
    const store = await connect({ fetch, ...recordingPause(), budget: { attemptTimeoutMs: 2000 } });
    await store.pets.list();
    assert.equal(requests.length, 2);
  });

  it('ends with the time of the call', async () => {
    const store = await connect({ fetch: hanging, budget: { timeoutMs: 50 } });
    const error = await catchError(store.pets.list());
    assert.deepEqual([error.code, error.cause.name], ['no_response', 'TimeoutError']);
  });

  /** A `fetch` that never responds. */
  function hanging({ signal }) {
    return new Promise((_resolve, reject) => {
      // Keeps the process alive, as a connection would.
      const timer = setInterval(() => {}, 1000);
      const abort = () => {
        clearInterval(timer);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort);
    });
  }
});
