import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import {
  AnimalStore,
  AnimalStoreError,
  AuthenticationError,
  BannedError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  TimeoutError,
  ValidationError,
} from 'animal-store-client';
import {
  baseUrl,
  catchError,
  connect,
  errorResponse,
  issueKey,
  recordingFetch,
  recordingPause,
} from './support/store.js';

describe('the error of a call', () => {
  const ONCE = { budget: { maxAttempts: 1 } };

  it('has the status, code, message, request id and headers of the response', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const error = await catchError(store.pets.create({ name: ' ', categoryId: 1 }));
    assert.ok(error instanceof AnimalStoreError && error instanceof Error);
    assert.equal(error.status, 400);
    assert.equal(error.code, 'invalid_request');
    assert.match(error.message, /name must not be blank/);
    assert.equal(error.requestId, error.headers.get('X-Request-Id'));
    assert.match(error.requestId, /^\S+$/);
    assert.equal(error.retryAfterMs, null);
    assert.equal(error.headers.get('X-RateLimit-Limit'), '1000000');
    assert.equal(requests.length, 1);
  });

  it('is thrown at once for a wrong key', async () => {
    const { fetch, requests } = recordingFetch();
    const store = new AnimalStore({ baseUrl, apiKey: 'ask_test_nothing', fetch });
    const { status, code } = await catchError(store.rateLimit.get());
    assert.deepEqual([status, code, requests.length], [401, 'invalid_api_key', 1]);
  });

  it('has Retry-After in milliseconds', async () => {
    const { key } = await issueKey({ perMinute: 2, perDay: 2 });
    await fetch(`${baseUrl}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    await fetch(`${baseUrl}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    const error = await catchError(new AnimalStore({ baseUrl, apiKey: key, ...ONCE }).pets.list());
    assert.deepEqual([error.status, error.code], [429, 'rate_limit_exceeded']);
    assert.equal(error.retryAfterMs, Number(error.headers.get('Retry-After')) * 1000);
    assert.ok(error.retryAfterMs >= 1000);
  });

  it('has no status, but the cause, without a response', async () => {
    const store = new AnimalStore({
      baseUrl: `http://127.0.0.1:${await freePort()}/v1`,
      apiKey: 'none',
      ...ONCE,
    });
    const error = await catchError(store.pets.list());
    assert.deepEqual([error.status, error.code, error.requestId], [null, 'no_response', null]);
    assert.equal(error.cause.cause.code, 'ECONNREFUSED');
    assert.deepEqual([...error.headers], []);
    assert.ok(error.cause instanceof TypeError);
    assert.equal(error.message, `No response came: fetch failed (${error.cause.cause.message})`);
  });

  it('has the number of attempts', async () => {
    const fetches = {
      no_response: () => {
        throw new TypeError('The line is cut');
      },
      service_unavailable: () => errorResponse(503, 'service_unavailable'),
      invalid_request: () => errorResponse(400, 'invalid_request'),
      unexpected_response: () => new Response('<h1>Proxy</h1>'),
    };
    for (const [code, attempts, respond] of [
      ['no_response', 3, fetches.no_response],
      ['service_unavailable', 3, fetches.service_unavailable],
      ['invalid_request', 1, fetches.invalid_request],
      ['unexpected_response', 1, fetches.unexpected_response],
      [
        'unexpected_response',
        2,
        (_request, attempt) => fetches[attempt === 1 ? 'no_response' : 'unexpected_response'](),
      ],
    ]) {
      const { fetch, requests } = recordingFetch(respond);
      const store = await connect({ fetch, ...recordingPause(), budget: { maxAttempts: 3 } });
      const error = await catchError(store.pets.list());
      assert.deepEqual([error.code, error.attempts, requests.length], [code, attempts, attempts]);
    }
  });

  it('names the time limit that was exceeded', async () => {
    const hang = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    for (const [budget, options] of [
      [{ attemptTimeoutMs: 20, maxAttempts: 1 }],
      [{ timeoutMs: 20 }],
      [{}, { timeoutMs: 20 }],
    ]) {
      const store = await connect({ fetch: hang, monotonicNow: () => 0, budget });
      const { message } = await catchError(store.pets.list({}, options));
      assert.equal(message, 'No response came: the time of 20 ms is over');
    }
  });

  for (const apiKey of [undefined, '', 'ask_live_\nsecret', 'ask_live_secret…']) {
    it(`is a TypeError without the key for the apiKey ${JSON.stringify(apiKey)}`, () => {
      assert.throws(
        () => new AnimalStore({ baseUrl, apiKey }),
        ({ name, message }) => name === 'TypeError' && /apiKey/.test(message) && !/secret/.test(message),
      );
    });
  }

  it('is not thrown for a key that ends with a line break', async () => {
    const { key } = await issueKey();
    const store = new AnimalStore({ baseUrl, apiKey: `${key}\n` });
    assert.equal((await store.rateLimit.get()).plan, 'enterprise');
  });

  it('is not thrown for options that are undefined', async () => {
    const names = [
      'fetch',
      'pause',
      'random',
      'now',
      'monotonicNow',
      'maxConcurrentRequests',
      'onRequest',
      'onResponse',
      'onRetry',
      'onDeprecation',
    ];
    const store = await connect({
      ...Object.fromEntries(names.map((name) => [name, undefined])),
      budget: { maxAttempts: undefined, timeoutMs: undefined, attemptTimeoutMs: undefined },
    });
    assert.equal((await store.pets.list({ status: undefined }, { signal: undefined })).items.length, 20);
  });

  for (const status of [200, 502]) {
    it(`has the code unexpected_response for a page of a proxy with status ${status}`, async () => {
      const respond = () => new Response('<h1>Proxy</h1>', { status, headers: { 'X-Request-Id': 'seven' } });
      const store = await connect({ ...recordingFetch(respond), ...ONCE });
      const error = await catchError(store.pets.list());
      assert.deepEqual([error.status, error.code, error.requestId], [status, 'unexpected_response', 'seven']);
      assert.match(error.message, new RegExp(String(status)));
    });
  }

  for (const { status, code, ErrorClass } of [
    { status: 400, code: 'invalid_request', ErrorClass: ValidationError },
    { status: 401, code: 'missing_api_key', ErrorClass: AuthenticationError },
    { status: 403, code: 'forbidden', ErrorClass: PermissionDeniedError },
    { status: 404, code: 'not_found', ErrorClass: NotFoundError },
    { status: 405, code: 'method_not_allowed', ErrorClass: AnimalStoreError },
    { status: 409, code: 'idempotency_conflict', ErrorClass: ConflictError },
    { status: 410, code: 'endpoint_removed', ErrorClass: AnimalStoreError },
    { status: 413, code: 'payload_too_large', ErrorClass: ValidationError },
    { status: 415, code: 'unsupported_media_type', ErrorClass: ValidationError },
    { status: 422, code: 'idempotency_key_reused', ErrorClass: ConflictError },
    { status: 429, code: 'rate_limit_exceeded', ErrorClass: RateLimitError },
    { status: 429, code: 'too_many_concurrent_requests', ErrorClass: RateLimitError },
    { status: 429, code: 'api_key_banned', ErrorClass: BannedError },
    { status: 500, code: 'internal_error', ErrorClass: AnimalStoreError },
    { status: 503, code: 'service_unavailable', ErrorClass: AnimalStoreError },
  ]) {
    it(`is of the class ${ErrorClass.name} for ${status} ${code}`, async () => {
      const store = await connect({
        fetch: () => errorResponse(status, code, { 'X-Request-Id': 'seven' }),
        ...ONCE,
      });
      const error = await catchError(store.pets.list());
      assert.equal(error.constructor, ErrorClass);
      assert.equal(error.name, ErrorClass.name);
      assert.ok(error instanceof AnimalStoreError);
      assert.deepEqual(
        [error.status, error.code, error.requestId, error.attempts],
        [status, code, 'seven', 1],
      );
    });
  }

  it('is a ConnectionError without a response, and a TimeoutError when the time was over', async () => {
    const cut = await connect({
      fetch: () => {
        throw new TypeError('The line is cut');
      },
      ...ONCE,
    });
    assert.equal((await catchError(cut.pets.list())).constructor, ConnectionError);
    const silent = await connect({
      fetch: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      budget: { maxAttempts: 1, attemptTimeoutMs: 20 },
    });
    const error = await catchError(silent.pets.list());
    assert.equal(error.constructor, TimeoutError);
    assert.ok(error instanceof ConnectionError);
  });

  /** One that nobody listens on. */
  async function freePort() {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address();
    await once(server.close(), 'close');
    return port;
  }
});
