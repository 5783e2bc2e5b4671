import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AnimalStore } from 'animal-store-client';
import { catchError, connect, errorResponse, recordingFetch, recordingPause } from './support/store.js';

const REASON = new Error('Enough');

describe('an aborted signal', () => {
  it('ends a call that waits immediately, with the reason of the signal, and leaves no timer', async () => {
    const controller = new AbortController();
    const { fetch, requests } = recordingFetch(() => {
      setTimeout(() => controller.abort(REASON), 10);
      return errorResponse(503, 'service_unavailable', { 'Retry-After': '30' });
    });
    const store = await connect({ fetch });
    await assert.rejects(store.pets.list({}, { signal: controller.signal }), (error) => error === REASON);
    assert.equal(requests.length, 1);
    assert.ok(!process.getActiveResourcesInfo().includes('Timeout'));
  });

  it('ends a call whose attempt is in flight, and does not repeat it', async () => {
    const controller = new AbortController();
    let attempts = 0;
    const store = await connect({
      fetch: (request) => {
        attempts += 1;
        setTimeout(() => controller.abort(REASON), 10);
        return hanging(request);
      },
    });
    const pet = { name: 'Aborted', categoryId: 1 };
    const call = store.pets.create(pet, { signal: controller.signal });
    await assert.rejects(call, (error) => error === REASON);
    assert.equal(attempts, 1);
    assert.ok(!process.getActiveResourcesInfo().includes('Timeout'));
  });

  it('sends nothing if the signal is aborted before the call', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const signal = AbortSignal.abort(REASON);
    await assert.rejects(store.pets.list({}, { signal }), (error) => error === REASON);
    assert.equal(requests.length, 0);
  });

  it('ends a walk between its pages', async () => {
    const controller = new AbortController();
    const store = await connect();
    await assert.rejects(
      async () => {
        for await (const _pet of store.pets.list({ limit: 1 }, { signal: controller.signal })) {
          controller.abort();
        }
      },
      { name: 'AbortError' },
    );
  });

  it('leaves no listener on a signal once its calls have ended', async () => {
    const { signal } = new AbortController();
    const store = await connect(recordingPause());
    await store.pets.list({ limit: 1 }, { signal });
    await catchError(store.pets.create({ name: ' ', categoryId: 1 }, { signal }));
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
    assert.ok(!process.getActiveResourcesInfo().includes('Timeout'));
  });

  const nothing = () => {};
  const halfOfIt = (_request, response) => response.writeHead(200).write('[');

  for (const [what, respond] of Object.entries({ 'no response': nothing, 'half a response': halfOfIt })) {
    it(`ends a call that gets ${what}, as its time limit does, even after garbage collection`, async (t) => {
      const server = createServer(respond);
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const collecting = setInterval(() => collectGarbage(), 20);
      t.after(() => {
        clearInterval(collecting);
        server.closeAllConnections();
        server.close();
      });
      const store = new AnimalStore({
        baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
        apiKey: 'none',
        budget: { maxAttempts: 1, attemptTimeoutMs: 500 },
      });
      const error = await catchError(store.pets.list());
      assert.deepEqual([error.code, error.cause.name], ['no_response', 'TimeoutError']);
      const controller = new AbortController();
      setTimeout(() => controller.abort(REASON), 200);
      const call = store.pets.list({}, { signal: controller.signal });
      await assert.rejects(call, (reason) => reason === REASON);
    });
  }
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** A `fetch` that never responds. */
function hanging({ signal }) {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
