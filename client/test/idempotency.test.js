import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  catchError,
  collect,
  connect,
  errorResponse,
  recordingFetch,
  recordingPause,
} from './support/store.js';

const readKeys = (requests) => requests.map(({ headers }) => headers.get('Idempotency-Key'));
const named = async (store, wanted) =>
  (await collect(store.pets.list())).filter(({ name }) => name === wanted);

describe('the Idempotency-Key of a call', () => {
  it('is new for every POST, and absent from a GET', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const pet = await store.pets.create({ name: 'One', categoryId: 1 });
    await store.pets.create({ name: 'One', categoryId: 1 });
    await store.orders.create({ petId: pet.id, quantity: 1 });
    await store.orders.list();
    const [first, second, third, none] = readKeys(requests);
    assert.equal(new Set([first, second, third]).size, 3);
    assert.match(first, /^[0-9a-f-]{36}$/);
    assert.equal(none, null);
  });

  it('is repeated after a lost response: the animal is added once, the first response returned', async () => {
    const { fetch, requests, responses } = recordingFetch(async (request, attempt) => {
      const response = await globalThis.fetch(request);
      if (attempt === 1) {
        await response.body.cancel();
        throw new TypeError('The line is cut');
      }
      return response;
    });
    const { pause, waits } = recordingPause();
    const store = await connect({ fetch, pause });
    const pet = await store.pets.create({ name: 'Lost and found', categoryId: 1 });
    const [first, second] = readKeys(requests);
    assert.equal(first, second);
    assert.equal(await requests[0].text(), await requests[1].text());
    assert.equal(responses[0].headers.get('Idempotent-Replayed'), 'true');
    assert.equal(waits.length, 1);
    assert.deepEqual(await named(store, 'Lost and found'), [pet]);
  });

  it('is repeated after an incomplete response', async () => {
    const broken = () =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"id":'));
          controller.error(new TypeError('The line is cut'));
        },
      });
    const { fetch, requests } = recordingFetch(async (request, attempt) => {
      if (attempt > 1) {
        return undefined;
      }
      const { status, headers } = await globalThis.fetch(request);
      return new Response(broken(), { status, headers });
    });
    const store = await connect({ fetch, ...recordingPause() });
    const pet = await store.pets.create({ name: 'Half a response', categoryId: 1 });
    assert.equal(requests.length, 2);
    assert.deepEqual(await named(store, 'Half a response'), [pet]);
  });

  it('is repeated after Retry-After while another request with it is in flight', async () => {
    const { fetch, requests } = recordingFetch((_request, attempt) =>
      attempt === 1 ? errorResponse(409, 'idempotency_conflict', { 'Retry-After': '1' }) : undefined,
    );
    const { pause, waits } = recordingPause();
    const store = await connect({ fetch, pause });
    await store.pets.create({ name: 'Twin', categoryId: 1 });
    assert.deepEqual(waits, [1000]);
    assert.equal(requests.length, 2);
  });

  it('can be given, to repeat a call', async () => {
    const store = await connect();
    const idempotencyKey = crypto.randomUUID();
    const first = await store.pets.create({ name: 'Mine', categoryId: 1 }, { idempotencyKey });
    assert.deepEqual(await store.pets.create({ name: 'Mine', categoryId: 1 }, { idempotencyKey }), first);
    const { status, code } = await catchError(
      store.pets.create({ name: 'Not mine', categoryId: 1 }, { idempotencyKey }),
    );
    assert.deepEqual([status, code], [422, 'idempotency_key_reused']);
  });
});
