import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { catchError, connect, errorResponse } from './support/store.js';

describe('the warning about a deprecated operation', () => {
  it('is given once per process, even if the call fails', async () => {
    const warnings = [];
    const onDeprecation = ({ message, ...facts }) => warnings.push([message, facts]);
    const [one, other] = [await connect({ onDeprecation }), await connect({ onDeprecation })];
    await catchError(one.pets.get(Number.MAX_SAFE_INTEGER));
    assert.deepEqual(warnings, [
      [
        'Animal Store: GET /pets/{petId} has been deprecated since 2025-12-05 and will be removed on ' +
          `2030-12-05. Use /v1/pets?id=${Number.MAX_SAFE_INTEGER} instead.`,
        {
          operation: 'GET /pets/{petId}',
          deprecatedAt: new Date('2025-12-05T00:00:00Z'),
          sunsetAt: new Date('2030-12-05T00:00:00Z'),
          successors: [`/v1/pets?id=${Number.MAX_SAFE_INTEGER}`, '/v1/pets?status=available'],
        },
      ],
    ]);
    const { items } = await one.pets.list({ limit: 1 });
    assert.deepEqual(await one.pets.get(items[0].id), items[0]);
    await other.pets.get(items[0].id);
    assert.equal(warnings.length, 1);
  });

  it('is written to the console by default, with what the headers declare', async () => {
    const warn = mock.method(console, 'warn', () => {});
    const deprecated = { Deprecation: '@1764892800' };
    const store = await connect({ fetch: async () => errorResponse(404, 'not_found', deprecated) });
    await catchError(store.rateLimit.get());
    await catchError(store.rateLimit.get());
    assert.deepEqual(
      warn.mock.calls.map((call) => call.arguments),
      [['Animal Store: GET /rate-limit has been deprecated since 2025-12-05.']],
    );
  });

  it('has no date, and fails no call, if the date of a header is invalid', async () => {
    const warnings = [];
    const strange = { Deprecation: '@99999999999999999', Sunset: 'soon' };
    const store = await connect({
      fetch: async () => new Response('[]', { headers: strange }),
      onDeprecation: (event) => warnings.push(event),
    });
    assert.deepEqual(await store.pets.list(), { items: [], nextCursor: null });
    assert.deepEqual(warnings, [
      {
        operation: 'GET /pets',
        message: 'Animal Store: GET /pets is deprecated.',
        deprecatedAt: null,
        sunsetAt: null,
        successors: [],
      },
    ]);
  });
});
