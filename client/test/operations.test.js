import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { AnimalStore } from 'animal-store-client';
import { clientMethod } from '../../src/openapi/pages/reference/client-method.js';
import { baseUrl, catchError, errorResponse, recordingFetch } from './support/store.js';

const readDocument = async (name) =>
  JSON.parse(await readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8'));

for (const { name, prefix, find } of [
  { name: 'openapi.json', prefix: '/v1', find: (store) => store },
  { name: 'admin-openapi.json', prefix: '', find: (store) => store.admin },
]) {
  describe(`an operation of ${name}`, () => {
    it('is the method that its path and operationId name, and takes the identifiers', async () => {
      const { paths } = await readDocument(name);
      for (const [path, item] of Object.entries(paths)) {
        for (const [httpMethod, { operationId }] of Object.entries(item)) {
          const { fetch, requests } = recordingFetch(() => errorResponse(404, 'not_found'));
          const store = new AnimalStore({ baseUrl, apiKey: 'key', fetch, onDeprecation: () => {} });
          const { resource, method } = clientMethod(Object.keys(paths), path, operationId);
          await catchError(find(store)[resource][method](...(path.match(/\{[^}]+\}/g) ?? [])));
          const [{ method: sent, url }] = requests;
          assert.deepEqual(
            [sent, decodeURIComponent(new URL(url).pathname)],
            [httpMethod.toUpperCase(), prefix + path],
          );
        }
      }
    });
  });
}

describe('the method of an operation', () => {
  const keys = ['/keys', '/keys/{id}', '/keys/{id}/rotate', '/keys/revoke', '/keys/{id}/rate-limit'];
  for (const { path, operationId, expected, others = [] } of [
    { path: '/pets', operationId: 'createPet', expected: 'pets.create' },
    { path: '/store/orders', operationId: 'listOrders', expected: 'orders.list' },
    { path: '/admin/quotas/{id}', operationId: 'getQuota', expected: 'quotas.get' },
    { path: '/key/rotate', operationId: 'rotateCurrentKey', expected: 'key.rotate', others: ['/key'] },
    { path: '/keys/{id}/rotate', operationId: 'rotateIssuedKey', expected: 'keys.rotate', others: keys },
    { path: '/keys/revoke', operationId: 'revokeLeakedKey', expected: 'keys.revokeLeaked', others: keys },
    {
      path: '/keys/{id}/rate-limit',
      operationId: 'getKeyRateLimit',
      expected: 'keys.rateLimit',
      others: keys,
    },
    { path: '/usage/top', operationId: 'listTopUsage', expected: 'usage.top', others: ['/usage'] },
    {
      path: '/keys/{id}/parts/{part}/send',
      operationId: 'sendKeyPart',
      expected: 'keys.sendPart',
      others: keys,
    },
  ]) {
    it(`is ${expected} for ${operationId} at ${path}`, () => {
      const { resource, method } = clientMethod([...others, path], path, operationId);
      assert.equal(`${resource}.${method}`, expected);
    });
  }
});
