import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { catchError, connect, recordingFetch } from './support/store.js';

const cases = [
  [9_223_372_036_854_775_807n, 'bigint'],
  [-9_223_372_036_854_775_808n, 'bigint'],
  [BigInt(Number.MAX_SAFE_INTEGER) + 1n, 'bigint'],
  [BigInt(Number.MAX_SAFE_INTEGER), 'number'],
  [BigInt(Number.MIN_SAFE_INTEGER), 'number'],
  [0n, 'number'],
];

describe('an int64', () => {
  for (const [categoryId, type] of cases) {
    it(`is sent and returned with all digits of ${categoryId}, which is a ${type}`, async () => {
      const { fetch, requests } = recordingFetch();
      const store = await connect({ fetch });
      const pet = await store.pets.create({ name: 'Exact', categoryId });
      assert.equal(await requests[0].text(), `{"name":"Exact","categoryId":${categoryId}}`);
      assert.equal(typeof pet.categoryId, type);
      assert.equal(BigInt(pet.categoryId), categoryId);
    });
  }

  for (const unsafe of [2 ** 53, -(2 ** 53), 1e21, Infinity, NaN]) {
    it(`is a RangeError, and not sent, for the number ${unsafe}, which may have lost digits`, async () => {
      const { fetch, requests } = recordingFetch();
      const store = await connect({ fetch });
      const calls = {
        categoryId: () => store.pets.create({ name: 'Rounded', categoryId: unsafe }),
        quantity: () => store.orders.create({ petId: 1, quantity: unsafe }),
        petId: () => store.pets.get(unsafe),
        limit: () => store.pets.list({ limit: unsafe }),
        id: () => store.pets.list({ id: [1, unsafe] }),
      };
      for (const [field, call] of Object.entries(calls)) {
        await assert.rejects(call, {
          name: 'RangeError',
          message: `${field} is ${unsafe}, which a number may have been rounded to: give a bigint`,
        });
      }
      assert.equal(requests.length, 0);
    });
  }

  it('may be the largest number that has all its digits', async () => {
    const store = await connect();
    const { categoryId } = await store.pets.create({ name: 'Exact', categoryId: Number.MAX_SAFE_INTEGER });
    assert.equal(categoryId, Number.MAX_SAFE_INTEGER);
  });

  it('may be a number', async () => {
    const store = await connect();
    const pet = await store.pets.create({ name: 'Exact', categoryId: 7, status: 'sold' });
    assert.deepEqual(pet, { id: pet.id, name: 'Exact', categoryId: 7, status: 'sold' });
    assert.equal(typeof pet.id, 'number');
  });

  it('has all its digits in a path', async () => {
    const store = await connect({ onDeprecation: () => {} });
    const { message } = await catchError(store.pets.get(9_007_199_254_740_993n));
    assert.match(message, /has the id 9007199254740993\./);
  });
});
