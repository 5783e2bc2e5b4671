import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SCOPES } from '../../src/auth/rules/scope.js';
import { readEnvironment } from '../../src/process/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { type HttpResponse, send } from '../support/http/http.js';

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

const FILES = ['openapi.json', 'admin-openapi.json'];

describe('the OpenAPI documents', () => {
  let store: TestApplication;
  const served: Record<string, HttpResponse> = {};
  let documents: { store: Json; administration: Json };

  beforeAll(async () => {
    const { PRODUCTION_URL, STAGING_URL } = readEnvironment({});
    store = await startApplication({ environment: { PRODUCTION_URL, STAGING_URL } });
    for (const file of FILES) {
      served[file] = await send(`${store.url}/${file}`);
    }
    const [publicDocument, administration] = FILES.map((file) => served[file]?.json);
    documents = { store: publicDocument, administration };
  });
  afterAll(() => store.close());

  describe.each(FILES)('/%s', (file) => {
    it('is served without a key, and equals the committed file (if not: npm run documents)', async () => {
      const { status, headers, text, json } = served[file] ?? {};
      expect([status, headers?.get('content-type')]).toEqual([200, 'application/json']);
      expect(text).toBe(await readFile(`docs/${file}`, 'utf8'));
      expect(json.openapi).toMatch(/^3\.1\./);
    });
  });

  it.each([
    ['openapi.json', 'client/src/store-schema.ts'],
    ['admin-openapi.json', 'client/src/admin-schema.ts'],
  ])(
    'are those from which the client is generated (if not: npm run documents): %s, %s',
    async (file, made) => {
      const digest = hash('sha256', await readFile(`docs/${file}`, 'utf8'));
      expect((await readFile(made, 'utf8')).split('\n')[1]).toBe(`// SHA-256 of ${file}: ${digest}`);
    },
  );

  it('have the stability of each operation in its description', () => {
    const operations = Object.values(documents).flatMap(listOperations);
    for (const { description, 'x-stability': stability } of operations) {
      expect(description).toContain(`**Stability: ${stability}.**`);
    }
    const unstable = operations
      .filter(({ 'x-stability': stability }) => stability !== 'stable')
      .map(({ operationId, 'x-stability': stability }) => `${operationId} ${stability}`);
    expect(unstable).toEqual(
      expect.arrayContaining(['listOrders beta', 'createOrder experimental', 'getCurrentKey beta']),
    );
  });

  it.each([
    ['the public interface', 'openapi.json', '/v1', '/v1', /^(?!\/admin)/, 'pets limits account keys'],
    [
      'administration',
      'admin-openapi.json',
      '/',
      '',
      /^\/admin\//,
      'keys quotas plans usage audit webhooks health',
    ],
  ])(
    'describe %s in %s, relative to this server and both environments',
    (_what, file, here, version, form, names) => {
      const { servers, paths, tags } = served[file]!.json;
      expect(servers.map(({ url }: Json) => url)).toEqual([
        here,
        `https://api.animal-store.example${version}`,
        `https://staging.animal-store.example${version}`,
      ]);
      expect(Object.keys(paths).filter((path) => !form.test(path))).toStrictEqual([]);
      const used = listOperations({ paths }).map((operation) => operation.tags);
      expect(used.filter(({ length }) => length !== 1)).toStrictEqual([]);
      expect(tags.map(({ name }: Json) => name)).toEqual([...new Set(used.flat())]);
      expect(tags.filter(({ description }: Json) => !description)).toStrictEqual([]);
      expect(tags.map(({ name }: Json) => name)).toEqual(expect.arrayContaining(names.split(' ')));
    },
  );

  it('have the statuses that each operation returns', () => {
    const statuses = Object.values(documents)
      .flatMap(listOperations)
      .map(({ operationId, responses }) => [operationId, Object.keys(responses).join(' ')]);
    expect(Object.fromEntries(statuses)).toMatchObject({
      listPets: '200 304 400 401 403 429 500 503',
      createPet: '201 400 401 403 409 413 415 422 429 500 503',
      getPet: '200 304 400 401 403 404 410 429 500 503',
      createOrder: '201 400 401 403 404 409 413 415 422 429 500 503',
      getRateLimit: '200 400 401 403 429 500 503',
      issueKey: '201 400 401 403 409 413 415 429 500 503',
      getKey: '200 400 401 403 404 429 500 503',
      rotateKey: '201 400 401 403 404 409 413 415 429 500 503',
      setPlan: '200 201 400 401 403 404 409 413 415 429 500 503',
      listKeyUsage: '200 400 401 403 404 429 500 503',
      deleteWebhook: '200 400 401 403 404 413 429 500 503',
      testWebhook: '201 400 401 403 404 409 413 429 500 503',
      resendWebhookDelivery: '200 400 401 403 404 409 413 429 500 503',
      getHealth: '200 400 401 403 429 500 503',
    });
  });

  it('have the bounds of limit as the number that a client sends', () => {
    const { parameters } = documents.store.paths['/pets'].get;
    const limit = parameters.find(({ name }: Json) => name === 'limit');
    expect(limit.required).toBe(false);
    expect(limit.schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 20 });
    expect(limit.schema).not.toHaveProperty('pattern');
  });

  it('have id of listPets as an array of at most 100 int64s, which is repeated by default', () => {
    const { parameters } = documents.store.paths['/pets'].get;
    const {
      schema,
      required,
      style = 'form',
      explode = true,
    } = parameters.find(({ name }: Json) => name === 'id');
    expect([required, style, explode]).toEqual([false, 'form', true]);
    expect(schema).toMatchObject({
      type: 'array',
      maxItems: 100,
      items: { type: 'integer', format: 'int64' },
    });
  });

  it('have the 64-bit identifiers, required fields and bounds of an animal', () => {
    const { NewPet, Pet, PetStatus } = documents.store.components.schemas;
    expect(PetStatus.enum).toEqual(['available', 'pending', 'sold']);
    expect(NewPet.required).toEqual(['name', 'categoryId']);
    expect(NewPet.properties.name).toMatchObject({ type: 'string', minLength: 1, maxLength: 255 });
    expect(NewPet.properties.categoryId).toMatchObject({ type: 'integer', format: 'int64' });
    expect(Pet.required).toEqual(['id', 'name', 'categoryId']);
    expect(Pet.properties.id).toMatchObject({ type: 'integer', format: 'int64' });
    expect(documents.store.paths['/pets/{petId}'].get.parameters).toMatchObject([
      { name: 'petId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
      { name: 'If-None-Match', in: 'header', required: false },
    ]);
  });

  it('have an optional body of rotateKey, and the key only in responses that create one', () => {
    const document = documents.administration;
    const { KeyRotation, Key, IssuedKey, KeySuccessor } = document.components.schemas;
    expect(KeyRotation).not.toHaveProperty('required');
    expect(document.paths['/admin/keys/{keyId}/rotate'].post.requestBody.required).toBe(false);
    const issued = [...Object.keys(Key.properties), 'key'];
    expect(Object.keys(IssuedKey.properties)).toEqual(issued);
    expect(Object.keys(KeySuccessor.properties)).toEqual([...issued, 'overlapEndsAt']);
    expect(Key.properties).not.toHaveProperty('key');
  });

  it('name the scope that each operation needs, and none of what every key may do', () => {
    const operations = Object.values(documents).flatMap(({ paths }) =>
      Object.values(paths).flatMap((item) => Object.values<Json>(item as object)),
    );
    const scopes: Record<string, string[]> = Object.fromEntries(
      operations.map(({ operationId, security }) => [operationId, security[0].apiKey]),
    );
    expect(scopes).toMatchObject({
      listPets: ['pets:read'],
      createPet: ['pets:write'],
      getPet: ['pets:read'],
      listOrders: ['orders:read'],
      createOrder: ['orders:write'],
      getRateLimit: [],
      getCurrentKey: [],
      rotateCurrentKey: [],
      listKeys: ['admin:read'],
      issueKey: ['admin:write'],
      getHealth: ['admin:read'],
    });
    const administration = Object.values(documents.administration.paths).flatMap((item) =>
      Object.entries<Json>(item as object),
    );
    for (const [method, { security }] of administration) {
      expect(security).toEqual([{ apiKey: [method === 'get' ? 'admin:read' : 'admin:write'] }]);
    }
    expect(Object.values(scopes).filter(({ length }) => length > 1)).toStrictEqual([]);
  });

  it.each([
    ['openapi.json', 'NewFurtherKey CurrentKey'],
    ['admin-openapi.json', 'NewKey KeyUpdate Key'],
  ])('list every scope that a key may have, so a new one changes both: %s', (file, names) => {
    const { schemas } = served[file]!.json.components;
    for (const name of names.split(' ')) {
      const { items } = schemas[name].properties.scopes.anyOf[0];
      expect(items.enum ?? items.anyOf[0].enum).toEqual(SCOPES);
    }
  });

  it.each(FILES)('let every enumeration of responses gain values, except PetStatus: %s', (file) => {
    const document = served[file]!.json;
    const responses = listOperations(document).map((operation) => operation.responses);
    expect(closedEnums(document, responses)).toEqual(file === 'openapi.json' ? ['PetStatus'] : []);
  });

  it('have only the known values of an enumeration in requests', () => {
    const { NewKey, NewWebhook } = documents.administration.components.schemas;
    expect(NewKey.properties.role.enum).toEqual(['client', 'admin']);
    expect(NewWebhook.properties.events.items.enum).toContain('quota.banned');
    const { parameters } = documents.store.paths['/store/orders'].get;
    const { schema } = parameters.find(({ name }: Json) => name === 'status');
    expect(schema.enum).toEqual(['placed', 'approved', 'delivered']);
  });

  it('have the request that a receiver gets for each event, with its headers and its payload', () => {
    const { webhooks, components } = documents.administration;
    expect(Object.keys(webhooks)).toEqual([
      'quota.day_limit_approaching',
      'quota.day_limit_reached',
      'quota.banned',
      'key.expiring',
      'key.rotated',
      'key.revoked',
      'key.suspended',
      'key.resumed',
      'key.deprecated_operation_called',
      'webhook.paused',
      'webhook.test',
    ]);
    for (const [type, { post }] of Object.entries<Json>(webhooks)) {
      expect(post.parameters.map(({ name }: Json) => name)).toEqual([
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ]);
      expect(post).toMatchObject({ security: [], responses: { '2XX': expect.anything() } });
      const { $ref } = post.requestBody.content['application/json'].schema;
      const { required, properties } = components.schemas[$ref.split('/').at(-1)];
      expect(required).toEqual(['type', 'timestamp', 'data']);
      expect(properties.type.const).toBe(type);
      // It may have more fields in later versions.
      expect(properties.data).not.toHaveProperty('additionalProperties');
    }
    expect(components.schemas.KeyRevokedEvent.properties.data.required).toEqual([
      'keyId',
      'keyName',
      'quotaId',
      'externalId',
      'revokedAt',
    ]);
    expect(documents.store).not.toHaveProperty('webhooks');
  });

  it('require a bearer key everywhere, and mark only getPet as deprecated', () => {
    for (const { security, components } of Object.values(documents)) {
      expect(security).toEqual([{ apiKey: [] }]);
      expect(components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
    }
    const document = documents.store;
    expect(document.paths['/pets/{petId}'].get).toMatchObject({
      deprecated: true,
      'x-deprecated-since': '2025-12-05',
      'x-sunset': '2030-12-05',
      'x-successors': ['/v1/pets?id={petId}', '/v1/pets?status=available'],
    });
    expect(document.paths['/pets'].get).not.toHaveProperty('deprecated');
    expect(document.paths['/pets'].post).not.toHaveProperty('deprecated');
  });
});

describe('the contact in the OpenAPI documents', () => {
  it.each([
    ['https://animal-store.example/support', { url: 'https://animal-store.example/support' }],
    ['support@animal-store.example', { email: 'support@animal-store.example' }],
  ])('is in both documents when it is set: %s', async (CONTACT, contact) => {
    const store = await startApplication({ environment: { CONTACT } });
    for (const file of FILES) {
      expect((await send(`${store.url}/${file}`)).json.info.contact).toEqual(contact);
    }
    await store.close();
  });
});

/**
 * Returns the last names of references under which a part of a document has an enumeration that allows no
 * further text.
 */
function closedEnums(document: Json, part: Json, name = '', followed = new Set<string>()): string[] {
  if (typeof part !== 'object' || part === null) {
    return [];
  }
  if (typeof part.$ref === 'string') {
    const [, ...path] = part.$ref.split('/');
    const target = path.reduce((inner: Json, key: string) => inner[key], document);
    const isNew = !followed.has(part.$ref);
    followed.add(part.$ref);
    return isNew ? closedEnums(document, target, path.at(-1), followed) : [];
  }
  const isClosed = Array.isArray(part.enum);
  const isOpen = part.anyOf?.some(({ type, enum: values }: Json) => type === 'string' && !values);
  const { anyOf, example: _example, examples: _examples, ...others } = part;
  const inner = Object.values<Json>(isOpen === true ? others : { anyOf, ...others });
  return [
    ...(isClosed ? [name] : []),
    ...inner.flatMap((each) => closedEnums(document, each, name, followed)),
  ];
}

function listOperations({ paths }: Json): Json[] {
  return Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item));
}
