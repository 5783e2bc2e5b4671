import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnimalStore, NotFoundError } from 'animal-store-client';
import {
  baseUrl,
  catchError,
  connect,
  errorResponse,
  recordingFetch,
  recordingPause,
} from './support/store.js';

describe('withResponse', () => {
  it('resolves with the result, status, headers, request id, rate limit and attempts', async () => {
    const store = await connect();
    const { data, status, headers, requestId, rateLimit, attempts } = await store.pets
      .create({ name: 'Whole', categoryId: 1 })
      .withResponse();
    assert.equal(data.name, 'Whole');
    assert.equal(status, 201);
    assert.equal(headers.get('Location'), `/v1/pets/${data.id}`);
    assert.equal(requestId, headers.get('X-Request-Id'));
    assert.deepEqual(
      rateLimit.map(({ name, limit, remaining, lengthSeconds }) => [name, limit, remaining, lengthSeconds]),
      [
        ['minute', 1_000_000, 999_999, 60],
        ['day', 1_000_000, 999_999, 86_400],
      ],
    );
    assert.ok(rateLimit.every(({ resetSeconds, lengthSeconds }) => resetSeconds <= lengthSeconds));
    assert.equal(attempts, 1);
  });

  it('sends nothing again', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const call = store.pets.list({ limit: 1 });
    const { data } = await call.withResponse();
    assert.deepEqual(await call, data);
    assert.equal(requests.length, 1);
  });

  it('rejects with the error of the call, which is then handled', async () => {
    const store = await connect({ onDeprecation: () => {} });
    const error = await catchError(store.pets.get(Number.MAX_SAFE_INTEGER).withResponse());
    assert.ok(error instanceof NotFoundError);
  });
});

describe('a response', () => {
  it('may have fields and values that this version does not list', async () => {
    const later = { id: 7, name: 'Later', categoryId: 1, status: 'reserved', tags: [{ name: 'new' }] };
    const store = await connect({ fetch: async () => new Response(JSON.stringify([later])) });
    assert.deepEqual(await store.pets.list(), { items: [later], nextCursor: null });
  });
});

describe('the promise of a call', () => {
  it('is a Promise with then, catch and finally', async () => {
    const store = await connect({ fetch: () => errorResponse(404, 'not_found') });
    const call = store.pets.list();
    assert.ok(call instanceof Promise);
    let ended = false;
    const code = await call
      .finally(() => {
        ended = true;
      })
      .catch((error) => error.code);
    assert.deepEqual([code, ended], ['not_found', true]);
    assert.equal(await store.pets.list().then(undefined, ({ status }) => status), 404);
  });
});

describe('the promise of a list', () => {
  it('iterates over the items of all pages with for await', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const { items } = await store.pets.list({ limit: 5 });
    requests.length = 0;
    const walked = [];
    for await (const pet of store.pets.list({ limit: 2 })) {
      walked.push(pet);
      if (walked.length === 5) {
        break;
      }
    }
    assert.deepEqual(walked, items);
    assert.equal(requests.length, 3);
  });
});

describe('hooks', () => {
  it('run before each request, after each response and before each repetition', async () => {
    const events = [];
    const record = (name) => (event) => {
      const { request, attempt, status, error, waitMs } = event;
      events.push([name, attempt, request?.method, status ?? error?.status, waitMs]);
    };
    const { fetch } = recordingFetch((_request, attempt) =>
      attempt === 1 ? errorResponse(503, 'service_unavailable', { 'Retry-After': '2' }) : undefined,
    );
    const store = await connect({
      fetch,
      ...recordingPause(),
      onRequest: record('request'),
      onResponse: record('response'),
      onRetry: record('retry'),
    });
    await store.pets.list({ limit: 1 });
    assert.deepEqual(events, [
      ['request', 1, 'GET', undefined, undefined],
      ['response', 1, 'GET', 503, undefined],
      ['retry', 1, undefined, 503, 2000],
      ['request', 2, 'GET', undefined, undefined],
      ['response', 2, 'GET', 200, undefined],
    ]);
  });

  it('may add headers to a request', async () => {
    const store = await connect({ onRequest: ({ request }) => request.headers.set('X-Request-Id', 'seven') });
    const { requestId } = await store.pets.list({ limit: 1 }).withResponse();
    assert.equal(requestId, 'seven');
  });

  it('end the call with what they throw', async () => {
    const reason = new Error('Enough');
    const store = await connect({
      onRequest: () => {
        throw reason;
      },
    });
    await assert.rejects(store.pets.list(), (error) => error === reason);
  });
});

describe('baseUrl', () => {
  for (const given of [undefined, '', '/v1', 'api.animal-store.example/v1']) {
    it(`throws a TypeError that names it when it is ${JSON.stringify(given)}`, () => {
      assert.throws(() => new AnimalStore({ baseUrl: given, apiKey: 'key' }), {
        name: 'TypeError',
        message: /^baseUrl must be the address of the service/,
      });
    });
  }

  it('may end with a slash', async () => {
    const { fetch, requests } = recordingFetch(() => new Response('[]'));
    const store = await connect({ baseUrl: `${baseUrl}/`, fetch });
    await store.pets.list();
    await store.admin.keys.list();
    assert.deepEqual(
      requests.map(({ url }) => new URL(url).pathname),
      ['/v1/pets', '/admin/keys'],
    );
  });
});
