import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnimalStore, ConflictError, ConnectionError, ValidationError } from 'animal-store-client';
import { baseUrl, catchError, collect, connect, issueKey, recordingFetch } from './support/store.js';

describe('key.get', () => {
  it('returns the key of the client, and its successor once it is rotated', async () => {
    const { key, id, prefix, perMinute, perDay } = await issueKey();
    const store = new AnimalStore({ baseUrl, apiKey: key });
    const own = await store.key.get();
    assert.deepEqual([own.id, own.prefix, own.perMinute, own.perDay], [id, prefix, perMinute, perDay]);
    assert.deepEqual([own.state, own.successor], ['active', null]);
    const { admin } = new AnimalStore({ baseUrl, apiKey: process.env.ANIMAL_STORE_ADMIN_KEY });
    const { prefix: next, lastFour } = await admin.keys.rotate(id);
    const rotated = await store.key.get();
    assert.equal(rotated.state, 'rotating');
    assert.deepEqual([rotated.successor.prefix, rotated.successor.lastFour], [next, lastFour]);
  });
});

describe('usage.list', () => {
  it('walks over all pages of the usage of the quota, newest first', async () => {
    const store = await connect({ onDeprecation: () => {} });
    await store.pets.list({ limit: 1 });
    let usage = [];
    while (usage.length === 0) {
      usage = await collect(store.usage.list({ period: 'minute', limit: 1 }));
    }
    assert.ok(usage.every(({ requests, statuses }) => requests === statuses['2xx']));
    const { items, nextCursor } = await store.usage.list();
    assert.deepEqual([items.length >= 1, nextCursor], [true, null]);
  });

  it('has the largest limit by default', async () => {
    const { fetch, requests } = recordingFetch();
    await collect((await connect({ fetch })).usage.list());
    assert.equal(new URL(requests[0].url).searchParams.get('limit'), '100');
  });
});

describe('usage.listCsv', () => {
  it('yields the CSV of all pages, with the header line in the first only', async () => {
    const store = await connect({ onDeprecation: () => {} });
    await store.pets.list({ limit: 1 });
    await catchError(store.pets.get(9_007_199_254_740_993n));
    let usage = [];
    while (usage.length < 2) {
      usage = await collect(store.usage.list({ by: 'operation', period: 'day' }));
    }
    const [header, ...rows] = (await collect(store.usage.listCsv({ by: 'operation', limit: 1 })))
      .join('')
      .split('\r\n');
    assert.equal(header, 'startsAt,operation,deprecated,requests,denied,2xx,3xx,4xx,5xx');
    assert.equal(rows.pop(), '');
    assert.deepEqual(
      rows.map((row) => row.split(',')[1]).filter((operation) => operation !== 'listUsage'),
      ['getPet', 'listPets'],
    );
  });

  it('has the largest limit by default', async () => {
    const { fetch, requests } = recordingFetch();
    await collect((await connect({ fetch })).usage.listCsv({ period: 'hour' }));
    assert.equal(new URL(requests[0].url).search, '?period=hour&limit=100');
    assert.equal(requests[0].headers.get('Accept'), 'text/csv');
  });

  it('throws unexpected_response for what is not CSV', async () => {
    const { fetch } = recordingFetch(() => new Response('<html>'));
    const store = await connect({ fetch, budget: { maxAttempts: 1 } });
    const error = await catchError(collect(store.usage.listCsv()));
    assert.deepEqual([error.code, error.status], ['unexpected_response', 200]);
  });

  it('throws the error of the service', async () => {
    const error = await catchError(collect((await connect()).usage.listCsv({ by: 'plan' })));
    assert.ok(error instanceof ValidationError);
    assert.match(error.message, /by must be one of/);
  });
});

describe('deprecations.list', () => {
  it('returns the calls with what replaces the operation', async () => {
    const store = await connect({ onDeprecation: () => {} });
    assert.deepEqual((await store.deprecations.list()).items, []);
    await catchError(store.pets.get(9_007_199_254_740_993n));
    let calls = [];
    while (calls.length === 0) {
      calls = (await store.deprecations.list()).items;
    }
    const [{ operation, path, successors, requests }] = calls;
    assert.deepEqual([operation, path, requests], ['getPet', '/v1/pets/{petId}', 1]);
    assert.deepEqual(successors, ['/v1/pets?id={petId}', '/v1/pets?status=available']);
  });
});

describe('key.rotate', () => {
  it('returns the successor, which works, as the key itself does until the overlap ends', async () => {
    const store = await connect({ onDeprecation: () => {} });
    const { key, prefix, lastFour, createdAt, overlapEndsAt } = await store.key.rotate({
      overlapSeconds: 3600,
    });
    assert.equal(Date.parse(overlapEndsAt) - Date.parse(createdAt), 3_600_000);
    assert.equal((await new AnimalStore({ baseUrl, apiKey: key }).key.get()).state, 'active');
    const { state, successor } = await store.key.get();
    assert.deepEqual([state, successor.prefix, successor.lastFour], ['rotating', prefix, lastFour]);
  });

  it('replaces a successor that was never used, and rejects with a ConflictError once it was', async () => {
    const store = await connect({ onDeprecation: () => {} });
    const lost = await store.key.rotate();
    const { id, key } = await store.key.rotate();
    assert.notEqual(id, lost.id);
    await new AnimalStore({ baseUrl, apiKey: key }).key.get();
    assert.ok((await catchError(store.key.rotate())) instanceof ConflictError);
  });

  it('does not rotate a key again when no response arrives', async () => {
    const { fetch, requests } = recordingFetch(() => {
      throw new TypeError('The line is cut');
    });
    const store = await connect({ fetch, onDeprecation: () => {} });
    assert.ok((await catchError(store.key.rotate())) instanceof ConnectionError);
    assert.equal(requests.length, 1);
  });
});
