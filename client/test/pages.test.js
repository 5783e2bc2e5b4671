import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect, connect, recordingFetch } from './support/store.js';

const COUNT = 230;

describe('pets and orders', () => {
  it('walks over all pages of animals, oldest first, with the largest limit', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const made = [];
    for (let index = 0; index < COUNT; index += 1) {
      made.push(await store.createPet({ name: `Page ${index}`, categoryId: index, status: 'pending' }));
    }
    requests.length = 0;
    const walked = [];
    for await (const pet of store.pets({ status: 'pending' })) {
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
    for await (const pet of store.pets({ limit: 2 })) {
      taken += 1;
      assert.equal(requests.length, Math.ceil(taken / 2), JSON.stringify(pet));
      if (taken === 3) {
        break;
      }
    }
    assert.equal(requests.length, 2);
  });

  it('has the largest limit also if limit is undefined', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    await store.pets({ limit: undefined }).next();
    await store.orders({ limit: undefined }).next();
    assert.deepEqual(
      requests.map(({ url }) => new URL(url).searchParams.get('limit')),
      ['100', '100'],
    );
  });
});

describe('listPets', () => {
  it('returns one page, and the cursor of the next', async () => {
    const store = await connect();
    const first = await store.listPets({ limit: 2 });
    const second = await store.listPets({ limit: 2, cursor: first.nextCursor });
    const both = await store.listPets({ limit: 4 });
    assert.deepEqual([...first.items, ...second.items], both.items);
  });

  it('returns the animals of several ids, which one request repeats with all their digits', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    const [one, other] = [
      await store.createPet({ name: 'One', categoryId: 1 }),
      await store.createPet({ name: 'Other', categoryId: 2, status: 'sold' }),
    ];
    const id = [other.id, BigInt(one.id), 9_223_372_036_854_775_807n];
    requests.length = 0;
    assert.deepEqual(await store.listPets({ id }), { items: [one, other], nextCursor: null });
    assert.deepEqual(await store.listPets({ id, status: 'sold' }), { items: [other], nextCursor: null });
    assert.equal(new URL(requests[0].url).search, `?id=${id.join('&id=')}`);
    assert.deepEqual(await collect(store.pets({ id, limit: 1 })), [one, other]);
  });

  it('is a RangeError, and not sent, for an empty list of ids, which would name all animals', async () => {
    const { fetch, requests } = recordingFetch();
    const store = await connect({ fetch });
    await assert.rejects(store.listPets({ id: [] }), {
      name: 'RangeError',
      message: 'id is empty: give at least one value, or leave it out',
    });
    assert.equal(requests.length, 0);
  });
});

describe('listOrders', () => {
  it('has only the orders of the key, and no cursor on the last page', async () => {
    const store = await connect();
    const other = await connect();
    const { items: pets } = await store.listPets({ limit: 3 });
    await other.createOrder({ petId: pets[0].id, quantity: 1 });
    const orders = [];
    for (const { id } of pets) {
      orders.push(await store.createOrder({ petId: id, quantity: 2, shipDate: '2030-01-01T00:00:00Z' }));
    }
    assert.deepEqual(await collect(store.orders({ limit: 1 })), orders);
    assert.deepEqual(await store.listOrders({ status: 'placed' }), { items: orders, nextCursor: null });
    assert.deepEqual(await store.listOrders({ status: 'delivered' }), { items: [], nextCursor: null });
  });
});
