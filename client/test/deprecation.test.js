import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { catchError, connect, errorResponse } from './support/store.js';

describe('the warning about a deprecated operation', () => {
  it('is given once per process, also if the call fails', async () => {
    const warnings = [];
    const warn = (message) => warnings.push(message);
    const [one, other] = [await connect({ warn }), await connect({ warn })];
    await catchError(one.getPet(Number.MAX_SAFE_INTEGER));
    assert.deepEqual(warnings, [
      'Animal Store: GET /pets/{petId} is deprecated since 2025-12-05 and removed on 2030-12-05. ' +
        'Use /v1/pets?status=available instead.',
    ]);
    const { items } = await one.listPets({ limit: 1 });
    assert.deepEqual(await one.getPet(items[0].id), items[0]);
    await other.getPet(items[0].id);
    assert.equal(warnings.length, 1);
  });

  it('is written to the console by default, with what the headers declare', async () => {
    const warn = mock.method(console, 'warn', () => {});
    const deprecated = { Deprecation: '@1764892800' };
    const store = await connect({ fetch: async () => errorResponse(404, 'not_found', deprecated) });
    await catchError(store.getRateLimit());
    await catchError(store.getRateLimit());
    assert.deepEqual(
      warn.mock.calls.map((call) => call.arguments),
      [['Animal Store: GET /rate-limit is deprecated since 2025-12-05.']],
    );
  });

  it('has no date, and fails no call, if the date of a header is invalid', async () => {
    const warnings = [];
    const strange = { Deprecation: '@99999999999999999', Sunset: 'soon' };
    const store = await connect({
      fetch: async () => new Response('[]', { headers: strange }),
      warn: (message) => warnings.push(message),
    });
    assert.deepEqual(await store.listPets(), { items: [], nextCursor: null });
    assert.deepEqual(warnings, ['Animal Store: GET /pets is deprecated.']);
  });
});
