import { compareDocuments } from '../../dev/release/compare-documents.js';
import type { Json, Sender } from '../../dev/release/compare-schemas.js';

const TODAY = '2027-06-15';
const STRING = { type: 'string' };
const object = (properties: Json, ...required: string[]) => ({ type: 'object', properties, required });
const openEnum = (...values: string[]) => ({ anyOf: [{ type: 'string', enum: values }, STRING] });
const nullable = (schema: Json) => ({ anyOf: [schema, { type: 'null' }] });

const response = (schema: Json, headers: Json = {}) => ({
  description: 'An animal.',
  headers,
  content: { 'application/json': { schema } },
});

/** Returns an operation with some of its parts replaced. */
const operation = (parts: Json = {}) => ({
  operationId: 'createPet',
  'x-stability': 'stable',
  security: [{ apiKey: ['pets:write'] }],
  parameters: [{ name: 'limit', in: 'query', required: false, schema: { type: 'integer', default: 20 } }],
  responses: { 201: response(object({ name: STRING }, 'name')), 400: response(object({})) },
  ...parts,
});

const document = (post: Json | null, parts: Json = {}) => ({
  servers: [{ url: 'https://api.example/v1' }],
  paths: { '/pets': { ...(post !== null && { post }) } },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } }, schemas: {} },
  ...parts,
});

/** Returns the faults of a change as lines. */
function compare(before: Json, after: Json, ...releases: [date: string, document: Json][]): string[] {
  const announcements = releases.map(([date, each]) => ({ date, document: each }));
  return compareDocuments(before, after, announcements, TODAY).map(
    ({ place, problem }) => `${place}: ${problem}`,
  );
}

/** Returns the faults of a change of what one of them sends. */
function compareSent(sender: Sender, before: Json, after: Json): string[] {
  const sent = (schema: Json) =>
    sender === 'client'
      ? operation({ requestBody: { required: true, content: { 'application/json': { schema } } } })
      : operation({ responses: { 201: response(schema) } });
  return compare(document(sent(before)), document(sent(after)));
}

const ALLOWED: [change: string, sender: Sender, before: Json, after: Json][] = [
  ['a response gets a field', 'service', object({}), object({ age: STRING }, 'age')],
  ['an open enumeration gets a value', 'service', openEnum('a'), openEnum('a', 'b')],
  ['a bound of a response gets looser', 'service', { type: 'string', maxLength: 5 }, STRING],
  ['a bound of a response gets tighter', 'service', STRING, { type: 'string', maxLength: 5 }],
  ['a field of a response is never null any more', 'service', nullable(STRING), STRING],
  ['a field of a response is always there now', 'service', object({ a: STRING }), object({ a: STRING }, 'a')],
  ['a number of a response is an integer now', 'service', { type: 'number' }, { type: 'integer' }],
  ['a request may have a field', 'client', object({}), object({ age: STRING })],
  ['a field of a request is optional now', 'client', object({ a: STRING }, 'a'), object({ a: STRING })],
  ['a field of a request may be null', 'client', STRING, nullable(STRING)],
  ['a request may have another value', 'client', { enum: ['a'] }, { enum: ['a', 'b'] }],
  ['a request may have any value', 'client', { ...STRING, enum: ['a'] }, { ...STRING, maxLength: 9 }],
  [
    'a bound of a request gets looser',
    'client',
    { type: 'integer', maximum: 5 },
    { type: 'integer', maximum: 9 },
  ],
  ['an integer of a request may be longer', 'client', { format: 'int32' }, { format: 'int64' }],
  ['a list of a request may have any items', 'client', { items: STRING }, {}],
  ['a map of a request may have any values', 'client', { additionalProperties: STRING }, {}],
  ['a description changes', 'client', { ...STRING, description: 'a' }, { ...STRING, description: 'b' }],
];

const REFUSED: [change: string, sender: Sender, before: Json, after: Json, fault: string][] = [
  ['a response loses a field', 'service', object({ a: STRING }), object({}), 'body.a: The field is gone'],
  [
    'a field of a response may be absent',
    'service',
    object({ a: STRING }, 'a'),
    object({ a: STRING }),
    'body.a: It was always there',
  ],
  [
    'a field of a response may be null',
    'service',
    STRING,
    nullable(STRING),
    'body: Its type was "string", and is "null"',
  ],
  [
    'a nullable object loses a field',
    'service',
    nullable(object({ a: STRING })),
    nullable(object({})),
    'body.a: The field is gone',
  ],
  [
    'a field in a list is gone',
    'service',
    { type: 'array', items: object({ a: STRING }) },
    { type: 'array', items: object({}) },
    'body[].a: The field is gone',
  ],
  [
    'an open enumeration loses a value',
    'service',
    openEnum('a', 'b'),
    openEnum('a'),
    'body: The value "b" is gone',
  ],
  [
    'an enumeration of a response loses a value',
    'service',
    { enum: ['a', 'b'] },
    { enum: ['a'] },
    'body: The value "b" is gone',
  ],
  [
    'a closed enumeration of a response gets a value',
    'service',
    { enum: ['a'] },
    { enum: ['a', 'b'] },
    'body: It may be "b", which no client knows',
  ],
  [
    'a closed enumeration of a response gets open',
    'service',
    { ...STRING, enum: ['a'] },
    openEnum('a'),
    'body: It was one of a few values',
  ],
  [
    'a type of a response changes',
    'service',
    STRING,
    { type: 'integer' },
    'body: Its type was "string", and is "integer"',
  ],
  [
    'an integer of a response may be a fraction',
    'service',
    { type: 'integer' },
    { type: 'number' },
    'body: Its type was "integer", and is "number"',
  ],
  [
    'a format of a response changes',
    'service',
    { ...STRING, format: 'uuid' },
    STRING,
    'body: Its format was "uuid", and is none',
  ],
  [
    'a value of a map changes',
    'service',
    { additionalProperties: STRING },
    { additionalProperties: { type: 'integer' } },
    'body.*: Its type',
  ],
  [
    'a request needs a new field',
    'client',
    object({}),
    object({ a: STRING }, 'a'),
    'body.a: It is required now',
  ],
  [
    'a request needs a field that was optional',
    'client',
    object({ a: STRING }),
    object({ a: STRING }, 'a'),
    'body.a: It is required now',
  ],
  [
    'a field of a request is ignored now',
    'client',
    object({ a: STRING }),
    object({}),
    'body.a: The field is gone',
  ],
  [
    'a request may no longer be null',
    'client',
    nullable(STRING),
    STRING,
    'body: Its type was "null", and is "string"',
  ],
  [
    'a value of a request is rejected',
    'client',
    { enum: ['a', 'b'] },
    { enum: ['a'] },
    'body: The value "b" is gone',
  ],
  [
    'a request accepts a few values only',
    'client',
    STRING,
    { ...STRING, enum: ['a'] },
    'body: It accepted any value',
  ],
  [
    'maxLength of a request gets tighter',
    'client',
    { ...STRING, maxLength: 9 },
    { ...STRING, maxLength: 5 },
    'body: Its maxLength was 9, and is 5',
  ],
  [
    'a request gets a minimum',
    'client',
    { type: 'integer' },
    { type: 'integer', minimum: 1 },
    'body: Its minimum was none, and is 1',
  ],
  ['a request gets a pattern', 'client', STRING, { ...STRING, pattern: '^a' }, 'body: Its pattern was none'],
  [
    'a format of a request is needed',
    'client',
    STRING,
    { ...STRING, format: 'uuid' },
    'body: Its format was none, and is "uuid"',
  ],
  [
    'a request may have no other fields',
    'client',
    object({}),
    { ...object({}), additionalProperties: false },
    'body: It accepted and ignored other fields',
  ],
  [
    'items of a response may be anything',
    'service',
    { type: 'array', items: STRING },
    { type: 'array' },
    'body[]: Its type was "string", and is none',
  ],
  [
    'items of a request are restricted',
    'client',
    { type: 'array' },
    { type: 'array', items: STRING },
    'body[]: Its type was none, and is "string"',
  ],
  [
    'values of a map may be anything',
    'service',
    { additionalProperties: STRING },
    { additionalProperties: true },
    'body.*: Its type was "string", and is none',
  ],
  [
    'a map gets empty',
    'service',
    { additionalProperties: STRING },
    { additionalProperties: false },
    'body.*: The fields are gone',
  ],
  [
    'fields of the items of a request are ignored',
    'client',
    { type: 'array', items: object({ a: STRING }) },
    { type: 'array' },
    'body[].a: The field is gone',
  ],
  [
    'an integer of a response may be longer',
    'service',
    { format: 'int32' },
    { format: 'int64' },
    'body: Its format was "int32", and is "int64"',
  ],
  [
    'names of fields are restricted',
    'client',
    { type: 'object' },
    { type: 'object', propertyNames: { maxLength: 9 } },
    'body: Its "propertyNames" changed',
  ],
  [
    'a keyword changes that is not understood',
    'client',
    STRING,
    { ...STRING, not: { const: 'a' } },
    'body: Its "not" changed',
  ],
];

describe('compareDocuments', () => {
  it.each(ALLOWED)('allows that %s', (_change, sender, before, after) => {
    expect(compareSent(sender, before, after)).toEqual([]);
  });

  it.each(REFUSED)('refuses that %s', (_change, sender, before, after, fault) => {
    const place = sender === 'client' ? 'POST /v1/pets' : 'POST /v1/pets → 201';
    const [first = '', ...others] = compareSent(sender, before, after);
    expect(first).toContain(`${place} → ${fault}`);
    expect(others).toEqual([]);
  });

  it.each<[string, Json | null, Json | null, string]>([
    ['an operation is gone', operation(), null, 'POST /v1/pets: It is gone'],
    [
      'an operationId changes',
      operation(),
      operation({ operationId: 'addPet' }),
      'POST /v1/pets: Its operationId was createPet',
    ],
    [
      'a stability gets lower',
      operation(),
      operation({ 'x-stability': 'beta' }),
      'POST /v1/pets: Its stability was stable, and is beta',
    ],
    [
      'another scope is needed',
      operation(),
      operation({ security: [{ apiKey: ['pets:add'] }] }),
      'POST /v1/pets: It needed {"apiKey":["pets:write"]}',
    ],
    [
      'a parameter is gone',
      operation(),
      operation({ parameters: [] }),
      'POST /v1/pets → query limit: The parameter is gone',
    ],
    [
      'a default changes',
      operation(),
      operation({ parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', default: 50 } }] }),
      'query limit: Its default was 20, and is 50',
    ],
    [
      'a parameter is required now',
      operation({ parameters: [] }),
      operation({ parameters: [{ name: 'a', in: 'query', required: true, schema: STRING }] }),
      'query a: The parameter is required now',
    ],
    [
      'a list in a parameter has another form',
      operation(),
      operation({ parameters: [{ ...operation().parameters[0], explode: false }] }),
      'query limit: Its "explode" changed, which this check does not understand',
    ],
    [
      'a header has another form',
      operation({ responses: { 201: response({}, { ETag: { schema: STRING } }) } }),
      operation({ responses: { 201: response({}, { ETag: { content: { 'text/plain': {} } } }) } }),
      '201 → ETag: Its "content" changed, which this check does not understand',
    ],
    [
      'a body is required now',
      operation(),
      operation({ requestBody: { required: true, content: {} } }),
      'POST /v1/pets → body: It is required now',
    ],
    [
      'a status is gone',
      operation(),
      operation({ responses: { 201: operation().responses[201] } }),
      'POST /v1/pets → 400: The status is gone',
    ],
    [
      'a content type is gone',
      operation(),
      operation({ responses: { ...operation().responses, 400: { content: {} } } }),
      '400 → body: The content type application/json is gone',
    ],
    [
      'a header is gone',
      operation({ responses: { 201: response({}, { ETag: { schema: STRING } }) } }),
      operation({ responses: { 201: response({}) } }),
      '201 → ETag: The header is gone',
    ],
    [
      'a header may be absent',
      operation({ responses: { 201: response({}, { ETag: { required: true, schema: STRING } }) } }),
      operation({ responses: { 201: response({}, { ETag: { schema: STRING } }) } }),
      '201 → ETag: The header was always there',
    ],
    [
      'a removal comes sooner',
      operation({ deprecated: true, 'x-sunset': '2030-01-01' }),
      operation({ deprecated: true, 'x-sunset': '2029-01-01' }),
      'Its removal was announced for 2030-01-01',
    ],
  ])('refuses that %s', (_change, before, after, fault) => {
    const [first = '', ...others] = compare(document(before), document(after));
    expect(first).toContain(fault);
    expect(others).toEqual([]);
  });

  it('allows an operation, an optional parameter, a header, a status and a deprecation that are new', () => {
    const parameters = [...operation().parameters, { name: 'a', in: 'query', schema: STRING }];
    const responses = { ...operation().responses, 409: response({}) };
    responses[201] = response(object({ name: STRING }, 'name'), { ETag: { required: true, schema: STRING } });
    const post = operation({ parameters, responses, deprecated: true, 'x-sunset': '2030-01-01' });
    const paths = { '/pets': { post }, '/visits': { get: operation({ operationId: 'listVisits' }) } };
    expect(compare(document(operation()), document(null, { paths }))).toEqual([]);
  });

  it('names a fault of a component once, with the operations that use it', () => {
    const $ref = '#/components/schemas/Pet';
    const with_ = (Pet: Json) => {
      const get = operation({ operationId: 'getPet', responses: { 200: response({ $ref }) } });
      const post = operation({ responses: { 201: response({ $ref }) } });
      return document(null, { paths: { '/pets': { get, post } }, components: { schemas: { Pet } } });
    };
    const [fault, ...others] = compare(
      with_(object({ name: STRING, friend: { $ref } })),
      with_(object({ friend: { $ref } })),
    );
    expect(fault).toMatch(/^Pet\.name, of GET \/v1\/pets, POST \/v1\/pets: The field is gone\./);
    expect(others).toEqual([]);
  });

  it('allows that a parameter or a header is described by other words', () => {
    const with_ = (description: string) => {
      const described = { description, example: description, examples: {} };
      return operation({
        parameters: [{ ...operation().parameters[0], ...described }],
        responses: { 201: response({}, { ETag: { schema: STRING, ...described } }) },
      });
    };
    expect(compare(document(with_('a')), document(with_('b')))).toEqual([]);
  });

  it.each(['https://api.example/v2', 'https://api.example'])(
    'refuses that the URLs of servers become %s',
    (url) => {
      const servers = [{ url: 'https://other.example/v1' }, { url }];
      expect(compare(document(operation()), document(operation(), { servers }))).toEqual([
        expect.stringContaining('servers: Their URLs ended with "/v1", and end with "/v1 or '),
      ]);
    },
  );

  it('allows that the service moves to another host', () => {
    const servers = [{ url: 'https://other.example/v1' }];
    expect(compare(document(operation()), document(operation(), { servers }))).toEqual([]);
  });

  it('refuses what changes in a component that contains itself', () => {
    const $ref = '#/components/schemas/Tree';
    const with_ = (Tree: Json) =>
      document(operation({ responses: { 201: response({ $ref }) } }), { components: { schemas: { Tree } } });
    const tree = { type: 'array', items: { $ref } };
    expect(compare(with_({ type: 'array' }), with_(tree))).toEqual([]);
    expect(compare(with_(tree), with_(tree))).toEqual([]);
    expect(compare(with_(tree), with_({ type: 'array' }))).toHaveLength(1);
  });

  it('refuses that a schema loses its name, and that clients authenticate in another way', () => {
    const $ref = '#/components/schemas/Pet';
    const before = {
      securitySchemes: { apiKey: { type: 'http' } },
      schemas: { Pet: STRING, Unused: STRING },
    };
    const post = operation({ responses: { 201: response({ $ref }) } });
    const inline = operation({ responses: { 201: response(STRING) } });
    const components = { securitySchemes: { apiKey: { type: 'apiKey' } }, schemas: {} };
    expect(compare(document(post, { components: before }), document(inline, { components }))).toEqual([
      expect.stringMatching(/^components → securitySchemes → apiKey: It is gone or another one/),
      expect.stringMatching(/^components → schemas → Pet: The name is gone/),
    ]);
  });
});

describe('compareDocuments of webhooks', () => {
  const webhooks = (data: Json, responses: Json = { '2XX': {} }) =>
    document(null, {
      webhooks: {
        'key.revoked': {
          post: {
            operationId: 'keyRevokedEvent',
            requestBody: { required: true, content: { 'application/json': { schema: data } } },
            responses,
          },
        },
      },
    });

  it('allows a new field and a new event', () => {
    const after = webhooks(object({ a: STRING }, 'a'));
    Object.assign(after, { webhooks: { ...(after as Json)['webhooks']!, 'key.lost': { post: {} } } });
    expect(compare(webhooks(object({})), after)).toEqual([]);
  });

  it.each<[string, Json, string]>([
    ['an event is gone', document(null), 'webhook key.revoked: The event is gone'],
    ['a field is gone', webhooks(object({})), 'webhook key.revoked → body.a: The field is gone'],
    ['a field may be absent', webhooks(object({ a: STRING })), 'body.a: It was always there'],
    [
      'a status is a failure now',
      webhooks(object({ a: STRING }, 'a'), { 200: {} }),
      'key.revoked → 2XX: The status',
    ],
  ])('refuses that %s', (_change, after, fault) => {
    expect(compare(webhooks(object({ a: STRING }, 'a')), after)).toEqual([expect.stringContaining(fault)]);
  });
});

describe('compareDocuments of what may change with notice', () => {
  const deprecated = (stability: string, removal: string) =>
    document(operation({ 'x-stability': stability, deprecated: true, 'x-sunset': removal }));
  const released = (stability: string) => document(operation({ 'x-stability': stability }));

  it('allows everything of an experimental operation but another operationId', () => {
    expect(compare(released('experimental'), document(null))).toEqual([]);
    const renamed = document(operation({ 'x-stability': 'experimental', operationId: 'addPet' }));
    expect(compare(released('experimental'), renamed)).toEqual([expect.stringContaining('operationId')]);
  });

  it('refuses a change of a beta operation without a notice, and says how to give it', () => {
    const [fault] = compare(released('beta'), document(null), ['2027-01-01', released('beta')]);
    expect(fault).toContain(
      'The operation is beta, and no notice was given: deprecate it (@Deprecated) in a release that is ' +
        'published at least 1 month before.',
    );
  });

  it.each([
    ['beta', '2027-05-16', '2027-06-01', '2027-06-16'],
    ['beta', '2027-01-01', '2027-06-16', '2027-06-16'],
    ['stable', '2026-06-16', '2027-01-01', '2027-06-16'],
  ])(
    'refuses a change of a %s operation, announced on %s for %s, until %s',
    (stability, date, removal, day) => {
      const before = deprecated(stability, removal);
      const [fault] = compare(before, document(null), ['2026-01-01', released(stability)], [date, before]);
      expect(fault).toContain(`its notice was given on ${date}: this may come on ${day}`);
    },
  );

  it.each([
    ['beta', '2027-05-15', '2027-06-15'],
    ['stable', '2026-06-15', '2027-06-15'],
  ])(
    'allows a change of a %s operation, announced on %s for %s, from that day on',
    (stability, date, removal) => {
      const before = deprecated(stability, removal);
      expect(compare(before, document(null), [date, before])).toEqual([]);
    },
  );

  it.each([
    ['stable', '2028-06-14', '2028-06-15'],
    ['beta', '2027-07-14', '2027-07-15'],
  ])('refuses that the removal of a %s operation is announced for %s, before %s', (stability, soon, day) => {
    expect(compare(released(stability), deprecated(stability, soon))).toEqual([
      `POST /v1/pets: Its removal on ${soon} is announced now, and may come on ${day} at the earliest.`,
    ]);
    expect(compare(released(stability), deprecated(stability, day))).toEqual([]);
  });

  it('allows that the removal of an experimental operation is announced for tomorrow', () => {
    expect(compare(released('experimental'), deprecated('experimental', '2027-06-16'))).toEqual([]);
  });

  it('counts the notice from the first release since which all have it', () => {
    const before = deprecated('beta', '2027-05-01');
    const [fault] = compare(
      before,
      document(null),
      ['2027-01-01', before],
      ['2027-02-01', released('beta')],
      ['2027-06-01', before],
    );
    expect(fault).toContain('its notice was given on 2027-06-01: this may come on 2027-07-01');
  });

  it('counts the notice of an operation without a removal day too', () => {
    const before = document(operation({ deprecated: true }));
    const [fault] = compare(before, document(null), ['2027-06-01', before]);
    expect(fault).toContain('its notice was given on 2027-06-01: this may come on 2028-06-01');
  });
});
