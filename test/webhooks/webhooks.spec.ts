import { HOUR_MS, WrongClock } from '../support/time/clock.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { startApplication } from '../support/service/application.js';
import { useAdministration } from '../support/keys/administration.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { readPages } from '../support/http/pages.js';
import { changingNothing } from '../support/database/stored-state.js';

const URL_FAULT = 'url must be an http(s) address without credentials, of at most 2048 characters';
const privateFault = (host: string) =>
  `url: ${host} is a private address. Set WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true to allow it`;
const UNKNOWN_ID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';
/** Slack has a secret in the path, others in the query. */
const SECRET_URL = 'https://hooks.example:8443/services/T0/B0/s3cret?token=s3cret#s3cret';
const INPUT = { url: 'https://ops.example/hook', events: ['key.revoked', 'quota.banned'] };
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

const admin = useAdministration();

beforeEach(() => admin.store.database.query('DELETE FROM webhooks'));

const create = async (input: object = INPUT) => (await admin.send('POST /admin/webhooks', input)).json;
const change = (id: string, input: object) => admin.send(`PATCH /admin/webhooks/${id}`, input);
/** Causes an event. */
const revokeKey = async () => admin.send(`POST /admin/keys/${(await admin.issue()).id}/revoke`);
const listAuditEvents = async (id: string) =>
  admin.store.database.query(
    'SELECT actor, action, before, after FROM audit_events WHERE subject = $1 ORDER BY id',
    [`webhook:${id}`],
  );

describe('POST /admin/webhooks', () => {
  it('returns 201 with the webhook and its secret, which no later response or audit event has', async () => {
    const response = await admin.send('POST /admin/webhooks', INPUT);
    const { id, secret, ...shown } = response.json;
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(secret).toMatch(SECRET);
    expect(shown).toEqual({
      ...INPUT,
      quotaId: null,
      paused: false,
      pausedAt: null,
      pauseReason: null,
      lastDelivery: null,
      failingDeliveryCount: 0,
      nextAttemptAt: null,
      previousSecretExpiresAt: null,
      createdAt: expect.any(String),
    });
    const listed = await admin.send('GET /admin/webhooks');
    expect([listed.status, listed.json]).toEqual([200, [{ id, ...shown }]]);
    expect((await admin.send(`GET /admin/webhooks/${id}`)).json).toEqual({ id, ...shown });
    expect(await listAuditEvents(id)).toEqual([
      {
        actor: `key:${admin.administrator.id}`,
        action: 'webhook.created',
        before: null,
        after: { ...INPUT, url: 'https://ops.example', paused: false },
      },
    ]);
  });

  it('returns 201 with the quota that the webhook is limited to, as its audit and filter have', async () => {
    const { quotaId } = await admin.issue();
    await create();
    const { status, json } = await admin.send('POST /admin/webhooks', { ...INPUT, quotaId });
    expect([status, json.quotaId]).toEqual([201, quotaId]);
    const { secret: _secret, ...shown } = json;
    expect((await admin.send(`GET /admin/webhooks?quotaId=${quotaId}`)).json).toEqual([shown]);
    expect((await admin.send(`GET /admin/webhooks?quotaId=${UNKNOWN_ID}`)).json).toStrictEqual([]);
    expect((await change(json.id, { quotaId: UNKNOWN_ID })).json.quotaId).toBe(quotaId);
    expectInvalid(await admin.send('GET /admin/webhooks?quotaId=x'), 'quotaId must be the id of a quota');
    const after = { ...INPUT, url: 'https://ops.example', quotaId, paused: false };
    expect(await listAuditEvents(json.id)).toMatchObject([{ action: 'webhook.created', after }]);
  });

  it.each<[string, object, string]>([
    ['no URL', { events: ['key.revoked'] }, 'url is required'],
    ['a quota that is no id', { ...INPUT, quotaId: 'x' }, 'quotaId must be the id of a quota'],
    ['no quota', { ...INPUT, quotaId: null }, 'quotaId must be a string'],
    ['an unknown quota', { ...INPUT, quotaId: UNKNOWN_ID }, `quotaId: no quota has the id ${UNKNOWN_ID}`],
    ['another scheme', { ...INPUT, url: 'ftp://ops.example/' }, URL_FAULT],
    ['a path alone', { ...INPUT, url: '/hook' }, URL_FAULT],
    ['credentials', { ...INPUT, url: 'https://user:secret@ops.example/' }, URL_FAULT],
    ['a number', { ...INPUT, url: 7 }, URL_FAULT],
    ['a NUL', { ...INPUT, url: 'https://ops.example/\0' }, URL_FAULT],
    ['a lone surrogate', { ...INPUT, url: 'https://ops.example/\uD800' }, URL_FAULT],
    ['an escape sequence', { ...INPUT, url: 'https://ops.example/\u001B[2J' }, URL_FAULT],
    ['an overlong URL', { ...INPUT, url: `https://ops.example/${'a'.repeat(2048)}` }, URL_FAULT],
    ['no events', { url: INPUT.url }, 'events is required'],
    ['a private address', { ...INPUT, url: 'http://127.0.0.1:4000/hook' }, privateFault('127.0.0.1')],
    ['a name of this machine', { ...INPUT, url: 'http://localhost:4000/' }, privateFault('localhost')],
  ])('returns 400 for %s', async (_what, input, fault) => {
    const { database } = admin.store;
    expectInvalid(await changingNothing(database, () => admin.send('POST /admin/webhooks', input)), fault);
  });

  it.each([[[]], ['key.revoked'], [['key.stolen']], [null]])(
    'returns 400 for the events %j',
    async (events) => {
      const response = await admin.send('POST /admin/webhooks', { ...INPUT, events });
      expectInvalid(
        response,
        /^events(\[0\])? must be a list of one or more of quota\.day_limit_approaching, .*, \*$/,
      );
    },
  );
});

describe('GET /admin/webhooks', () => {
  it('returns 200 with up to 20 webhooks over all pages, the oldest first', async () => {
    const ids: string[] = [];
    while (ids.length < 19) {
      ids.push((await create()).id);
    }
    const [one, other] = await Promise.all([0, 0].map(() => admin.send('POST /admin/webhooks', INPUT)));
    const [last, excess] = one?.status === 201 ? [one, other] : [other, one];
    expectError(excess as HttpResponse, 409, 'conflict');
    const pages = await readPages<{ id: string }>(
      (target) => admin.send(`GET ${target}`),
      '/admin/webhooks?limit=8',
    );
    expect(pages.map(({ length }) => length)).toEqual([8, 8, 4]);
    expect(pages.flat().map(({ id }) => id)).toEqual([...ids, last?.json.id]);
  });
});

describe('PATCH /admin/webhooks/{webhookId}', () => {
  it('returns 200 with the changed webhook, and keeps what is left out', async () => {
    const { id, secret: _secret, ...shown } = await create();
    const url = 'https://new.example:8443/hook';
    const moved = await change(id, { url });
    expect([moved.status, moved.json]).toEqual([200, { id, ...shown, url }]);
    const changed = await change(id, { events: ['*'], paused: true });
    const pause = { paused: true, pausedAt: expect.any(String), pauseReason: 'administrator' };
    expect(changed.json).toEqual({ id, ...shown, url, events: ['*'], ...pause });
    expect((await admin.send('GET /admin/webhooks')).json).toEqual([changed.json]);
    const resumed = await change(id, { paused: false });
    expect(resumed.json).toEqual({ id, ...shown, url, events: ['*'] });
  });

  it('returns 200 with the first time of a pause and its reason, even if it is paused again', async () => {
    const { id } = await create();
    const { json: first } = await change(id, { paused: true });
    expect(Math.abs(Date.parse(first.pausedAt) - admin.store.clock.now())).toBeLessThan(60_000);
    await admin.store.database.query("UPDATE webhooks SET pause_reason = 'failing'");
    const { json: again } = await change(id, { paused: true });
    expect(again).toEqual({ ...first, pauseReason: 'failing' });
  });

  it('records the values before and after, if anything changed', async () => {
    const { id } = await create();
    await change(id, { paused: true });
    await change(id, { ...INPUT, paused: true });
    await change(id, {});
    const before = { ...INPUT, url: 'https://ops.example', paused: false };
    const actor = `key:${admin.administrator.id}`;
    expect(await listAuditEvents(id)).toEqual([
      { actor, action: 'webhook.created', before: null, after: before },
      { actor, action: 'webhook.updated', before, after: { ...before, paused: true } },
    ]);
  });

  it.each<[string, object, string]>([
    ['no URL', { url: null }, URL_FAULT],
    ['a private address', { url: 'http://[::1]:4000/hook' }, privateFault('::1')],
    ['a text', { paused: 'true' }, 'paused must be true or false'],
  ])('returns 400 for %s', async (_what, input, fault) => {
    const { id } = await create();
    expectInvalid(await changingNothing(admin.store.database, () => change(id, input)), fault);
  });
});

describe('POST /admin/webhooks/{webhookId}/rotate-secret', () => {
  it('returns 200 with a new secret, and the end of the old one', async () => {
    const { id, secret } = await create();
    const before = admin.store.clock.now();
    const { status, json, headers } = await admin.send(`POST /admin/webhooks/${id}/rotate-secret`);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(json.secret).toMatch(SECRET);
    expect(json.secret).not.toBe(secret);
    const overlapMs = Date.parse(json.previousSecretExpiresAt) - before;
    expect(Math.round(overlapMs / 3_600_000)).toBe(24);
    expect(await listAuditEvents(id)).toMatchObject([{}, { action: 'webhook.secret_rotated' }]);
    expect(JSON.stringify(await listAuditEvents(id))).not.toContain('whsec_');
  });
});

describe('a replica whose clock is wrong', () => {
  it('ends the overlap of secrets by the clock of the database', async () => {
    const { database } = admin.store;
    const clock = new WrongClock(HOUR_MS);
    const replica = await startApplication({ database, clock });
    const { id } = await create();
    const { key } = admin.administrator;
    const { json } = await send(`${replica.url}/admin/webhooks/${id}/rotate-secret`, { method: 'POST', key });
    await replica.close();
    const aheadMs = Date.parse(json.previousSecretExpiresAt) - admin.store.clock.now();
    expect(Math.round(aheadMs / 60_000)).toBe(24 * 60);
  });
});

describe('DELETE /admin/webhooks/{webhookId}', () => {
  it('returns 200 with the deleted webhook, which is gone with its deliveries', async () => {
    const { id, secret: _secret, ...shown } = await create();
    await revokeKey();
    const deleted = await admin.send(`DELETE /admin/webhooks/${id}`);
    expect([deleted.status, deleted.json]).toEqual([200, { id, ...shown }]);
    expect((await admin.send('GET /admin/webhooks')).json).toStrictEqual([]);
    expect(await admin.store.database.query('SELECT 1 FROM webhook_deliveries')).toStrictEqual([]);
    expect(await listAuditEvents(id)).toMatchObject([{}, { action: 'webhook.deleted' }]);
  });
});

describe('POST /admin/webhooks/{webhookId}/test', () => {
  it('returns 201 with the delivery of an event for this webhook alone, whatever its events', async () => {
    const [one, other] = [await create(), await create({ ...INPUT, events: ['quota.banned'] })];
    const { status, json } = await admin.send(`POST /admin/webhooks/${other.id}/test`);
    expect(status).toBe(201);
    expect(json).toMatchObject({
      eventType: 'webhook.test',
      payload: { type: 'webhook.test', data: { webhookId: other.id } },
      state: 'pending',
      responseStatus: null,
      responseBody: null,
    });
    expect((await admin.send(`GET /admin/webhooks/${one.id}/deliveries`)).json).toStrictEqual([]);
    expect(await listAuditEvents(other.id)).toMatchObject([
      {},
      {
        actor: `key:${admin.administrator.id}`,
        action: 'webhook.tested',
        before: null,
        after: { deliveryId: json.id, eventType: 'webhook.test' },
      },
    ]);
  });

  it('sends another event each time', async () => {
    const { id } = await create();
    const ids = await Promise.all(
      [0, 0].map(async () => (await admin.send(`POST /admin/webhooks/${id}/test`)).json.id),
    );
    const { json } = await admin.send(`GET /admin/webhooks/${id}/deliveries`);
    expect(new Set(json.map((delivery: { id: string }) => delivery.id))).toEqual(new Set(ids));
    expect(json).toHaveLength(2);
  });
});

describe('a paused webhook', () => {
  it('gets 409 for a test event, until it is resumed', async () => {
    const { id } = await create();
    await change(id, { paused: true });
    const test = () => admin.send(`POST /admin/webhooks/${id}/test`);
    expectError(await test(), 409, 'conflict', 'The webhook is paused. Resume it first.');
    await change(id, { paused: false });
    expect((await test()).status).toBe(201);
  });
});

describe('the audit of a webhook', () => {
  it('has scheme and host of its URL only, because the rest may contain a secret', async () => {
    const { id } = await create({ ...INPUT, url: SECRET_URL });
    await change(id, { url: `${SECRET_URL}2` });
    await admin.send(`POST /admin/webhooks/${id}/rotate-secret`);
    await admin.send(`DELETE /admin/webhooks/${id}`);
    const shown = { ...INPUT, url: 'https://hooks.example:8443', paused: false };
    const [created, changed, rotated, deleted] = await listAuditEvents(id);
    expect([created?.['after'], deleted?.['before']]).toEqual([shown, shown]);
    expect(JSON.stringify([created, changed, rotated, deleted])).not.toContain('s3cret');
  });
});

describe('two deletions at once', () => {
  it('are one, and one 404', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await create();
      const deleted = await Promise.all([0, 0].map(() => admin.send(`DELETE /admin/webhooks/${id}`)));
      expect(deleted.map(({ status }) => String(status)).toSorted()).toEqual(['200', '404']);
      expect(await listAuditEvents(id)).toMatchObject([{}, { action: 'webhook.deleted' }]);
    }
  });
});

describe('GET /admin/webhooks/{webhookId}/deliveries', () => {
  it('returns 200 with the deliveries over all pages, the newest first, or those of one state', async () => {
    const { id } = await create();
    await admin.store.database.query(
      `INSERT INTO webhook_deliveries (
         id, webhook_id, event_id, event_type, dedupe_key, payload, state, next_attempt_at
       )
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 'key.revoked', n::text, '{}',
         (CASE WHEN n % 2 = 0 THEN 'failed' ELSE 'delivered' END)::text, NULL
       FROM generate_series(1, 7) n`,
      [id],
    );
    const list = `/admin/webhooks/${id}/deliveries`;
    const get = (target: string) => admin.send(`GET ${target}`);
    const pages = await readPages<{ id: string; createdAt: string }>(get, `${list}?limit=2`);
    const all = pages.flat();
    expect(new Set(all.map((delivery) => delivery.id)).size).toBe(7);
    const ids = all.map((delivery) => delivery.id);
    expect(ids).toEqual(ids.toSorted().toReversed());
    expect((await get(`${list}?state=failed`)).json).toHaveLength(3);
    expectInvalid(await get(`${list}?state=lost`), 'state must be one of pending, delivered, failed');
  });
});

describe('a request on a webhook that does not exist', () => {
  it.each([
    'GET /admin/webhooks/ID',
    'PATCH /admin/webhooks/ID',
    'DELETE /admin/webhooks/ID',
    'POST /admin/webhooks/ID/rotate-secret',
    'POST /admin/webhooks/ID/test',
    'GET /admin/webhooks/ID/deliveries',
    `GET /admin/webhooks/ID/deliveries/${UNKNOWN_ID}`,
    `POST /admin/webhooks/ID/deliveries/${UNKNOWN_ID}/resend`,
  ])('gets 404: %s', async (request) => {
    const body = request.startsWith('PATCH') ? {} : undefined;
    for (const id of [UNKNOWN_ID, 'x', '%00']) {
      expectError(await admin.send(request.replace('ID', id), body), 404, 'not_found');
    }
  });

  it('gets 404 for a delivery of another webhook, and an audit event only if it is sent again', async () => {
    const [one, other] = [await create(), await create()];
    await revokeKey();
    const [delivery] = (await admin.send(`GET /admin/webhooks/${one.id}/deliveries`)).json;
    await admin.store.database.query("UPDATE webhook_deliveries SET state = 'failed'");
    const resend = (id: string) => admin.send(`POST /admin/webhooks/${id}/deliveries/${delivery.id}/resend`);
    expectError(await resend(other.id), 404, 'not_found');
    expect((await resend(one.id)).status).toBe(200);
    expectError(
      await resend(one.id),
      409,
      'conflict',
      expect.stringMatching(/^The delivery is still pending/),
    );
    expect(await listAuditEvents(other.id)).toMatchObject([{ action: 'webhook.created' }]);
    expect(await listAuditEvents(one.id)).toMatchObject([
      { action: 'webhook.created' },
      {
        actor: `key:${admin.administrator.id}`,
        action: 'webhook.delivery_resent',
        before: null,
        after: { deliveryId: delivery.id, eventType: 'key.revoked' },
      },
    ]);
  });
});
