import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { SCOPES } from '../../src/auth/rules/scope.js';
import { databaseReason } from '../../src/database/access/availability.js';
import { ErrorFilter } from '../../src/http/routes/error.filter.js';
import { IdempotencyCleanup } from '../../src/idempotency/idempotency.cleanup.js';
import { CounterCleanup } from '../../src/rate-limit/stores/counter-cleanup.js';
import { UsageCleanup } from '../../src/usage/usage.cleanup.js';
import { UsageJournal } from '../../src/usage/usage.journal.js';
import { WebhookEventWatch } from '../../src/webhooks/event-watch.js';
import { FailedRequestRecorder } from '../../src/usage/failed-requests/failed-request.recorder.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { ApiDocument, type Operation, REQUIRED_QUERY } from '../support/http/document.js';
import { type HttpResponse, type Init, send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

const api = new ApiDocument();
const withNames = (operations: Operation[]) =>
  operations.map((operation): [string, Operation] => [operation.operationId, operation]);
const takes = (header: string) => (operation: Operation) =>
  operation.parameters.some(({ name }) => name === header);
const creating = api.creations;
const [reading, changing] = [true, false].map((isRead) =>
  api.operations.filter(
    (operation) => !creating.includes(operation) && isRead === (operation.method === 'GET'),
  ),
) as [Operation[], Operation[]];

const WEBHOOK = {
  url: 'https://webhooks.invalid/',
  events: ['key.revoked', 'quota.banned', 'key.expiring', 'key.deprecated_operation_called'],
};

/** The role of the service. The log of a service that is not ready says what to grant it. */
const role = `service_${randomBytes(6).toString('hex')}`;
let database: TestDatabase;
let store: TestApplication;
let key: string;
let errors: jest.SpyInstance;
let warnings: jest.SpyInstance;
const exceptions = jest.spyOn(ErrorFilter.prototype, 'catch');

beforeAll(async () => {
  database = await createDatabase();
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  // The demonstration has animals too.
  await database.query('INSERT INTO pets (name, category_id) SELECT n, 7 FROM generate_series(1, 36) n');
  ({ key } = await issueKey(database, { ...UNLIMITED, role: 'admin', scopes: [...SCOPES] }));
  errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
  warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  const { href } = Object.assign(new URL(database.url), { username: role, password: 'secret' });
  store = await startApplication({ database, environment: { DATABASE_URL: href, EXPERIMENTAL: true } });
});
afterAll(async () => {
  await store.close();
  await database.query(`DROP OWNED BY ${role}`);
  await database.query(`DROP ROLE ${role}`);
  await database.drop();
});

it('is ready once it has the privileges that its log names', async () => {
  expect((await send(`${store.url}/readyz`)).status).toBe(503);
  const lines = errors.mock.calls.map(([line]) => String(line));
  expect(lines).toEqual([
    expect.stringMatching(/^Not ready: permission denied for .*: run "GRANT .* ON .* TO service_.*"$/),
  ]);
  for (const [, grant = ''] of (lines[0] ?? '').matchAll(/run "(GRANT [^"]+)"/g)) {
    await database.query(grant);
  }
  await eventually(async () => expect((await send(`${store.url}/readyz`)).status).toBe(200));
  errors.mockClear();
  warnings.mockClear();
});

const call = (method: string, path: string, init: Init = {}) =>
  send(`${store.url}${path}`, { method, key, ...init });

/** Create a record that the operation may change. The others are found in their list. */
const CREATE: Record<string, () => Promise<string>> = {
  keyId: async () => (await call('POST', '/v1/keys', { body: { name: 'team' } })).json.id,
  quotaId: async () => (await store.issue()).quotaId,
  plan: async () => 'free',
  requestId: async () => {
    const { headers } = await call('GET', '/v1/nothing');
    await store.app.get(FailedRequestRecorder).flush();
    return headers.get('X-Request-Id') ?? '';
  },
  webhookId: async () => {
    const { json } = await call('POST', '/admin/webhooks', { body: WEBHOOK });
    await database.query(
      `INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, dedupe_key, payload, state)
       VALUES (gen_random_uuid(), $1::uuid, gen_random_uuid(), 'key.revoked', 'a', '{}', 'failed')`,
      [json.id],
    );
    return json.id;
  },
};

/** Returns the path with the ids of records that exist. */
async function fillPath(path: string): Promise<string> {
  let filled = path;
  for (const [parameter, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    const list = filled.slice(0, filled.indexOf(`/${parameter}`));
    const id = await (CREATE[name] ?? (() => findFirst(list)))();
    filled = filled.replace(parameter, id);
  }
  return filled;
}

async function findFirst(list: string): Promise<string> {
  const { status, json } = await call('GET', list);
  expect([list, status, json]).toEqual([list, 200, expect.arrayContaining([expect.anything()])]);
  return json[0].id;
}

/** Sends the example of the document, with a key of its own instead of one that was never issued. */
async function callByExample({ operationId, method, path, body }: Operation, headers = {}) {
  const needsKey = body?.required?.includes('key') === true;
  const example = body && {
    ...(body.examples?.[0] as object),
    ...(needsKey && { key: (await store.issue()).key }),
  };
  const target = `${await fillPath(path)}?${REQUIRED_QUERY[operationId] ?? ''}`;
  exceptions.mockClear();
  const response = await call(method, target, { headers, ...(example !== null && { body: example }) });
  return { response, target, example };
}

/** Returns a line for each difference from the document, with what to write. */
function findFaults(operation: Operation, { status, headers, text }: HttpResponse): string[] {
  const denied = exceptions.mock.calls.map(([error]) => databaseReason(error)).filter(isDenial);
  const faults = denied.length > 0 ? [] : api.findFaults(operation, status, headers, text);
  return [
    ...denied.map((reason) => `${reason}: name the privilege in src/database/access/tables.ts`),
    ...(status < 400 ? [] : [`it returns ${status}: ${text}`]),
    ...faults.map((fault) => `${fault}${adviceOn(fault)}`),
    ...(headers.has('x-ratelimit-degraded') ? ['it is counted locally'] : []),
  ];
}
const isDenial = (reason: string) => reason.includes('permission denied');

function adviceOn(fault: string): string {
  const [, name, what] = /^the header (\S+) is (not listed|missing)$/.exec(fault) ?? [];
  if (name === undefined) {
    return '';
  }
  const change = what === 'missing' ? 'send it (ETag: @Revalidated()), or remove it from' : 'add it to';
  return `: ${change} the headers of @Responses() or @PageResponse(), then npm run documents`;
}

describe('an operation, called with its example by a role with those privileges', () => {
  it('has an example, if it has a body', () => {
    const withBody = api.operations.filter(({ body }) => body !== null);
    expect(withBody.length).toBeGreaterThan(10);
    expect(withBody.filter(({ body }) => !body?.examples?.length)).toStrictEqual([]);
  });

  // The first, so that there is something to read.
  it.each(withNames(creating))(
    'creates once for each Idempotency-Key, and names a Location only if that has the record: %s',
    async (name, operation) => {
      const headers = { 'Idempotency-Key': name };
      const { response, target, example: body } = await callByExample(operation, headers);
      expect(findFaults(operation, response)).toStrictEqual([]);
      const location = response.headers.get('location');
      const record = location === null ? response : await call('GET', location);
      expect([location, record.text]).toEqual([location, response.text]);
      const again = await call(operation.method, target, { headers, body });
      expect(again.headers.get('idempotent-replayed') ?? 'remove @Creates(), or use IdempotencyService').toBe(
        'true',
      );
      expect(again.text).toBe(response.text);
      expect(findFaults(operation, again)).toStrictEqual([]);
    },
  );

  it.each(withNames(reading))(
    'responds as the document describes, and with 304 only if it is @Revalidated(): %s',
    async (_name, operation) => {
      const { response, target } = await callByExample(operation);
      expect(findFaults(operation, response)).toStrictEqual([]);
      const again = await call('GET', target, { headers: { 'If-None-Match': '*' } });
      expect([again.status, response.headers.has('etag')]).toEqual(
        takes('If-None-Match')(operation) ? [304, true] : [200, false],
      );
    },
  );

  it.each(withNames(changing))(
    'responds as the document describes, and repeats no response without @Creates(): %s',
    async (name, operation) => {
      const { response, target, example } = await callByExample(operation);
      expect(findFaults(operation, response)).toStrictEqual([]);
      const init = {
        headers: { 'Idempotency-Key': name },
        ...(example !== null && { body: example }),
      };
      await call(operation.method, target, init);
      const { headers } = await call(operation.method, target, init);
      expect(headers.has('idempotent-replayed') ? 'add @Creates() to its method' : null).toBeNull();
    },
  );

  it('needs no other privilege, and neither does a periodic task', async () => {
    await store.app.get(CounterCleanup).deleteExpired();
    await store.app.get(UsageJournal).aggregate();
    await store.app.get(UsageCleanup).deleteExpired();
    await store.app.get(IdempotencyCleanup).deleteExpired();
    await store.app.get(WebhookEventWatch).findEvents();
    expect([...errors.mock.calls, ...warnings.mock.calls]).toStrictEqual([]);
  });
});
