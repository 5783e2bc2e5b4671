import { SCOPES as KNOWN_SCOPES } from '../../src/auth/rules/scope.js';
import { applyPendingMigrations, findUnknownMigrations } from '../../src/database/migrations/migrations.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { until } from '../support/eventually.js';
import { ApiDocument, type Operation, REQUIRED_QUERY } from '../support/http/document.js';
import { expectError } from '../support/http/expectations.js';
import { type Init, send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { useApplication } from '../support/service/application.js';

/** What a newer release stores. */
const SCOPES = ['pets:read', 'keys:write', 'reports:export'];
const NEWER_MIGRATION = '20991231000000_newer';

const api = new ApiDocument();
const store = useApplication({ environment: { EXPERIMENTAL: true } });
let admin: string;
/** A key with a scope of a newer release. */
let scoped: Awaited<ReturnType<typeof store.issue>>;
/** Values of path parameters. */
const ids: Record<string, string> = { plan: 'galaxy', petId: '1' };

const call = (method: string, path: string, init: Init = {}) =>
  send(`${store.url}${path}`, { method, key: admin, ...init });

/** Does what a newer release may do to any table: removes its checks, and adds columns. */
const MIGRATE = `
  DO $$
  DECLARE
    each RECORD;
  BEGIN
    FOR each IN
      SELECT conrelid::regclass AS name, conname FROM pg_constraint
      WHERE contype = 'c' AND connamespace = 'public'::regnamespace
    LOOP
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', each.name, each.conname);
    END LOOP;
    FOR each IN
      SELECT oid::regclass AS name FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> '_prisma_migrations'
    LOOP
      EXECUTE format(
        'ALTER TABLE %s ADD COLUMN newer_text TEXT, ADD COLUMN newer_flag BOOLEAN NOT NULL DEFAULT true',
        each.name
      );
    END LOOP;
  END
  $$;
  CREATE TABLE newer_things (id BIGINT PRIMARY KEY);
  INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at)
  VALUES ('newer', 'sum', '${NEWER_MIGRATION}', now(), now());`;

beforeAll(async () => {
  ({ key: admin } = await store.issue({ ...UNLIMITED, role: 'admin', scopes: [...KNOWN_SCOPES] }));
  scoped = await store.issue({ ...UNLIMITED, scopes: ['pets:read', 'keys:write'] });
  Object.assign(ids, { keyId: scoped.id, quotaId: scoped.quotaId });
  const { database } = store;
  // The examples name animals of the demonstration.
  await database.query('INSERT INTO pets (name, category_id) SELECT n, 7 FROM generate_series(1, 36) n');
  for (const { path, body } of api.creations) {
    expect((await call('POST', path, { body: body?.examples?.[0] })).status).toBe(201);
  }
  const webhook = { url: 'https://webhooks.invalid/', events: ['key.revoked'] };
  ids['webhookId'] = (await call('POST', '/admin/webhooks', { body: webhook })).json.id;
  await call('GET', '/v1/key', { key: scoped.key });
  await call('POST', '/v1/keys', { key: scoped.key, body: { name: 'further' } });
  await database.query(MIGRATE);
  await database.query(`INSERT INTO plans (name, per_minute, per_day) VALUES ('galaxy', 70, NULL)`);
  await database.query(`UPDATE quotas SET plan = 'galaxy' WHERE id = $1`, [scoped.quotaId]);
  await database.query(`UPDATE api_keys SET scopes = $1, prefix = 'ask_next_' WHERE quota_id = $2`, [
    SCOPES,
    scoped.quotaId,
  ]);
  await database.query(`UPDATE orders SET status = 'returned'`);
  await database.query(
    `UPDATE webhooks SET events = '{key.revoked,key.renamed}', paused_at = now(), pause_reason = 'overload'`,
  );
  await database.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, dedupe_key, payload, state)
     SELECT gen_random_uuid(), id, gen_random_uuid(), 'key.renamed', 'a', '{"type": "key.renamed"}', 'held'
     FROM webhooks`,
  );
  const [delivery] = await database.query<{ id: string }>('SELECT id FROM webhook_deliveries');
  ids['deliveryId'] = delivery!.id;
  await database.query(
    `INSERT INTO audit_events (actor, action, subject, before, after)
     VALUES ('user:42', 'key.renamed', 'team:7', '{"members": 2}', '{"members": {"added": [3]}}'),
       ('user:42', 'key.renamed', 'team:7', '["first"]', '1')`,
  );
  ids['requestId'] = 'a-request';
  await database.query(
    `INSERT INTO failed_requests (
       id, requested_at, request_id, method, path, operation, status, code, message, duration_ms, quota_id,
       client_address
     )
     SELECT
       gen_random_uuid(), statement_timestamp(), 'a-request', 'MOVE', '/v1/pets', 'movePet', 470,
       'pet_moved', '', 0, id, 'unix'
     FROM quotas`,
  );
  await database.query(
    `INSERT INTO usage (
       key_id, quota_id, period, starts_at, operation, deprecated,
       succeeded, redirected, client_errors, server_errors, denied, last_request_at
     )
     SELECT
       $1, $2, period, date_trunc('day', statement_timestamp()), 'renameKey', true, 1, 1, 1, 1, 1,
       statement_timestamp()
     FROM unnest('{day,week}'::text[]) AS period`,
    [scoped.id, scoped.quotaId],
  );
  await database.query(
    `INSERT INTO usage_batches (id, written_at, size, entries)
     SELECT gen_random_uuid(), statement_timestamp(), 1, json_build_array(json_build_object(
       'keyId', $1::text, 'quotaId', $2::text, 'minute', 29000000,
       'operation', 'renameKey', 'deprecated', false,
       'succeeded', 1, 'redirected', 0, 'clientErrors', 0, 'serverErrors', 0, 'denied', 0,
       'lastRequestAtMs', 1740000000000, 'bytesSent', 12
     ))`,
    [scoped.id, scoped.quotaId],
  );
});

const reads = api.operations
  .filter(({ method }) => method === 'GET')
  .map((operation): [string, Operation] => [operation.operationId, operation]);

/** What a response must contain, unchanged. */
const SHOWN: Record<string, string[]> = {
  getKey: [JSON.stringify(SCOPES), '"galaxy"', '"ask_next_"'],
  listKeys: [JSON.stringify(SCOPES), '"galaxy"'],
  getCurrentKey: [JSON.stringify(SCOPES)],
  listFurtherKeys: [JSON.stringify(SCOPES), '"ask_next_"'],
  listOrders: ['"returned"'],
  listPlans: ['"galaxy"'],
  getQuota: ['"galaxy"'],
  listWebhooks: ['["key.revoked","key.renamed"]', '"overload"'],
  getWebhook: ['["key.revoked","key.renamed"]', '"overload"'],
  listWebhookDeliveries: ['"held"', '"key.renamed"'],
  listAuditEvents: ['"user"', '"42"', '"key.renamed"', '"team"', '"7"', '{"added":[3]}', '{"0":"first"}'],
  listUsageByKey: ['"renameKey"'],
  listAllFailedRequests: ['"pet_moved"', '"MOVE"'],
  getFailedRequest: ['"pet_moved"'],
};

describe('a service beside a newer release on one database', () => {
  it('is ready although the database has migrations, tables and columns that it does not know', async () => {
    const { status, json } = await call('GET', '/admin/health');
    expect([status, json]).toMatchObject([
      200,
      { status: 'ready', components: { migrations: { pending: [] } } },
    ]);
    expect((await send(`${store.url}/readyz`)).status).toBe(200);
    const stored = await store.database.query('SELECT migration_name FROM _prisma_migrations ORDER BY 1');
    expect(stored.map((row) => row['migration_name'])).toEqual([...OWN_MIGRATIONS, NEWER_MIGRATION]);
  });

  it('undoes nothing when it migrates, and names what it does not know', async () => {
    const { url } = store.database;
    expect(await applyPendingMigrations(url)).toStrictEqual([]);
    expect(await findUnknownMigrations(url)).toEqual([NEWER_MIGRATION]);
  });

  it.each(reads)('returns what that stored, unchanged: %s', async (name, operation) => {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => ids[parameter] ?? '1');
    const isOfKey = ['getCurrentKey', 'listFurtherKeys'].includes(name);
    const limit = operation.parameters.some((parameter) => parameter.name === 'limit') ? '&limit=100' : '';
    const response = await call('GET', `${path}?${REQUIRED_QUERY[name] ?? ''}${limit}`, {
      ...(isOfKey && { key: scoped.key }),
    });
    expect([name, response.status, response.text]).toEqual([name, 200, response.text]);
    const faults = api.findFaults(operation, response.status, response.headers, response.text);
    expect(faults).toStrictEqual([]);
    for (const text of SHOWN[name] ?? []) {
      expect(response.text).toContain(text);
    }
  });

  it('returns texts that are longer, and lists with more entries, than its documents say', async () => {
    const { id, key } = await store.issue(UNLIMITED);
    const longer = 'n'.repeat(2000);
    await store.database.query(
      `UPDATE api_keys SET
         name = $1, note = $1, last_four = '123456', scopes = array_fill('reports:export'::text, ARRAY[200])
       WHERE id = $2`,
      [longer, id],
    );
    for (const [path, its] of [
      [`/admin/keys/${id}`, admin],
      [`/admin/keys?search=${id}`, admin],
      ['/v1/key', key],
    ] as const) {
      const { status, text } = await call('GET', path, { key: its });
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain(longer);
      expect(text.match(/reports:export/g)).toHaveLength(200);
    }
  });
});

describe('a key with a scope of a newer release', () => {
  let keyed: Awaited<ReturnType<typeof store.issue>>;
  beforeEach(async () => {
    keyed = await store.issue({ ...UNLIMITED, scopes: ['pets:read', 'keys:write'] });
    await store.database.query('UPDATE api_keys SET scopes = $1 WHERE id = $2', [SCOPES, keyed.id]);
  });

  const storedScopes = async (id: string) =>
    (await store.database.query('SELECT scopes FROM api_keys WHERE id = $1', [id]))[0]?.['scopes'];

  it('may do what its other scopes allow, and nothing else', async () => {
    expect((await call('GET', '/v1/pets', keyed)).status).toBe(200);
    expectError(await call('GET', '/v1/store/orders', keyed), 403, 'insufficient_scope');
  });

  it('keeps it when other fields are changed', async () => {
    const { status, json } = await call('PATCH', `/admin/keys/${keyed.id}`, { body: { name: 'Ann' } });
    expect([status, json.scopes]).toEqual([200, SCOPES]);
    expect(await storedScopes(keyed.id)).toEqual(SCOPES);
  });

  it('loses it when scopes are set, which must be known', async () => {
    const path = `/admin/keys/${keyed.id}`;
    expectError(await call('PATCH', path, { body: { scopes: SCOPES } }), 400, 'invalid_request');
    const { status, json } = await call('PATCH', path, { body: { scopes: ['pets:read'] } });
    expect([status, json.scopes]).toEqual([200, ['pets:read']]);
  });

  it.each([
    ['an administrator', () => call('POST', `/admin/keys/${keyed.id}/rotate`, { body: {} })],
    ['its holder', () => call('POST', '/v1/key/rotate', { key: keyed.key, body: {} })],
  ])('has a successor with it when rotated by %s', async (_who, rotate) => {
    const { status, json } = await rotate();
    expect(status).toBe(201);
    expect(await storedScopes(json.id)).toEqual(SCOPES);
  });

  it('issues and revokes further keys, which do not get it', async () => {
    const issued = await call('POST', '/v1/keys', { key: keyed.key, body: { name: 'further' } });
    expect([issued.status, issued.json.scopes]).toEqual([201, ['pets:read']]);
    await store.database.query('UPDATE api_keys SET scopes = $1 WHERE id = $2', [SCOPES, issued.json.id]);
    const revoked = await call('POST', `/v1/keys/${issued.json.id}/revoke`, { key: keyed.key });
    expect([revoked.status, revoked.json]).toMatchObject([200, { state: 'revoked', scopes: SCOPES }]);
    expect(Object.keys(revoked.json)).not.toContain('note');
  });

  it('is revoked by its id, and by the key itself', async () => {
    const { key } = keyed;
    for (const [path, body] of [
      ['/admin/keys/revoke', { key }],
      [`/admin/keys/${keyed.id}/revoke`, undefined],
    ] as const) {
      const { status, json } = await call('POST', path, { ...(body && { body }) });
      expect([status, json]).toMatchObject([200, { state: 'revoked', scopes: SCOPES }]);
    }
  });
});

it('denies everything to a key whose role is of a newer release, and shows the role', async () => {
  const { id, key } = await store.issue(UNLIMITED);
  await store.database.query(`UPDATE api_keys SET role = 'auditor' WHERE id = $1`, [id]);
  for (const path of ['/v1/pets', '/v1/key', '/v1/rate-limit', '/admin/keys']) {
    expectError(await call('GET', path, { key }), 403, 'forbidden');
  }
  for (const [method, path, body] of [
    ['GET', `/admin/keys/${id}`, undefined],
    ['PATCH', `/admin/keys/${id}`, { name: 'Ann', scopes: ['pets:read'] }],
    ['POST', `/admin/keys/${id}/revoke`, undefined],
  ] as const) {
    const { status, json } = await call(method, path, { ...(body && { body }) });
    expect([status, json.role]).toEqual([200, 'auditor']);
  }
});

it('allows no address by a network of a form of a newer release, and shows and keeps it', async () => {
  const networks = async (...list: string[]) => {
    const { id, key } = await store.issue({ ...UNLIMITED, scopes: ['pets:read', 'keys:write'] });
    await store.database.query('UPDATE api_keys SET allowed_networks = $1 WHERE id = $2', [list, id]);
    const { status, json } = await call('GET', `/admin/keys/${id}`);
    expect([status, json.allowedNetworks]).toEqual([200, list]);
    return { id, key };
  };
  expectError(await call('GET', '/v1/pets', await networks('tag:office')), 403, 'address_not_allowed');
  const both = await networks('tag:office', '127.0.0.0/8');
  expect((await call('GET', '/v1/pets', both)).status).toBe(200);
  for (const [body, stored] of [
    [{ name: 'same' }, ['tag:office', '127.0.0.0/8']],
    [{ name: 'narrower', allowedNetworks: ['127.0.0.1'] }, ['127.0.0.1/32']],
  ] as const) {
    const { status, json } = await call('POST', '/v1/keys', { ...both, body });
    expect([status, json.allowedNetworks]).toEqual([201, stored]);
  }
  const { status, json } = await call('PATCH', `/admin/keys/${both.id}`, { body: { name: 'Ann' } });
  expect([status, json.allowedNetworks]).toEqual([200, ['tag:office', '127.0.0.0/8']]);
});

it('returns 503 to a key whose quota has no limit that this version knows, and shows it', async () => {
  const { id, key, quotaId } = await store.issue();
  expect((await call('GET', '/v1/pets', { key })).headers.get('x-ratelimit-limit')).toBe('60');
  await store.database.query(
    `UPDATE quotas SET plan = 'galaxy', per_minute = NULL, per_day = NULL WHERE id = $1`,
    [quotaId],
  );
  const read = () => call('GET', '/v1/pets', { key });
  await until(async () => (await read()).status === 503);
  const response = await read();
  expectError(response, 503, 'service_unavailable');
  // The budget of its address: the limits that it had are not those that it has.
  expect(response.headers.get('ratelimit-policy')).toBe('"minute";q=300;w=60');
  for (const path of [
    `/admin/keys/${id}`,
    `/admin/quotas/${quotaId}`,
    `/admin/quotas/${quotaId}/rate-limit`,
  ]) {
    expect([path, (await call('GET', path)).status]).toEqual([path, 200]);
  }
  const { status, json } = await call('PATCH', `/admin/quotas/${quotaId}`, { body: { plan: 'pro' } });
  expect([status, json.plan]).toEqual([200, 'pro']);
  expect((await call('GET', '/v1/pets', { key })).status).toBe(200);
});

describe('a webhook with events and a reason of a newer release', () => {
  const path = () => `/admin/webhooks/${ids['webhookId']}`;

  it('keeps them when other fields are changed', async () => {
    const { status, json } = await call('PATCH', path(), {
      body: { url: 'https://new.invalid/', paused: true },
    });
    expect([status, json]).toMatchObject([
      200,
      { url: 'https://new.invalid/', events: ['key.revoked', 'key.renamed'], pauseReason: 'overload' },
    ]);
    const rotated = await call('POST', `${path()}/rotate-secret`);
    expect([rotated.status, rotated.json.events]).toEqual([200, ['key.revoked', 'key.renamed']]);
  });

  it('has deliveries in states of a newer release, which are not sent again', async () => {
    const resend = `${path()}/deliveries/${ids['deliveryId']}/resend`;
    expectError(await call('POST', resend), 409, 'conflict');
    const stored = await store.database.query('SELECT state FROM webhook_deliveries');
    expect(stored).toEqual([{ state: 'held' }]);
  });

  it('can be resumed, tested and deleted', async () => {
    expect((await call('PATCH', path(), { body: { paused: false } })).status).toBe(200);
    expect((await call('POST', `${path()}/test`)).status).toBe(201);
    expect((await call('DELETE', path())).status).toBe(200);
  });
});

it('rejects cursors and keys of a form that it does not know', async () => {
  for (const path of ['/v1/pets', '/v1/store/orders', '/admin/keys', '/admin/audit', '/admin/usage']) {
    expectError(await call('GET', `${path}?cursor=v2.eyJhZnRlciI6MX0`), 400, 'invalid_request');
  }
  expectError(await call('GET', '/v1/pets', { key: `ask2_live_${'x'.repeat(60)}` }), 401, 'invalid_api_key');
});
