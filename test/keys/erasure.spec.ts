import { queueEvents } from '../../src/webhooks/queue-events.js';
import { QuotaService } from '../../src/keys/quota.service.js';
import { terminalActor } from '../../src/audit/audit.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { FailedRequestRecorder } from '../../src/usage/failed-requests/failed-request.recorder.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { useAdministration } from '../support/keys/administration.js';
import { recordUsage } from '../support/keys/usage.js';

const SECRETS = ["Ann's shop", 'calls on Mondays', '127.0.0.0/8', 'Renamed shop', 'Rex of Ann', 'crm-of-ann'];

const admin = useAdministration();

/** Returns the names of the tables that contain one of the texts. */
async function findTables(texts: string[]): Promise<string[]> {
  const { database } = admin.store;
  const tables = await database.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  );
  const found = tables.map(async ({ name }) => {
    const rows = await database.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" t`);
    return rows.some(({ row }) => texts.some((text) => row.includes(text))) ? [name] : [];
  });
  return (await Promise.all(found)).flat().toSorted();
}

const erase = ({ quotaId }: { quotaId: string }) =>
  admin.store.app.get(QuotaService).erase(quotaId, terminalActor('ann'));

it('removes what describes a customer from every table, and leaves ids and other customers', async () => {
  const { store } = admin;
  const { json: webhook } = await admin.send('POST /admin/webhooks', {
    url: 'https://example.com/',
    events: ['*'],
  });
  const key = await admin.issue({
    name: SECRETS[0],
    note: SECRETS[1],
    allowedNetworks: [SECRETS[2]],
    externalId: SECRETS[5],
  });
  const call = (path: string, init = {}) => send(store.url + path, { key: key.key, ...init });
  const pet = { name: SECRETS[4], categoryId: 1 };
  await call('/v1/pets', { method: 'POST', body: pet, headers: { 'Idempotency-Key': 'a' } });
  await store.database.query('UPDATE pets SET name = $1', ['Rex']);
  await call('/v1/nothing', { headers: { 'X-Request-Id': 'of-the-customer' } });
  await admin.send(`PATCH /admin/keys/${key.id}`, { name: SECRETS[3] });
  const { json: successor } = await admin.send(`POST /admin/keys/${key.id}/rotate`);
  const other = await admin.issue({ name: 'Other shop' });
  await store.app.get(FailedRequestRecorder).flush();
  await recordUsage(store);
  await queueEvents(store.app.get(PrismaService), [
    {
      type: 'key.expiring',
      subject: key.id,
      data: {
        keyId: key.id,
        keyName: SECRETS[0]!,
        quotaId: key.quotaId,
        externalId: SECRETS[5]!,
        expiresAt: new Date(),
      },
    },
  ]);
  await store.database.query('UPDATE webhook_deliveries SET response_body = $1', [SECRETS[0]]);
  expect(await findTables([...SECRETS, 'of-the-customer'])).toEqual([
    'api_keys',
    'audit_events',
    'failed_requests',
    'quotas',
    'stored_responses',
    'webhook_deliveries',
  ]);

  const before = (await admin.send(`GET /admin/keys/${key.id}`)).json;
  const erased = await erase(key);
  const state = { id: key.quotaId, externalId: null, validKeyCount: 0 };
  expect(erased).toMatchObject({ quota: state, wasErased: false });
  expect(await findTables([...SECRETS, 'of-the-customer'])).toEqual([]);
  expect((await admin.send(`GET /admin/keys/${key.id}`)).json).toEqual({
    ...before,
    name: 'Erased',
    note: null,
    externalId: null,
    allowedNetworks: [],
    state: 'revoked',
    revokedAt: expect.any(String),
  });
  for (const each of [key, successor]) {
    await eventually(async () =>
      expectError(await call('/v1/pets', { key: each.key }), 401, 'invalid_api_key'),
    );
  }
  expect((await send(`${store.url}/v1/pets`, { key: other.key })).status).toBe(200);
  expect((await admin.send(`GET /admin/keys/${other.id}`)).json.name).toBe('Other shop');
  const events = (await admin.send(`GET /admin/audit?quotaId=${key.quotaId}`)).json;
  expect(events[0]).toMatchObject({
    action: 'quota.erased',
    actor: { type: 'terminal', name: 'ann' },
    subject: { type: 'quota', id: key.quotaId },
    before: null,
    after: { revokedKeys: 2 },
  });
  const issued = (await admin.send(`GET /admin/audit?keyId=${key.id}&action=key.issued`)).json;
  expect(issued[0]).toMatchObject({ subject: { name: 'Erased' }, after: { plan: 'free', role: 'client' } });
  const deliveries = (await admin.send(`GET /admin/webhooks/${webhook.id}/deliveries?limit=100`)).json;
  const names = deliveries.map(
    ({ payload }: { payload: { data: { keyName?: string } } }) => payload.data.keyName,
  );
  expect(new Set(names)).toEqual(new Set(['Erased']));
});

it('can be repeated, which the audit records if there was more to erase', async () => {
  const key = await admin.issue({ externalId: 'crm-of-bob' });
  await erase(key);
  const countEvents = async () =>
    (await admin.send(`GET /admin/audit?quotaId=${key.quotaId}&action=quota.erased`)).json.length;
  expect(await erase(key)).toMatchObject({ quota: { validKeyCount: 0 }, wasErased: true });
  expect(await countEvents()).toBe(1);
  await admin.send(`PATCH /admin/quotas/${key.quotaId}`, { externalId: 'crm-of-bob' });
  expect(await erase(key)).toMatchObject({ quota: { externalId: null }, wasErased: false });
  expect(await countEvents()).toBe(2);
});

it.each(['failed requests', 'stored responses', 'events'])(
  'records that it deleted %s alone',
  async (what) => {
    const { store } = admin;
    await admin.send('POST /admin/webhooks', { url: 'https://example.com/', events: ['key.expiring'] });
    const key = await admin.issue({ name: 'Shop of Bob' });
    const queue = (keyName: string, externalId: string | null) => {
      const data = { keyId: key.id, keyName, quotaId: key.quotaId, externalId, expiresAt: new Date() };
      return queueEvents(store.app.get(PrismaService), [
        { type: 'key.expiring', subject: crypto.randomUUID(), data },
      ]);
    };
    const call = (path: string, init = {}) => send(store.url + path, { key: key.key, ...init });
    const pet = { method: 'POST', body: { name: 'Rex', categoryId: 1 } };
    await call('/v1/pets', { ...pet, headers: { 'Idempotency-Key': 'a' } });
    const [response] = await store.database.query<{ row: string }>(
      'SELECT s::text AS row FROM stored_responses s WHERE quota_id = $1',
      [key.quotaId],
    );
    await erase(key);
    await queue('Erased', null);
    expect(await erase(key)).toMatchObject({ wasErased: true });
    const additions: Record<string, () => Promise<unknown>> = {
      'failed requests': async () => {
        await call('/v1/pets');
        await store.app.get(FailedRequestRecorder).flush();
      },
      'stored responses': () =>
        store.database.query('INSERT INTO stored_responses SELECT ($1::text::stored_responses).*', [
          response!.row,
        ]),
      events: () => queue('Shop of Bob', null),
    };
    await additions[what]!();
    expect(await erase(key)).toMatchObject({ wasErased: false });
    const events = (await admin.send(`GET /admin/audit?quotaId=${key.quotaId}`)).json;
    expect(events).toMatchObject([
      { action: 'quota.erased', after: { revokedKeys: 0 } },
      { action: 'quota.erased', after: { revokedKeys: 1 } },
    ]);
    expect(await erase(key)).toMatchObject({ wasErased: true });
  },
);

it('rejects a quota that is not there', async () => {
  await expect(erase({ quotaId: crypto.randomUUID() })).rejects.toMatchObject({ code: 'not_found' });
});

it('pauses the webhooks that receive only events of the quota', async () => {
  const key = await admin.issue();
  const create = async (limit: object) => {
    const webhook = { url: 'https://example.com/', events: ['*'], ...limit };
    return (await admin.send('POST /admin/webhooks', webhook)).json;
  };
  const [own, ofAll] = [await create({ quotaId: key.quotaId }), await create({})];
  await erase(key);
  const find = async ({ id }: { id: string }) => (await admin.send(`GET /admin/webhooks/${id}`)).json;
  expect(await find(own)).toMatchObject({ paused: true, pauseReason: 'administrator' });
  expect(await find(ofAll)).toMatchObject({ paused: false });
  expect((await admin.send(`GET /admin/webhooks/${own.id}/deliveries`)).json).toEqual([]);
  const events = (await admin.send('GET /admin/audit?action=webhook.paused')).json;
  expect(events[0]).toMatchObject({
    actor: { type: 'terminal', name: 'ann' },
    subject: { type: 'webhook', id: own.id },
  });
  await erase(key);
});

it('revokes only keys that have not ended', async () => {
  const key = await admin.issue();
  await admin.send(`POST /admin/keys/${key.id}/rotate`, { overlapSeconds: 0 });
  await erase(key);
  const [event] = (await admin.send(`GET /admin/audit?quotaId=${key.quotaId}`)).json;
  expect(event).toMatchObject({ action: 'quota.erased', after: { revokedKeys: 1 } });
  expect((await admin.send(`GET /admin/keys/${key.id}`)).json.state).toBe('expired');
});

it('leaves the audit append only', async () => {
  await erase(await admin.issue());
  for (const change of ['UPDATE audit_events SET before = NULL', 'DELETE FROM audit_events']) {
    await expect(admin.store.database.query(change)).rejects.toThrow('append only');
  }
});
