import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { MINUTE_MS, TestClock } from '../support/time/clock.js';
import { ApiDocument, type Operation, type Parameter, type Schema } from '../support/http/document.js';
import { fieldFaults } from './fields.js';
import { send } from '../support/http/http.js';
import { scopesForRole } from '../../src/auth/rules/scope.js';
import { FailedRequestRecorder } from '../../src/usage/failed-requests/failed-request.recorder.js';
import { UNLIMITED } from '../support/keys/keys.js';

const TIMEOUT_MS = 60_000;

const api = new ApiDocument();
const named = (operations: Operation[]) =>
  operations.map((operation): [string, Operation] => [operation.operationId, operation]);

const REQUESTS_OF_EACH = 80;
/** How often as many are sent again, until one has succeeded and one has failed. */
const ROUNDS_MAX = 10;

const hasBoth = (statuses: Iterable<number>) =>
  [...statuses].some((status) => status < 300) && [...statuses].some((status) => status >= 400);

const SERVED_WHILE_BANNED = new Set(['getRateLimit', 'revokeFurtherKey', 'rotateCurrentKey']);

/** A request, apart from its method. */
interface SentRequest {
  path: string;
  headers: Record<string, string>;
  body?: string;
}

let store: TestApplication;
let keys: Record<'client' | 'admin' | 'narrow' | 'rotated', string>;
let leakedKey: string;
/** The records that path parameters name. */
let ids: Record<string, string>;
/** Those that requests may delete. */
let otherWebhookIds: string[];

const digits = fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String);
/** JSON of any kind as text, with numbers that JavaScript cannot represent. */
const anyJson = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  digits,
  fc.constantFrom('1.0', '1e3', '-0', '"\\u0000"', '"\\ud800"', '{"__proto__":1}', '[[[[]]]]'),
);

/** JSON that the schema allows. */
function valid(schema: Schema): fc.Arbitrary<string> {
  const { type, enum: values, properties, required = [], items, format, anyOf, minimum, maximum } = schema;
  if (anyOf !== undefined) {
    return fc.oneof(...anyOf.map(valid));
  }
  if (values !== undefined) {
    return fc.constantFrom(...values.map((value) => JSON.stringify(value)));
  }
  if (type === 'object') {
    const fields = Object.entries(properties ?? {}).map(([name, field]) => {
      const value =
        name === 'key' ? fc.oneof(valid(field), fc.constant(JSON.stringify(leakedKey))) : valid(field);
      const json = value.map((text) => `${JSON.stringify(name)}:${text}`);
      // Half of them: the operation may reject two fields that the schema allows.
      return required.includes(name) ? json : fc.option(json, { nil: undefined, freq: 1 });
    });
    return fc.tuple(...fields).map((given) => `{${given.filter((field) => field !== undefined).join(',')}}`);
  }
  if (type === 'integer') {
    const [min, max] =
      format === 'int64' ? [-(2n ** 63n), 2n ** 63n - 1n] : [BigInt(minimum ?? 0), BigInt(maximum ?? 100)];
    const small = min > 1n ? min : 1n;
    return fc
      .oneof(fc.bigInt({ min, max }), fc.bigInt({ min: small, max: max < small + 99n ? max : small + 99n }))
      .map(String);
  }
  if (format === 'date-time') {
    const [min, max] = [new Date('0000-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59Z')];
    return fc
      .tuple(fc.date({ min, max, noInvalidDate: true }), fc.constantFrom('Z', '+00:00', '+14:00', '-12:00'))
      .map(([date, offset]) => JSON.stringify(date.toISOString().replace('Z', offset)));
  }
  if (type === 'boolean') {
    return fc.boolean().map(String);
  }
  if (type === 'array') {
    // The only list of free text is that of networks.
    const networks = fc.oneof(fc.ipV4(), fc.ipV6()).map((text) => JSON.stringify(text));
    const item = items?.enum === undefined ? networks : valid(items);
    return fc.uniqueArray(item, { minLength: 1 }).map((given) => `[${given.join(',')}]`);
  }
  if (format === 'uri') {
    return fc.webUrl().map((url) => JSON.stringify(url));
  }
  return fc
    .oneof(fc.string({ minLength: 1, maxLength: 40 }), fc.constantFrom('free', 'pro', 'Biscuit'))
    .map((text) => JSON.stringify(text));
}

/** A body that lacks a field, or has any value in it. */
function broken(schema: Schema): fc.Arbitrary<string> {
  const names = Object.keys(schema.properties ?? {});
  return fc
    .tuple(valid(schema), fc.constantFrom(...names), fc.option(anyJson, { nil: undefined }))
    .map(([json, name, value]) => {
      const fields = JSON.parse(json) as Record<string, unknown>;
      delete fields[name];
      const rest = Object.entries(fields).map(
        ([key, field]) => `${JSON.stringify(key)}:${JSON.stringify(field)}`,
      );
      return `{${[...rest, ...(value === undefined ? [] : [`${JSON.stringify(name)}:${value}`])].join(',')}}`;
    });
}

const rarely = <Value>(usual: fc.Arbitrary<Value>, unusual: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: unusual });

function parameterValue(
  { schema, name, in: location }: Parameter,
  { method, path }: Pick<Operation, 'method' | 'path'>,
): fc.Arbitrary<string> {
  // Holders revoke the key that a holder issued, so administrators rotate another one.
  const idName = path.startsWith('/admin') && name === 'keyId' ? 'id' : name;
  const isSpared = name !== 'webhookId' || method !== 'DELETE';
  const usual =
    location === 'path' && idName in ids
      ? fc.constantFrom(...(isSpared ? [ids[idName] ?? ''] : otherWebhookIds))
      : name === 'cursor'
        ? fc.string()
        : name === 'plan'
          ? fc.constantFrom('free', 'pro')
          : valid(schema.items ?? schema).map((json) => String(JSON.parse(json)));
  return rarely(usual, fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), digits));
}

const headerText = fc.oneof(
  fc.constant('*'),
  fc.string({ unit: fc.constantFrom(...Array.from(' !"#*,;=W/abc019~\t')), maxLength: 40 }),
);

/** The body of a request, if any; also for operations without one. */
function anyContent(method: string, body: Schema | null): fc.Arbitrary<string | undefined> {
  if (method === 'GET') {
    return fc.constant(undefined);
  }
  const others = fc.oneof(anyJson, fc.string({ unit: 'binary' }), fc.constant(`"${'x'.repeat(70_000)}"`));
  return body === null
    ? fc.option(others, { nil: undefined })
    : fc.oneof(
        { weight: 4, arbitrary: valid(body) },
        { weight: 4, arbitrary: broken(body) },
        { weight: 3, arbitrary: others },
        {
          weight: 1,
          arbitrary: fc.constantFrom(...(body.examples ?? [{}]).map((each) => JSON.stringify(each))),
        },
      );
}

function anyRequest({ method, path, parameters, body }: Operation): fc.Arbitrary<SentRequest> {
  const of = (location: Parameter['in']) => parameters.filter((parameter) => parameter.in === location);
  const inPath = fc.tuple(...of('path').map((parameter) => parameterValue(parameter, { method, path })));
  const query = fc.tuple(
    ...of('query').map((parameter) =>
      fc
        .array(parameterValue(parameter, { method, path }), { maxLength: 2, size: 'xsmall' })
        .map((given) => given.map((value) => [parameter.name, value])),
    ),
  );
  const inHeaders = fc.record(
    Object.fromEntries(of('header').map(({ name }) => [name, fc.option(headerText, { nil: undefined })])),
  );
  const credential = fc.oneof(
    { weight: 8, arbitrary: fc.constant('admin' as const) },
    { weight: 3, arbitrary: fc.constant('client' as const) },
    { weight: 1, arbitrary: fc.constant('narrow' as const) },
    { weight: 1, arbitrary: fc.constantFrom('none' as const, 'unknown' as const) },
  );
  const content = anyContent(method, body);
  const type = fc.oneof(
    { weight: 20, arbitrary: fc.constant('application/json') },
    fc.constantFrom('text/plain', 'application/xml'),
  );
  return fc.record({ inPath, query, inHeaders, credential, content, type }).map((given) => {
    const names = of('path').map(({ name }) => name);
    const filled = names.reduce(
      // An empty segment would be another path.
      (text, name, index) => text.replace(`{${name}}`, encodeURIComponent(given.inPath[index] || 'x')),
      path,
    );
    const search = new URLSearchParams(given.query.flat() as [string, string][]).toString();
    const own = given.credential in keys ? (given.credential as keyof typeof keys) : undefined;
    // A rotation may end its key, which the other operations need.
    const credentialKey = own && keys[path.endsWith('/key/rotate') ? 'rotated' : own];
    const headers = Object.entries({
      ...given.inHeaders,
      ...(given.content !== undefined && { 'Content-Type': given.type }),
      ...(given.credential === 'unknown' && { Authorization: 'Bearer ask_test_unknown' }),
      ...(credentialKey !== undefined && { Authorization: `Bearer ${credentialKey}` }),
    }).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return {
      path: search === '' ? filled : `${filled}?${search}`,
      headers: Object.fromEntries(headers),
      ...(given.content !== undefined && { body: given.content }),
    };
  });
}

describe('any request', () => {
  const seen = new Map<string, Set<number>>();

  beforeAll(async () => {
    // Bans of a minute, which the windows of a response can describe, however long this takes.
    const environment = { ANONYMOUS_LIMIT: 1_000_000, BAN_DURATIONS: [MINUTE_MS] };
    store = await startApplication({ environment });
    const issue = async (...input: Parameters<typeof store.issue>) => (await store.issue(...input)).key;
    keys = {
      client: await issue({ ...UNLIMITED, scopes: [...scopesForRole('client')] }),
      admin: await issue({ ...UNLIMITED, role: 'admin' }),
      rotated: await issue(UNLIMITED),
      narrow: await issue({ ...UNLIMITED, perMinute: 3, perDay: 10, role: 'admin' }),
    };
    leakedKey = await issue();
    const { id, quotaId } = await store.issue();
    const body = { url: 'https://webhooks.invalid/', events: ['key.revoked'] };
    const create = async (): Promise<string> =>
      (await send(`${store.url}/admin/webhooks`, { method: 'POST', key: keys.admin, body })).json.id;
    const team = { method: 'POST', key: keys.client, body: { name: 'team' } };
    const keyId: string = (await send(`${store.url}/v1/keys`, team)).json.id;
    const requestId = 'failed';
    for (const key of [keys.admin, keys.client]) {
      await send(`${store.url}/v1/nothing`, { key, headers: { 'X-Request-Id': requestId } });
    }
    await store.app.get(FailedRequestRecorder).flush();
    ids = { id, keyId, quotaId, webhookId: await create(), deliveryId: randomUUID(), requestId };
    otherWebhookIds = await Promise.all(Array.from({ length: 10 }, create));
    await store.database.query(
      `INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, dedupe_key, payload, state)
       VALUES ($1, $2, gen_random_uuid(), 'key.revoked', 'a', '{}', 'failed')`,
      [ids['deliveryId'], ids['webhookId']],
    );
    await store.database.query(
      `INSERT INTO pets (name, category_id, status) SELECT n, n, 'sold' FROM generate_series(1, 120) n`,
    );
  });
  afterAll(() => store.close());

  it.each(named(api.operations))(
    'gets a response that the document describes: %s',
    async (name, operation) => {
      const statuses = new Set<number>();
      seen.set(name, statuses);
      for (let round = 0; round < ROUNDS_MAX && !hasBoth(statuses); round += 1) {
        await fc.assert(
          fc.asyncProperty(
            fc.nat().chain(() => anyRequest(operation)),
            async ({ path, headers, body }) => {
              const response = await fetch(`${store.url}${path}`, {
                method: operation.method,
                headers,
                ...(body !== undefined && { body }),
              });
              const text = await response.text();
              statuses.add(response.status);
              expect([
                ...(response.status >= 500 ? [`it is ${response.status}`] : []),
                ...api.findFaults(operation, response.status, response.headers, text),
                ...fieldFaults(response.headers, SERVED_WHILE_BANNED.has(name)),
              ]).toStrictEqual([]);
            },
          ),
          {
            numRuns: REQUESTS_OF_EACH,
            interruptAfterTimeLimit: TIMEOUT_MS / 2,
            markInterruptAsFailure: true,
          },
        );
      }
    },
    TIMEOUT_MS,
  );

  it('succeeds and fails at least once for each operation', () => {
    const others = api.operations.filter(({ operationId }) => !hasBoth(seen.get(operationId) ?? []));
    expect(others.map(({ operationId }) => operationId)).toStrictEqual([]);
  });
});

describe('a request to an operation that is unavailable', () => {
  const REMOVED = api.operations.filter(({ sunset }) => sunset !== null);
  const EXPERIMENTAL = api.operations.filter(({ stability }) => stability === 'experimental');

  it.each<[string, number, [string, Operation][]]>([
    ['after its removal', 410, named(REMOVED)],
    ['without experimental operations', 404, named(EXPERIMENTAL)],
  ])('gets a response that the document describes: %s', async (_when, status, operations) => {
    const clock = new TestClock();
    clock.travelTo(new Date(Math.max(...REMOVED.map(({ sunset }) => Number(sunset)))));
    const later = await startApplication({ clock, environment: { EXPERIMENTAL: false } });
    const { key } = await later.issue();
    expect(operations.length).toBeGreaterThan(0);
    for (const [, operation] of operations) {
      const url = `${later.url}${operation.path.replace(/\{\w+\}/, '1')}`;
      const response = await send(url, { method: operation.method, key });
      expect(response.status).toBe(status);
      expect(api.findFaults(operation, status, response.headers, response.text)).toStrictEqual([]);
    }
    await later.close();
    clock.returnToPresent();
  });
});
