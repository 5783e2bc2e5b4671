import type { z } from 'zod';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import type { WebhookDelivery } from '../../src/webhooks/webhook.schemas.js';
import { Logger } from '@nestjs/common';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { UsageJournal } from '../../src/usage/usage.journal.js';
import { WebhookEventWatch } from '../../src/webhooks/event-watch.js';
import { PAYLOADS, SUBSCRIPTIONS } from '../../src/webhooks/events.js';
import { ban } from '../support/keys/bans.js';
import { send } from '../support/http/http.js';
import { useAdministration } from '../support/keys/administration.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { recordUsage } from '../support/keys/usage.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

const DAY_MS = 86_400_000;
/** Nobody receives the events of these tests. */
const NOWHERE = 'http://192.0.2.1/';

const admin = useAdministration({ environment: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true } });
let webhookId: string;
/** Each test begins a week later, because in time that has passed a lifted ban would hold again. */
let noon = new Date('2027-03-05T12:00:00.000Z');

beforeEach(async () => {
  noon = new Date(noon.getTime() + 7 * DAY_MS);
  admin.store.clock.travelTo(noon);
  await admin.store.database.query('DELETE FROM webhooks');
  webhookId = await createWebhook(SUBSCRIPTIONS.filter((type) => type !== '*'));
});

async function createWebhook(events: readonly string[], quotaId?: string): Promise<string> {
  return (await admin.send('POST /admin/webhooks', { url: NOWHERE, events, quotaId })).json.id;
}

async function listDeliveries(id: string): Promise<z.infer<typeof WebhookDelivery>[]> {
  const { json } = await admin.send(`GET /admin/webhooks/${id}/deliveries?limit=100`);
  return json;
}

/**
 * Returns the types and the data of the events that a webhook receives, the oldest first. Their payloads have
 * exactly the fields of the document.
 */
async function listEvents(id = webhookId): Promise<[string, unknown][]> {
  return (await listDeliveries(id)).toReversed().map(({ eventType, payload }) => {
    const described = PAYLOADS.find(({ type }) => type === eventType)?.schema;
    expect(described?.parse(payload)).toEqual(payload);
    return [eventType, payload['data']];
  });
}

const findEvents = ({ app }: Pick<TestApplication, 'app'> = admin.store) =>
  app.get(WebhookEventWatch).findEvents();
const inFuture = (milliseconds: number) => new Date(admin.store.clock.now() + milliseconds);
const use = async ({ key }: IssuedKey, times: number, path = '/v1/pets') => {
  for (let sent = 0; sent < times; sent += 1) {
    await send(`${admin.store.url}${path}`, { key });
  }
};
const act = ({ id }: IssuedKey, action: string, body?: object) =>
  admin.send(`POST /admin/keys/${id}/${action}`, body);

describe('the event key.rotated', () => {
  it('is queued with the end of the overlap and the successor', async () => {
    const key = await admin.issue({ name: 'Ann', externalId: 'customer-7' });
    const { json: successor } = await act(key, 'rotate', { overlapSeconds: 0 });
    const { json: rotated } = await admin.send(`GET /admin/keys/${key.id}`);
    const ofKey = { keyId: key.id, keyName: 'Ann', quotaId: key.quotaId, externalId: 'customer-7' };
    const data = { ...ofKey, successorId: successor.id };
    expect(await listEvents()).toEqual([['key.rotated', { ...data, expiresAt: rotated.expiresAt }]]);
  });
});

describe('the events key.suspended and key.resumed', () => {
  it('are queued each time that the key is suspended and resumed', async () => {
    const key = await admin.issue({ name: 'Ann', externalId: 'customer-7' });
    const ofKey = { keyId: key.id, keyName: 'Ann', quotaId: key.quotaId, externalId: 'customer-7' };
    const set = async (suspended: boolean) =>
      (await admin.send(`PATCH /admin/keys/${key.id}`, { suspended })).json.suspendedAt;
    const first = await set(true);
    expect(await set(true)).toBe(first);
    await set(false);
    await set(false);
    const second = await set(true);
    const events = await listEvents();
    expect(events).toHaveLength(3);
    expect(events).toEqual(
      expect.arrayContaining([
        ['key.suspended', { ...ofKey, suspendedAt: first }],
        ['key.resumed', { ...ofKey, resumedAt: expect.any(String) }],
        ['key.suspended', { ...ofKey, suspendedAt: second }],
      ]),
    );
  });
});

describe('the event key.revoked', () => {
  it('is queued once, however often the key is revoked', async () => {
    const key = await admin.issue({ name: 'Ann' });
    const { json: revoked } = await act(key, 'revoke');
    await act(key, 'revoke');
    const ofKey = { keyId: key.id, keyName: 'Ann', quotaId: key.quotaId, externalId: null };
    const data = { ...ofKey, revokedAt: revoked.revokedAt };
    expect(await listEvents()).toEqual([['key.revoked', data]]);
  });

  it('is queued for each webhook that receives it, and for no other', async () => {
    const [receiving, other] = await Promise.all([
      createWebhook(['key.revoked']),
      createWebhook(['key.rotated']),
    ]);
    await act(await admin.issue(), 'revoke');
    const counts = await Promise.all(
      [webhookId, receiving, other].map(async (id) => (await listEvents(id)).length),
    );
    expect(counts).toEqual([1, 1, 0]);
  });

  it('has the same id for each webhook, another one for each key', async () => {
    const other = await createWebhook(['key.revoked']);
    await act(await admin.issue(), 'revoke');
    await act(await admin.issue(), 'revoke');
    const [one, two] = await Promise.all(
      [webhookId, other].map(async (id) => (await listDeliveries(id)).map(({ eventId }) => eventId)),
    );
    expect(one?.toSorted()).toEqual(two?.toSorted());
    expect(new Set(one).size).toBe(2);
    expect(one?.[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  });

  it('is not queued if the revocation is rolled back', async () => {
    const key = await admin.issue();
    await admin.store.database.query(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`,
    );
    await admin.store.database.query(
      `CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON webhook_deliveries INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION fail()`,
    );
    expect((await act(key, 'revoke')).status).toBe(500);
    await admin.store.database.query('DROP FUNCTION fail CASCADE');
    expect((await admin.send(`GET /admin/keys/${key.id}`)).json.revokedAt).toBeNull();
    expect(await listEvents()).toStrictEqual([]);
  });
});

describe('the events of a day limit', () => {
  const LIMITS = { plan: 'enterprise', perMinute: 100, perDay: 10 };

  it('are queued once a day and quota, at 80 and 100 %, by whichever replica finds them first', async () => {
    const { clock, database } = admin.store;
    const replica = await startApplication({ database, clock });
    clock.travelTo(noon);
    const key = await admin.issue({ ...LIMITS, name: 'Ann' });
    await use(key, 7);
    await findEvents();
    expect(await listEvents()).toStrictEqual([]);
    await use(key, 1);
    await Promise.all([findEvents(), findEvents(replica)]);
    await findEvents();
    const data = (used: number, thresholdPercent: number) => ({
      quotaId: key.quotaId,
      externalId: null,
      plan: 'enterprise',
      limit: 10,
      used,
      thresholdPercent,
    });
    const first = ['quota.day_limit_approaching', data(8, 80)];
    expect(await listEvents()).toEqual([first]);
    await use(key, 5);
    await Promise.all([findEvents(), findEvents(replica)]);
    expect(await listEvents()).toEqual([first, ['quota.day_limit_reached', data(10, 100)]]);
    clock.travel(DAY_MS);
    await findEvents();
    await use(key, 9);
    await findEvents();
    expect((await listEvents()).slice(2)).toEqual([['quota.day_limit_approaching', data(9, 80)]]);
    await replica.close();
  });

  it('follow the limit in force', async () => {
    const key = await admin.issue(LIMITS);
    await use(key, 8);
    await admin.send(`PATCH /admin/quotas/${key.quotaId}`, { ...LIMITS, perDay: 100 });
    await findEvents();
    expect(await listEvents()).toStrictEqual([]);
  });
});

describe('the event quota.banned', () => {
  it('is queued once for each ban, with its end', async () => {
    const key = await admin.issue({ name: 'Ann', externalId: 'customer-7' });
    const until = inFuture(60_000);
    await ban(admin.store.database, key, until);
    await findEvents();
    await findEvents();
    const data = (end: Date) => ({
      quotaId: key.quotaId,
      externalId: 'customer-7',
      plan: 'free',
      bannedUntil: end.toISOString(),
    });
    expect(await listEvents()).toEqual([['quota.banned', data(until)]]);
    const later = inFuture(300_000);
    await ban(admin.store.database, key, later);
    await findEvents();
    expect((await listEvents()).slice(1)).toEqual([['quota.banned', data(later)]]);
    await admin.send(`POST /admin/quotas/${key.quotaId}/unban`);
  });
});

describe('the event key.expiring', () => {
  it('is queued once, 14 days before a key expires, unless it has a successor or is revoked', async () => {
    const expiresAt = inFuture(14.5 * DAY_MS).toISOString();
    const key = await admin.issue({ name: 'Ann', externalId: 'customer-7', expiresAt });
    const rotated = await admin.issue({ expiresAt });
    const revoked = await admin.issue({ expiresAt });
    await act(revoked, 'revoke');
    await act(rotated, 'rotate', { expiresAt: inFuture(100 * DAY_MS).toISOString() });
    await findEvents();
    const isExpiring = ([type]: [string, unknown]) => type === 'key.expiring';
    expect((await listEvents()).filter(isExpiring)).toStrictEqual([]);
    admin.store.clock.travel(DAY_MS);
    await findEvents();
    await findEvents();
    const ofKey = { keyId: key.id, keyName: 'Ann', quotaId: key.quotaId, externalId: 'customer-7' };
    const data = { ...ofKey, expiresAt };
    expect((await listEvents()).filter(isExpiring)).toEqual([['key.expiring', data]]);
    await admin.store.database.query('UPDATE api_keys SET expires_at = NULL');
  });
});

describe('a webhook that subscribes to *', () => {
  it('receives every event', async () => {
    const id = await createWebhook(['*']);
    const key = await admin.issue({ expiresAt: inFuture(DAY_MS).toISOString() });
    await findEvents();
    await act(key, 'revoke');
    expect((await listEvents(id)).map(([type]) => type)).toEqual(['key.expiring', 'key.revoked']);
    expect(await listEvents(id)).toEqual(await listEvents());
  });
});

describe('a webhook that is limited to a quota', () => {
  it('receives the events of that quota and of its keys, and of no other', async () => {
    const key = await admin.issue({ name: 'Ann' });
    const id = await createWebhook(['*'], key.quotaId);
    const further = await admin.issue({ quotaId: key.quotaId, plan: undefined });
    const other = await admin.issue({ expiresAt: inFuture(DAY_MS).toISOString() });
    await act(other, 'revoke');
    await act(further, 'revoke');
    for (const { quotaId } of [key, other]) {
      await ban(admin.store.database, { quotaId }, inFuture(60_000));
    }
    await findEvents();
    await admin.send(`PATCH /admin/webhooks/${webhookId}`, { paused: true });
    expect(await listEvents(id)).toEqual([
      ['key.revoked', expect.objectContaining({ keyId: further.id, quotaId: key.quotaId })],
      ['quota.banned', expect.objectContaining({ quotaId: key.quotaId })],
    ]);
    for (const { quotaId } of [key, other]) {
      await admin.send(`POST /admin/quotas/${quotaId}/unban`);
    }
  });

  it('is not found events of other quotas, though no other webhook exists', async () => {
    const key = await admin.issue();
    await createWebhook(['*'], key.quotaId);
    await admin.send(`DELETE /admin/webhooks/${webhookId}`);
    await admin.issue({ expiresAt: inFuture(DAY_MS).toISOString() });
    expect(await findEvents()).toBe(false);
    await admin.store.database.query('UPDATE api_keys SET expires_at = NULL');
  });

  it('neither shows nor is sent what an earlier release queues for it of another quota', async () => {
    const { quotaId } = await admin.issue();
    const id = await createWebhook(['*'], quotaId);
    const insert = (payload: object, key: string) =>
      admin.store.database.query(
        `INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, dedupe_key, payload)
         VALUES (gen_random_uuid(), $1, gen_random_uuid(), 'quota.banned', $2, $3)`,
        [id, key, JSON.stringify(payload)],
      );
    await insert({ type: 'quota.banned', data: { quotaId: webhookId } }, 'a');
    await insert({ type: 'quota.banned', data: { quotaId } }, 'b');
    expect(await listDeliveries(id)).toMatchObject([{ payload: { data: { quotaId } } }]);
    const rows = await admin.store.database.query(
      'SELECT state, next_attempt_at, payload FROM webhook_deliveries WHERE withheld',
    );
    expect(rows).toEqual([{ state: 'delivered', next_attempt_at: null, payload: {} }]);
  });
});

describe('the event webhook.paused', () => {
  it('is queued for the other webhooks of every quota when an administrator pauses one', async () => {
    const limited = await createWebhook(['*'], (await admin.issue()).quotaId);
    const paused = await createWebhook(['*']);
    const { json } = await admin.send(`PATCH /admin/webhooks/${paused}`, { paused: true });
    await admin.send(`PATCH /admin/webhooks/${paused}`, { paused: true });
    const data = { webhookId: paused, pausedAt: json.pausedAt, pauseReason: 'administrator' };
    expect(await listEvents()).toEqual([['webhook.paused', data]]);
    expect(await listEvents(paused)).toStrictEqual([]);
    expect(await listEvents(limited)).toStrictEqual([]);
  });
});

describe('a paused webhook', () => {
  it('gets no events, and after it is resumed only those that still hold', async () => {
    const pause = (paused: boolean) => admin.send(`PATCH /admin/webhooks/${webhookId}`, { paused });
    const { id } = await admin.issue({ expiresAt: inFuture(DAY_MS).toISOString() });
    await pause(true);
    await act(await admin.issue(), 'revoke');
    await findEvents();
    expect(await listEvents()).toStrictEqual([]);
    await pause(false);
    await findEvents();
    expect(await listEvents()).toEqual([['key.expiring', expect.objectContaining({ keyId: id })]]);
    await admin.store.database.query('UPDATE api_keys SET expires_at = NULL');
  });
});

describe('many events for all webhooks that there may be', () => {
  it('are queued once by two replicas at once, and delay no request', async () => {
    const { database, clock } = admin.store;
    const replica = await startApplication({ database, clock });
    await database.query(
      `INSERT INTO webhooks (id, url, events, secret)
       SELECT gen_random_uuid(), $1, '{key.expiring}', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
       FROM generate_series(1, 19)`,
      [NOWHERE],
    );
    await admin.store.database.query(
      `WITH quota AS (
         INSERT INTO quotas (id, plan) SELECT gen_random_uuid(), 'free' FROM generate_series(1, 500)
         RETURNING id)
       INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four, expires_at)
       SELECT gen_random_uuid(), id, 'Ann', uuid_send(id), 'ask_test_', 'abcd', $1 FROM quota`,
      [inFuture(DAY_MS)],
    );
    const { key } = await admin.store.issue(UNLIMITED);
    let batches = 0;
    const progress = { finding: true };
    const findAll = async (store: TestApplication) => {
      while (await findEvents(store)) {
        batches += 1;
      }
    };
    const statuses: number[] = [];
    const sendRequests = async () => {
      while (progress.finding) {
        statuses.push((await send(`${admin.store.url}/v1/pets`, { key })).status);
      }
    };
    const requests = sendRequests();
    await Promise.all([admin.store, replica].map(findAll));
    progress.finding = false;
    await requests;
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(statuses.length).toBeGreaterThan(batches);
    await replica.close();
    const [row] = await admin.store.database.query('SELECT count(*)::int FROM webhook_deliveries');
    expect(row).toEqual({ count: 10_000 });
    await admin.store.database.query("DELETE FROM api_keys WHERE name = 'Ann' AND expires_at IS NOT NULL");
  });
});

describe('the event key.deprecated_operation_called', () => {
  it('is queued once a day, key and operation, within 30 days of the removal', async () => {
    const key = await admin.issue({ name: 'Ann' });
    const call = async (day: string) => {
      admin.store.clock.travelTo(new Date(`${day}T12:00:00Z`));
      await use(key, 2, '/v1/pets/1');
      await recordUsage(admin.store);
      await admin.store.app.get(UsageJournal).aggregate();
      await findEvents();
      await findEvents();
    };
    await call('2030-11-04');
    expect(await listEvents()).toStrictEqual([]);
    await call('2030-11-06');
    await call('2030-11-07');
    const data = {
      operation: 'getPet',
      sunsetAt: '2030-12-05T00:00:00.000Z',
      keyId: key.id,
      keyName: 'Ann',
      quotaId: key.quotaId,
      externalId: null,
    };
    expect(await listEvents()).toEqual(
      Array.from({ length: 2 }, () => ['key.deprecated_operation_called', data]),
    );
  });

  it("is queued for a call in a day's last moments, whose usage is aggregated on the next day", async () => {
    const { clock, app } = admin.store;
    const key = await admin.issue();
    clock.travelTo(new Date('2030-11-08T23:59:50Z'));
    await use(key, 1, '/v1/pets/1');
    await recordUsage(admin.store);
    clock.travelTo(new Date('2030-11-09T00:01:20Z'));
    await app.get(UsageJournal).aggregate();
    await findEvents();
    await findEvents();
    expect((await listEvents()).map(([type]) => type)).toEqual(['key.deprecated_operation_called']);
  });
});

describe('a source of events that fails', () => {
  it('stops no other, and is logged once for all failures in a row', async () => {
    const key = await admin.issue({ expiresAt: inFuture(DAY_MS).toISOString() });
    const bans = jest.spyOn(admin.store.app.get(FallbackCounterStore), 'bans');
    bans.mockRejectedValue(new Error('There was no response within 3000 ms'));
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    try {
      await findEvents();
      expect(await listEvents()).toContainEqual(['key.expiring', expect.objectContaining({ keyId: key.id })]);
      await findEvents();
      expect(warn.mock.calls).toEqual([
        ['Could not find quota.banned for webhooks: There was no response within 3000 ms'],
      ]);
    } finally {
      warn.mockRestore();
      bans.mockRestore();
    }
  });
});
