import administration from '../../../admin-openapi.json';
import store from '../../../openapi.json';
import type { OpenApiDocument } from './openapi-document';
import { needsConfirmation, readOperations, searchOperations } from './operations';

const ofStore = readOperations(store as unknown as OpenApiDocument, '/docs', false);
const ofAdministration = readOperations(administration as unknown as OpenApiDocument, '/docs/admin', true);

describe('readOperations', () => {
  it('returns every operation of the document, with its base path', () => {
    const count = (paths: object) =>
      Object.values(paths).flatMap((methods: object) => Object.keys(methods)).length;
    expect(ofStore).toHaveLength(count(store.paths));
    expect(ofAdministration).toHaveLength(count(administration.paths));
    expect(ofStore.every(({ path }) => path.startsWith('/v1/'))).toBe(true);
    expect(ofAdministration.every(({ path }) => path.startsWith('/admin/'))).toBe(true);
  });

  it('returns the deprecation, and where the reference shows the operation', () => {
    expect(ofStore.find(({ id }) => id === 'getPet')).toMatchObject({
      deprecation: {
        since: '2025-12-05',
        removedAt: '2030-12-05',
        replacement: '/v1/pets?status=available',
      },
      referenceUrl: '/docs#/pets/getPet',
    });
  });

  it('returns parameters as fields', () => {
    const listPets = ofStore.find(({ id }) => id === 'listPets');
    expect(listPets?.parameters).toMatchObject([
      { name: 'limit', place: 'query', isInteger: true, defaultValue: '20', choices: null },
      { name: 'status', choices: ['available', 'pending', 'sold'] },
      { name: 'cursor' },
      { name: 'If-None-Match', place: 'header' },
    ]);
    expect(listPets?.parameters[0]?.description).toBe('Maximum number of animals returned. From 1 to 100.');
  });

  it('returns the example of the request body as text', () => {
    const { body } = ofStore.find(({ id }) => id === 'createPet') ?? {};
    expect(body).toEqual({
      contentType: 'application/json',
      example: '{\n  "name": "Biscuit",\n  "categoryId": 3,\n  "status": "available"\n}',
    });
  });
});

describe('searchOperations', () => {
  it('finds operations by every word of their method, path, name, summary or tag', () => {
    const found = (phrase: string) =>
      searchOperations(ofStore, phrase).map(({ operations }) => operations.map(({ id }) => id));
    expect(found('post ANIMAL')).toEqual([['createPet']]);
    expect(found('orders')).toEqual([['listOrders', 'createOrder']]);
    expect(found('no such')).toStrictEqual([]);
  });
});

describe('needsConfirmation', () => {
  it('confirms what changes an existing key or plan, and nothing else', () => {
    const confirmed = [...ofStore, ...ofAdministration].filter(needsConfirmation).map(({ id }) => id);
    expect(confirmed).toEqual(
      expect.arrayContaining(['changePlan', 'rotateKey', 'revokeKey', 'unbanKey', 'setPlan']),
    );
    expect(confirmed).toEqual(expect.arrayContaining(['restrictKey', 'revokeLeakedKey', 'rotateOwnKey']));
    expect(confirmed).not.toEqual(expect.arrayContaining(['issueKey']));
    expect(confirmed).not.toEqual(expect.arrayContaining(['getKey']));
    expect(confirmed).not.toEqual(expect.arrayContaining(['createPet']));
  });
});
