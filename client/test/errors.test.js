import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnimalStore, AnimalStoreError } from 'animal-store-client';
import { baseUrl, connect, errorOf, issueKey, recordingFetch } from './support/store.js';

const ONCE = { budget: { attempts: 1 } };

test('an error of the service has its status, code, message, request id and headers', async () => {
  const { fetch, requests } = recordingFetch();
  const store = await connect({ fetch });
  const error = await errorOf(store.createPet({ name: ' ', categoryId: 1 }));
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

test('a wrong key is an error at once', async () => {
  const { fetch, requests } = recordingFetch();
  const store = new AnimalStore({ baseUrl, apiKey: 'ask_test_nothing', fetch });
  const { status, code } = await errorOf(store.getRateLimit());
  assert.deepEqual([status, code, requests.length], [401, 'invalid_api_key', 1]);
});

test('over the limit it has what Retry-After tells, in milliseconds', async () => {
  const { key } = await issueKey({ perMinute: 1, perDay: 1 });
  const store = new AnimalStore({ baseUrl, apiKey: key, ...ONCE });
  await store.listPets();
  const error = await errorOf(store.listPets());
  assert.deepEqual([error.status, error.code], [429, 'api_key_banned']);
  assert.equal(error.retryAfterMs, Number(error.headers.get('Retry-After')) * 1000);
  assert.ok(error.retryAfterMs >= 1000);
});

test('where no answer comes there is no status, and the cause', async () => {
  const store = new AnimalStore({ baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'none', ...ONCE });
  const error = await errorOf(store.listPets());
  assert.deepEqual([error.status, error.code, error.requestId], [null, 'no_answer', null]);
  assert.deepEqual([...error.headers], []);
  assert.ok(error.cause instanceof TypeError);
  assert.ok(error.message.endsWith(error.cause.message));
});

for (const status of [200, 502]) {
  test(`a page of somebody between, of status ${status}, is no answer of the service`, async () => {
    const answer = () => new Response('<h1>Proxy</h1>', { status, headers: { 'X-Request-Id': 'seven' } });
    const store = await connect({ ...recordingFetch(answer), ...ONCE });
    const error = await errorOf(store.listPets());
    assert.deepEqual([error.status, error.code, error.requestId], [status, 'unexpected_answer', 'seven']);
    assert.match(error.message, new RegExp(String(status)));
  });
}
