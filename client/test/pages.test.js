import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { collect, connect, recordingFetch } from './support/store.js';

const COUNT = 230;

describe('an iteration over a list', () => {
  it('yields the items of all pages of animals, oldest first, with the largest limit', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const made = [];
    for (let index = 0; index < COUNT; index += 1) {
      made.push(await store.pets.create({ name: `Page ${index}`, categoryId: index, status: 'pending' }));
    }
    requests.length = 0;
    const walked = [];
    for await (const pet of store.pets.list({ status: 'pending' })) {
      walked.push(pet);
    }
    const own = walked.filter(({ name }) => name.startsWith('Page '));
    assert.deepEqual(own, made);
    const ids = walked.map(({ id }) => id);
    assert.deepEqual(
      ids,
      ids.toSorted((one, other) => one - other),
    );
    assert.ok(walked.every(({ status }) => status === 'pending'));
    assert.equal(requests.length, Math.ceil(walked.length / 100));
    assert.ok(requests.every(({ url }) => new URL(url).searchParams.get('limit') === '100'));
  });

  it('requests a page only once all items before it are consumed', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    let taken = 0;
    for await (const pet of store.pets.list({ limit: 2 })) {
      taken += 1;
      assert.equal(requests.length, Math.ceil(taken / 2), JSON.stringify(pet));
      if (taken === 3) {
        break;
      }
    }
    assert.equal(requests.length, 2);
  });

  it('has the largest limit even if limit is undefined', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    await store.pets.list({ limit: undefined })[Symbol.asyncIterator]().next();
    await store.orders.list({ limit: undefined })[Symbol.asyncIterator]().next();
    assert.deepEqual(
      requests.map(({ url }) => new URL(url).searchParams.get('limit')),
      ['100', '100'],
    );
  });
});

describe('the promise of a list', () => {
  it('requests its page once, when it is first awaited', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const pets = store.pets.list();
    await setImmediate();
    assert.equal(requests.length, 0);
    assert.equal(await pets, await pets);
    const { items } = await pets;
    assert.deepEqual([requests.length, items.length], [1, 20]);
    assert.equal(new URL(requests[0].url).search, '');
  });

  it('iterates over the page that was awaited, and over those after it', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const pets = store.pets.list({ limit: 2 });
    const { items } = await pets;
    const first = [];
    for await (const pet of pets) {
      first.push(pet);
      if (first.length === 3) {
        break;
      }
    }
    assert.deepEqual(first.slice(0, 2), items);
    assert.equal(requests.length, 2);
  });
});

describe('pets.list', () => {
  it('returns one page, and the cursor of the next', async () => {
    const store = await connect();
    const first = await store.pets.list({ limit: 2 });
    const second = await store.pets.list({ limit: 2, cursor: first.nextCursor });
    const both = await store.pets.list({ limit: 4 });
    assert.deepEqual([...first.items, ...second.items], both.items);
  });

  it('returns the animals of several ids, which one request repeats with all their digits', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const [one, other] = [
      await store.pets.create({ name: 'One', categoryId: 1 }),
      await store.pets.create({ name: 'Other', categoryId: 2, status: 'sold' }),
    ];
    const id = [other.id, BigInt(one.id), 9_223_372_036_854_775_807n];
    requests.length = 0;
    assert.deepEqual(await store.pets.list({ id }), { items: [one, other], nextCursor: null });
    assert.deepEqual(await store.pets.list({ id, status: 'sold' }), { items: [other], nextCursor: null });
    assert.equal(new URL(requests[0].url).search, `?id=${id.join('&id=')}`);
    assert.deepEqual(await collect(store.pets.list({ id, limit: 1 })), [one, other]);
  });

  it('is a RangeError, and not sent, for an empty list of ids, which would name all animals', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    await assert.rejects(store.pets.list({ id: [] }), {
      name: 'RangeError',
      message: 'id is empty: give at least one value, or leave it out',
    });
    assert.equal(requests.length, 0);
  });
});

describe('orders.list', () => {
  it('has only the orders of the key, and no cursor on the last page', async () => {
    const store = await connect();
    const other = await connect();
    const { items: pets } = await store.pets.list({ limit: 3 });
    await other.orders.create({ petId: pets[0].id, quantity: 1 });
    const orders = [];
    for (const { id } of pets) {
      orders.push(await store.orders.create({ petId: id, quantity: 2, shipDate: '2030-01-01T00:00:00Z' }));
    }
    assert.deepEqual(await collect(store.orders.list({ limit: 1 })), orders);
    assert.deepEqual(await store.orders.list({ status: 'placed' }), { items: orders, nextCursor: null });
    assert.deepEqual(await store.orders.list({ status: 'delivered' }), { items: [], nextCursor: null });
  });
});

describe('requests.list', () => {
  it('has the failed requests of the quota, and how many of them were not kept', async () => {
    const store = await connect();
    const { requestId } = await store.requests.get('unknown').catch((error) => error);
    let page;
    do {
      page = await store.requests.list();
    } while (page.items.length === 0);
    assert.equal(page.items[0].requestId, requestId);
    assert.equal(page.missing, 0);
  });
});
