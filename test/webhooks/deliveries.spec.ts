import type { ServerResponse } from 'node:http';
import { Webhook as Verifier } from 'standardwebhooks';
import type { z } from 'zod';
import type { WebhookDelivery, WebhookWithSecret } from '../../src/webhooks/webhook.schemas.js';
import { SERVICE } from '../../src/audit/audit.js';
import { KeyService } from '../../src/keys/key.service.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { MetricsRegistry } from '../../src/process/metrics-registry.js';
import { Logger } from '@nestjs/common';
import { WebhookEventWatch } from '../../src/webhooks/event-watch.js';
import { WebhookDeliverer } from '../../src/webhooks/webhook-deliverer.js';
import { DAY_MS, HOUR_MS } from '../support/time/clock.js';
import { useAdministration } from '../support/keys/administration.js';
import { eventually, until } from '../support/eventually.js';
import { expectError } from '../support/http/expectations.js';
import { startApplication, useApplication } from '../support/service/application.js';
import { insertDeliveries } from './insert-deliveries.js';
import { type ReceivedRequest, respondWith, useReceiver } from '../support/programs/receiver.js';

const admin = useAdministration({ environment: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true } });
const receiver = useReceiver();

/** The longest waits between attempts. */
const WAITS_SECONDS = [20, 60, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 36_000, 50_400, 72_000];

afterEach(() => admin.store.database.query('DELETE FROM webhooks'));

type Delivery = z.infer<typeof WebhookDelivery>;
type NewWebhook = z.infer<typeof WebhookWithSecret>;

async function createWebhook(url = receiver.url, events = ['key.revoked']): Promise<NewWebhook> {
  const { status, json } = await admin.send('POST /admin/webhooks', { url, events });
  expect({ status, json }).toMatchObject({ status: 201 });
  return json;
}

const listDeliveries = async ({ id }: { id: string }): Promise<Delivery[]> =>
  (await admin.send(`GET /admin/webhooks/${id}/deliveries`)).json;

/** Causes an event, and returns its delivery to a webhook. */
async function sendEvent(webhook: { id: string }): Promise<Delivery> {
  const { id } = await admin.store.issue({ name: 'Ann' });
  await admin.store.app.get(KeyService).revoke(id, SERVICE);
  const deliveries = await listDeliveries(webhook);
  return deliveries.find(({ payload }) => (payload['data'] as { keyId: string }).keyId === id) as Delivery;
}

/** Waits until no attempt at a webhook is in flight. */
async function endOfAttempts({ id }: { id: string }): Promise<void> {
  const attempts = [...admin.store.app.get(WebhookDeliverer)['inFlight']];
  await Promise.all(attempts.filter(([, webhookId]) => webhookId === id).map(([attempt]) => attempt));
}

/** Sends what is due, instead of half a second later, and waits until the attempts at a webhook end. */
async function sendDue(webhook: { id: string }): Promise<void> {
  const deliverer = admin.store.app.get(WebhookDeliverer);
  deliverer.runNow();
  await deliverer['running'];
  await endOfAttempts(webhook);
}

/** Expects the newest delivery of a webhook to match soon, and returns it. */
function expectNewest(webhook: { id: string }, state: object): Promise<Delivery> {
  return eventually(async () => {
    await sendDue(webhook);
    const [newest] = await listDeliveries(webhook);
    expect(newest).toMatchObject(state);
    return newest as Delivery;
  });
}

/** Makes pending deliveries due, as if their wait was over. */
const endWaits = () =>
  admin.store.database.query(
    "UPDATE webhook_deliveries SET next_attempt_at = now() WHERE state = 'pending' AND last_failure IS " +
      'NOT NULL',
  );

const THREE_DAYS = '3 days';
/** Makes deliveries as if their first attempt was this long ago. */
const beginAgo = (interval: string, id?: string) =>
  admin.store.database.query(
    `UPDATE webhook_deliveries SET first_attempt_at = now() - $1::interval
     WHERE $2::uuid IS NULL OR id = $2`,
    [interval, id],
  );

// oxlint-disable-next-line typescript/no-explicit-any
const findWebhook = async ({ id }: { id: string }): Promise<any> =>
  (await admin.send(`GET /admin/webhooks/${id}`)).json;

const expectDeliveredTwice = (webhook: { id: string }) =>
  eventually(async () => {
    await sendDue(webhook);
    const deliveries = await listDeliveries(webhook);
    expect(deliveries).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
  });

const verify = (secret: string, { body, headers }: ReceivedRequest) =>
  new Verifier(secret).verify(body, headers as Record<string, string>);
const lastReceived = () => receiver.received.at(-1) as ReceivedRequest;

describe('a delivery', () => {
  it("is a POST with the event's id that the library of Standard Webhooks verifies", async () => {
    const webhook = await createWebhook();
    const sent = await sendEvent(webhook);
    const delivered = await expectNewest(webhook, { state: 'delivered' });
    expect(delivered).toEqual({
      ...sent,
      state: 'delivered',
      attempts: 1,
      nextAttemptAt: null,
      lastAttemptAt: expect.any(String),
      lastFailure: null,
      responseStatus: 204,
      responseBody: '',
    });
    const [request, ...others] = receiver.received;
    expect(others).toStrictEqual([]);
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook',
      headers: { 'content-type': 'application/json', 'webhook-id': sent.eventId },
    });
    expect(verify(webhook.secret, lastReceived())).toEqual({
      type: 'key.revoked',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: sent.payload['data'],
    });
    const forged = { ...lastReceived(), body: lastReceived().body.replace('Ann', 'Bob') };
    expect(() => verify(webhook.secret, forged)).toThrow('No matching signature found');
  });

  it('is signed by both secrets until the overlap of a rotation ends, then by the new one', async () => {
    const webhook = await createWebhook();
    const rotate = async (): Promise<NewWebhook> =>
      (await admin.send(`POST /admin/webhooks/${webhook.id}/rotate-secret`)).json;
    const { secret } = await rotate();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'delivered' });
    verify(webhook.secret, lastReceived());
    verify(secret, lastReceived());
    admin.store.clock.travel(86_400_000);
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'delivered' });
    admin.store.clock.travel(-86_400_000);
    expect(lastReceived().headers['webhook-signature']).toMatch(/^v1,[^ ]+$/);
  });

  it('is no longer signed by a secret that was rotated twice', async () => {
    const webhook = await createWebhook();
    await admin.send(`POST /admin/webhooks/${webhook.id}/rotate-secret`);
    await admin.send(`POST /admin/webhooks/${webhook.id}/rotate-secret`);
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'delivered' });
    expect(() => verify(webhook.secret, lastReceived())).toThrow('No matching signature found');
  });

  it('is repeated with the same id and a new timestamp after a failure', async () => {
    receiver.respond = respondWith(503);
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', attempts: 1, lastFailure: 'The response was 503' });
    receiver.respond = respondWith(200);
    await endWaits();
    await expectNewest(webhook, { state: 'delivered', attempts: 2, lastFailure: null });
    const [first, second] = receiver.received.map(({ headers }) => headers);
    expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
    expect(Number(second?.['webhook-timestamp'])).toBeGreaterThanOrEqual(
      Number(first?.['webhook-timestamp']),
    );
    verify(webhook.secret, lastReceived());
  });

  it('is repeated for three days, with growing waits, then fails and may be sent again', async () => {
    receiver.respond = respondWith(500);
    const webhook = await createWebhook();
    const { id, eventId } = await sendEvent(webhook);
    const lastFailure = 'The response was 500';
    for (const [index, seconds] of WAITS_SECONDS.entries()) {
      const sent = await expectNewest(webhook, { state: 'pending', attempts: index + 1, lastFailure });
      const waitMs = Date.parse(sent.nextAttemptAt ?? '') - Date.parse(sent.lastAttemptAt ?? '');
      expect(waitMs).toBeLessThanOrEqual(seconds * 1000);
      expect(waitMs).toBeGreaterThanOrEqual(seconds * 800);
      await endWaits();
    }
    const late = await expectNewest(webhook, { state: 'pending', attempts: 13, lastFailure });
    admin.store.clock.travel(3 * DAY_MS - HOUR_MS);
    await endWaits();
    const { nextAttemptAt } = await expectNewest(webhook, { state: 'pending', attempts: 14, lastFailure });
    // The last attempt is three days after the first.
    const lastMs = Date.parse(nextAttemptAt ?? '') - Date.parse(late.lastAttemptAt ?? '');
    expect(Math.abs(lastMs - 3 * DAY_MS)).toBeLessThan(HOUR_MS / 2);
    admin.store.clock.travel(HOUR_MS);
    await expectNewest(webhook, { state: 'failed', attempts: 15, lastFailure, nextAttemptAt: null });
    await eventually(async () => expect(await findWebhook(webhook)).toMatchObject({ paused: true }));
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { paused: false });
    receiver.respond = respondWith(201);
    const resent = await admin.send(`POST /admin/webhooks/${webhook.id}/deliveries/${id}/resend`);
    expect([resent.status, resent.json]).toMatchObject([200, { id, state: 'pending', attempts: 0 }]);
    await expectNewest(webhook, { id, state: 'delivered', attempts: 1 });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([eventId]),
    );
    admin.store.clock.travel(-3 * DAY_MS);
  });

  it('is counted by the outcome of each attempt, and as failed after the last failed one', async () => {
    const metrics = new MetricsRegistry();
    admin.store.app.get(WebhookDeliverer).addMetrics(metrics);
    const read = async (name: string) => {
      const metric = await metrics.registry.getSingleMetric(`animal_store_webhook_${name}`)?.get();
      return metric?.values.map(({ labels, value }): [unknown, number] => [labels['outcome'], value]) ?? [];
    };
    const readCounts = async () =>
      Object.fromEntries([
        ...(await read('delivery_attempts_total')),
        ['failed deliveries', (await read('deliveries_failed_total'))[0]?.[1]],
      ]) as Record<string, number>;
    const before = await readCounts();
    receiver.respond = respondWith(500);
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', attempts: 1, responseStatus: 500 });
    await beginAgo(THREE_DAYS);
    await endWaits();
    await expectNewest(webhook, { state: 'failed', attempts: 2 });
    await eventually(async () => expect(await findWebhook(webhook)).toMatchObject({ paused: true }));
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { paused: false });
    receiver.respond = respondWith(200);
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'delivered' });
    const { succeeded = NaN, failed = NaN, 'failed deliveries': deliveries = NaN } = before;
    const after = { succeeded: succeeded + 1, failed: failed + 2, 'failed deliveries': deliveries + 1 };
    await eventually(async () => expect(await readCounts()).toEqual(after));
  });

  it('is sent at once, the first time and again, by the clock of the database', async () => {
    const { clock, database } = admin.store;
    clock.travel(-HOUR_MS);
    const webhook = await createWebhook();
    const { id } = await sendEvent(webhook);
    await expectNewest(webhook, { state: 'delivered' });
    await admin.send(`POST /admin/webhooks/${webhook.id}/deliveries/${id}/resend`);
    await expectNewest(webhook, { state: 'delivered', attempts: 1 });
    expect(receiver.received).toHaveLength(2);
    const sentMs = Date.parse(JSON.parse(lastReceived().body).timestamp as string);
    expect(Math.abs(sentMs - clock.now())).toBeLessThan(HOUR_MS / 2);
    clock.travel(HOUR_MS);
    await database.query('DELETE FROM webhooks');
  });

  it('does not follow a redirect, which is a failure', async () => {
    receiver.respond = respondWith(302, { Location: '/elsewhere' });
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', lastFailure: 'The response was 302' });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });

  it('succeeds by its status, though the body of the response never ends', async () => {
    receiver.respond = (response) => response.writeHead(200).write('{');
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'delivered', responseStatus: 200, responseBody: '{' });
  });

  it('succeeds by its status, though the body of the response breaks off', async () => {
    receiver.respond = (response) =>
      response.writeHead(200).write('{', () => setImmediate(() => response.destroy()));
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'delivered', responseStatus: 200, responseBody: '{' });
  });

  it.each<[string, string | Buffer, string]>([
    ['of at most 1,000 bytes, without the part of a character', `${'a'.repeat(999)}é`, 'a'.repeat(999)],
    ['of a body without an end that comes in one piece', 'b'.repeat(1_000_000), 'b'.repeat(1000)],
    ['as it is, with what escapes in other places', '<b>"\u001B[2J\uD83D\uDC08', '<b>"\u001B[2J\uD83D\uDC08'],
    [
      'with replacements for what is no text',
      Buffer.from([0x61, 0, 0xff, 0xed, 0xa0, 0x80]),
      `a${'\uFFFD'.repeat(5)}`,
    ],
  ])('has the beginning of the response %s', async (_what, body, kept) => {
    receiver.respond = (response) => response.writeHead(500).end(body);
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', responseStatus: 500, responseBody: kept });
  });

  it('fails when the receiver switches protocols', async () => {
    receiver.respond = (response) =>
      response.socket?.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
      );
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, {
      state: 'pending',
      lastFailure: 'The connection was closed without a response',
    });
  });

  it('fails with the reason when nobody listens', async () => {
    const webhook = await createWebhook('http://127.0.0.1:1/');
    await sendEvent(webhook);
    const lastFailure = expect.stringContaining('ECONNREFUSED');
    await expectNewest(webhook, { state: 'pending', lastFailure, responseStatus: null, responseBody: null });
  });

  it('fails when the process that sends it is killed, and is sent again by a new one', async () => {
    receiver.respond = () => {};
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await until(() => receiver.received.length === 1);
    const killed = admin.store.app.get(WebhookDeliverer)['receivers']['child'];
    killed?.kill('SIGKILL');
    const lastFailure = 'The process that sends webhooks ended: SIGKILL';
    await expectNewest(webhook, { state: 'pending', attempts: 1, lastFailure, responseStatus: null });
    receiver.reset();
    await endWaits();
    await expectNewest(webhook, { state: 'delivered', attempts: 2 });
    expect(admin.store.app.get(WebhookDeliverer)['receivers']['child']?.pid).not.toBe(killed?.pid);
  });

  it('is not sent again beside an attempt in flight', async () => {
    receiver.respond = () => {};
    const webhook = await createWebhook();
    const { id } = await sendEvent(webhook);
    await until(() => receiver.received.length === 1);
    const resent = await admin.send(`POST /admin/webhooks/${webhook.id}/deliveries/${id}/resend`);
    expectError(resent, 409, 'conflict');
  });

  it('keeps what a later attempt stored if the response to an earlier one comes after it', async () => {
    const responses: ServerResponse[] = [];
    receiver.respond = (response) => responses.push(response);
    const webhook = await createWebhook();
    const { id } = await sendEvent(webhook);
    await until(() => responses.length === 1);
    const deliverer = admin.store.app.get(WebhookDeliverer);
    const { pid } = deliverer['receivers']['child'] ?? {};
    // Another replica begins it, because the time of this one is over.
    await admin.store.database.query(
      `UPDATE webhook_deliveries SET attempts = 2, last_attempt_at = last_attempt_at + interval '15 s'
       WHERE id = '${id}'`,
    );
    const [later] = await listDeliveries(webhook);
    responses[0]?.writeHead(204).end();
    await endOfAttempts(webhook);
    expect(await listDeliveries(webhook)).toEqual([later]);
    expect(later).toMatchObject({ id, state: 'pending', attempts: 2, responseStatus: null });
    expect(deliverer['receivers']['child']?.pid).toBe(pid);
  });

  it('is sent once by two replicas at once', async () => {
    const { database, clock } = admin.store;
    const environment = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true };
    const other = await startApplication({ database, clock, environment });
    const count = 20;
    try {
      await insertDeliveries(database, receiver.url, count);
      [admin.store, other].forEach(({ app }) => app.get(WebhookDeliverer).runNow());
      const pending = "SELECT 1 FROM webhook_deliveries WHERE state = 'pending'";
      // Each starts the process that sends, which has a low priority.
      await until(async () => (await database.query(pending)).length === 0, 20_000);
    } finally {
      await other.close();
    }
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).toHaveLength(count);
    expect(new Set(ids)).toEqual(
      new Set(
        (await database.query('SELECT event_id FROM webhook_deliveries')).map((row) => row['event_id']),
      ),
    );
  });
});

describe('the delivery of a test event', () => {
  const test = async ({ id }: { id: string }): Promise<Delivery> =>
    (await admin.send(`POST /admin/webhooks/${id}/test`)).json;
  const find = ({ id: webhookId }: { id: string }, { id }: Delivery) =>
    admin.send(`GET /admin/webhooks/${webhookId}/deliveries/${id}`);

  it('is signed as that of any event, and has the result of its attempt', async () => {
    const webhook = await createWebhook();
    const sent = await test(webhook);
    await expectNewest(webhook, { id: sent.id, state: 'delivered', attempts: 1, responseStatus: 204 });
    expect(await find(webhook, sent)).toMatchObject({
      status: 200,
      json: { id: sent.id, state: 'delivered' },
    });
    expect(verify(webhook.secret, lastReceived())).toEqual(sent.payload);
    expect(lastReceived().headers['webhook-id']).toBe(sent.eventId);
  });

  it('fails after its only attempt, and may be sent again', async () => {
    receiver.respond = respondWith(503, { 'Retry-After': '1' });
    const webhook = await createWebhook();
    const sent = await test(webhook);
    const failed = { state: 'failed', lastFailure: 'The response was 503', nextAttemptAt: null };
    await expectNewest(webhook, { id: sent.id, attempts: 1, ...failed });
    expect((await find(webhook, sent)).json).toMatchObject(failed);
    expect((await findWebhook(webhook)).paused).toBe(false);
    receiver.respond = respondWith(204);
    await admin.send(`POST /admin/webhooks/${webhook.id}/deliveries/${sent.id}/resend`);
    await expectNewest(webhook, { id: sent.id, state: 'delivered', attempts: 1 });
    expect(receiver.received).toHaveLength(2);
  });

  it('is sent again though its webhook is paused and resumed before', async () => {
    receiver.respond = respondWith(500);
    const webhook = await createWebhook();
    const sent = await test(webhook);
    await expectNewest(webhook, { id: sent.id, state: 'failed' });
    receiver.reset();
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { paused: true });
    const resent = await admin.send(`POST /admin/webhooks/${webhook.id}/deliveries/${sent.id}/resend`);
    expect(resent.json).toMatchObject({ state: 'pending', attempts: 0, lastFailure: null });
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { paused: false });
    await expectNewest(webhook, { id: sent.id, state: 'delivered', attempts: 1 });
  });

  it('fails without another attempt if the service ended during the first', async () => {
    const webhook = await createWebhook();
    await admin.store.database.query("UPDATE webhooks SET paused_at = now(), pause_reason = 'administrator'");
    await admin.store.database.query(
      `INSERT INTO webhook_deliveries (
         id, webhook_id, event_id, event_type, dedupe_key, payload, attempts, next_attempt_at
       )
       VALUES (gen_random_uuid(), $1, gen_random_uuid(), 'webhook.test', 'a', '{}', 1,
         now() - interval '1 s')`,
      [webhook.id],
    );
    await admin.store.database.query('UPDATE webhooks SET paused_at = NULL, pause_reason = NULL');
    await admin.store.app.get(WebhookEventWatch).findEvents();
    await expectNewest(webhook, { state: 'failed', lastFailure: 'The service ended during the attempt' });
    expect(receiver.received).toStrictEqual([]);
  });

  it('is sent while the receiver wants no other request', async () => {
    receiver.respond = respondWith(429, { 'Retry-After': '600' });
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', responseStatus: 429 });
    receiver.respond = respondWith(204);
    const sent = await test(webhook);
    const [shown] = await listDeliveries(webhook);
    expect(Date.parse(shown?.nextAttemptAt ?? sent.createdAt)).toBeLessThan(
      Date.parse(sent.createdAt) + 60_000,
    );
    await expectNewest(webhook, { id: sent.id, state: 'delivered' });
  });
});

describe('the delivery after a response with Retry-After', () => {
  it.each<[number, string]>([
    [429, 'seconds'],
    [503, 'seconds'],
    [429, 'a date'],
  ])(
    'waits as long, though its own wait is shorter, as all of the webhook do (%i, %s)',
    async (status, form) => {
      const end = new Date(Math.floor(admin.store.clock.now() / 1000) * 1000 + 2 * HOUR_MS);
      const retryAfter = form === 'seconds' ? '7200' : end.toUTCString();
      receiver.respond = respondWith(status, { 'Retry-After': retryAfter });
      const webhook = await createWebhook();
      const { id } = await sendEvent(webhook);
      const { nextAttemptAt, lastAttemptAt } = await expectNewest(webhook, { id, responseStatus: status });
      const waitMs = Date.parse(nextAttemptAt ?? '') - Date.parse(lastAttemptAt ?? '');
      expect(Math.abs(waitMs - 2 * HOUR_MS)).toBeLessThan(30_000);
      receiver.reset();
      const later = await sendEvent(webhook);
      expect(Date.parse(later.nextAttemptAt ?? '')).toBeGreaterThanOrEqual(Date.parse(nextAttemptAt ?? ''));
      const deliverer = admin.store.app.get(WebhookDeliverer);
      deliverer.runNow();
      await deliverer['running'];
      expect((await findWebhook(webhook)).nextAttemptAt).toBe(nextAttemptAt);
      expect(receiver.received).toStrictEqual([]);
      admin.store.clock.travel(2 * HOUR_MS + 1000);
      await expectDeliveredTwice(webhook);
      admin.store.clock.travel(-2 * HOUR_MS - 1000);
    },
  );

  it('waits as long, though the response to a test event asks for less meanwhile', async () => {
    receiver.respond = respondWith(429, { 'Retry-After': '7200' });
    const webhook = await createWebhook();
    await sendEvent(webhook);
    const { nextAttemptAt } = await expectNewest(webhook, { state: 'pending', responseStatus: 429 });
    receiver.respond = respondWith(429, { 'Retry-After': '60' });
    await admin.send(`POST /admin/webhooks/${webhook.id}/test`);
    await expectNewest(webhook, { state: 'failed', responseStatus: 429 });
    await endOfAttempts(webhook);
    expect((await sendEvent(webhook)).nextAttemptAt).toBe(nextAttemptAt);
  });

  it('is at most three days after the first attempt', async () => {
    receiver.respond = respondWith(429, { 'Retry-After': '9999999' });
    const webhook = await createWebhook();
    await sendEvent(webhook);
    const { nextAttemptAt, lastAttemptAt } = await expectNewest(webhook, { responseStatus: 429 });
    const waitMs = Date.parse(nextAttemptAt ?? '') - Date.parse(lastAttemptAt ?? '');
    expect(Math.abs(waitMs - 3 * DAY_MS)).toBeLessThan(10);
  });

  it('waits as planned if that is shorter, of another status, or of another URL', async () => {
    receiver.respond = respondWith(500, { 'Retry-After': '7200' });
    const webhook = await createWebhook();
    await sendEvent(webhook);
    const first = await expectNewest(webhook, { attempts: 1, responseStatus: 500 });
    expect(Date.parse(first.nextAttemptAt ?? '')).toBeLessThanOrEqual(
      Date.parse(first.lastAttemptAt ?? '') + 20_000,
    );
    receiver.respond = respondWith(503, { 'Retry-After': '1' });
    await endWaits();
    const second = await expectNewest(webhook, { attempts: 2, responseStatus: 503 });
    expect(Date.parse(second.nextAttemptAt ?? '')).toBeGreaterThanOrEqual(
      Date.parse(second.lastAttemptAt ?? '') + 48_000,
    );
    receiver.respond = respondWith(429, { 'Retry-After': '7200' });
    await admin.store.database.query('UPDATE webhooks SET retry_after_at = NULL');
    await endWaits();
    await expectNewest(webhook, { attempts: 3, responseStatus: 429 });
    receiver.reset();
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { url: `${receiver.url}/other` });
    await endWaits();
    await expectNewest(webhook, { state: 'delivered', attempts: 4 });
  });
});

describe('a webhook that the service pauses', () => {
  /** Returns what the audit has of pauses, and the events of them that another webhook receives. */
  async function pausesOf(webhook: { id: string }, other: { id: string }) {
    const audited = await admin.store.database.query(
      "SELECT actor, before, after FROM audit_events WHERE subject = $1 AND action = 'webhook.paused'",
      [`webhook:${webhook.id}`],
    );
    const events = (await listDeliveries(other)).map(({ payload }) => payload);
    return { audited, events };
  }

  it('is paused at once when its receiver responds 410, and said to be gone', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    receiver.respond = (response, { path }) => response.writeHead(path === '/hook' ? 410 : 204).end();
    const [webhook, other] = [
      await createWebhook(receiver.url, ['key.revoked', 'webhook.paused']),
      await createWebhook(`${receiver.url}/other`, ['webhook.paused']),
    ];
    const { id } = await sendEvent(webhook);
    const paused = await eventually(async () => {
      const found = await findWebhook(webhook);
      expect(found).toMatchObject({ paused: true, pauseReason: 'gone', nextAttemptAt: null });
      return found;
    });
    expect(paused.lastDelivery).toMatchObject({ id, responseStatus: 410 });
    const data = { webhookId: webhook.id, pausedAt: paused.pausedAt, pauseReason: 'gone' };
    await eventually(async () =>
      expect(await pausesOf(webhook, other)).toEqual({
        audited: [
          { actor: 'service', before: { paused: false }, after: { paused: true, pauseReason: 'gone' } },
        ],
        events: [{ type: 'webhook.paused', timestamp: expect.any(String), data }],
      }),
    );
    await eventually(async () =>
      expect(warn.mock.calls).toEqual([
        [`The webhook ${webhook.id} is paused, because its receiver responded 410.`],
      ]),
    );
    warn.mockRestore();
    receiver.reset();
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { paused: false });
    await endWaits();
    await eventually(async () =>
      expect(await findWebhook(webhook)).toMatchObject({
        paused: false,
        pauseReason: null,
        lastDelivery: { id, state: 'delivered', responseStatus: 204 },
      }),
    );
  });

  it('is paused by a test event that gets 410', async () => {
    receiver.respond = respondWith(410);
    const webhook = await createWebhook();
    await admin.send(`POST /admin/webhooks/${webhook.id}/test`);
    await eventually(async () => expect(await findWebhook(webhook)).toMatchObject({ pauseReason: 'gone' }));
  });

  it('is paused once none of its deliveries has succeeded for three days', async () => {
    receiver.respond = respondWith(500);
    const webhook = await createWebhook();
    const other = await createWebhook('http://127.0.0.1:1/', ['webhook.paused']);
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', attempts: 1, responseStatus: 500 });
    await beginAgo(THREE_DAYS);
    await endWaits();
    await expectNewest(webhook, { state: 'failed', attempts: 2 });
    await eventually(async () =>
      expect(await findWebhook(webhook)).toMatchObject({ pauseReason: 'failing' }),
    );
    const reason = { paused: true, pauseReason: 'failing' };
    expect((await pausesOf(webhook, other)).audited).toMatchObject([{ actor: 'service', after: reason }]);
    expect((await pausesOf(webhook, other)).events).toMatchObject([{ data: { webhookId: webhook.id } }]);
  });

  it('is not paused if another delivery succeeded meanwhile', async () => {
    receiver.respond = respondWith(500);
    const webhook = await createWebhook();
    const { id } = await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', attempts: 1, responseStatus: 500 });
    receiver.reset();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'delivered' });
    receiver.respond = respondWith(500);
    await beginAgo(THREE_DAYS);
    await endWaits();
    await eventually(async () =>
      expect(await findWebhook(webhook)).toMatchObject({ lastDelivery: { id, state: 'failed' } }),
    );
    await endOfAttempts(webhook);
    expect((await findWebhook(webhook)).paused).toBe(false);
  });

  it('is not paused if a delivery that is sent again since succeeded meanwhile', async () => {
    receiver.respond = respondWith(500);
    const webhook = await createWebhook();
    const { id } = await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', attempts: 1, responseStatus: 500 });
    receiver.reset();
    const served = await sendEvent(webhook);
    await expectNewest(webhook, { state: 'delivered' });
    receiver.respond = respondWith(500);
    await admin.send(`POST /admin/webhooks/${webhook.id}/deliveries/${served.id}/resend`);
    await expectNewest(webhook, { state: 'pending', attempts: 1, responseStatus: 500 });
    await beginAgo(THREE_DAYS, id);
    await endWaits();
    const path = `GET /admin/webhooks/${webhook.id}/deliveries/${id}`;
    await eventually(async () => expect((await admin.send(path)).json).toMatchObject({ state: 'failed' }));
    await endOfAttempts(webhook);
    expect((await findWebhook(webhook)).paused).toBe(false);
  });

  it('gets its pending deliveries for three days more once it is resumed', async () => {
    receiver.respond = respondWith(500);
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', attempts: 1, responseStatus: 500 });
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { paused: true });
    await beginAgo('8 days');
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { paused: false });
    await endWaits();
    await expectNewest(webhook, { state: 'pending', attempts: 2, responseStatus: 500 });
    expect((await findWebhook(webhook)).paused).toBe(false);
  });

  it('is not paused if its URL was changed during the attempt', async () => {
    const responses: ServerResponse[] = [];
    receiver.respond = (response) => void responses.push(response);
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await until(() => responses.length === 1);
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { url: `${receiver.url}/new` });
    responses[0]?.writeHead(410).end();
    await expectNewest(webhook, { attempts: 1, responseStatus: 410 });
    await endOfAttempts(webhook);
    expect((await findWebhook(webhook)).paused).toBe(false);
  });
});

describe('an attempt of an earlier release', () => {
  const attempt = (set: string) =>
    admin.store.database.query(`UPDATE webhook_deliveries SET ${set} RETURNING first_attempt_at, state`);

  beforeEach(async () => {
    await insertDeliveries(admin.store.database, 'http://127.0.0.1:1/', 1);
    await admin.store.database.query("UPDATE webhooks SET paused_at = now(), pause_reason = 'gone'");
    await attempt("state = 'pending', attempts = 0, last_failure = NULL, first_attempt_at = NULL");
  });

  it('begins the three days of a delivery that is sent first, or again', async () => {
    const [first] = await attempt("attempts = 1, last_attempt_at = '2027-01-01'");
    expect(first?.['first_attempt_at']).toEqual(new Date('2027-01-01'));
    const [second] = await attempt("attempts = 2, last_attempt_at = '2027-01-02'");
    expect(second?.['first_attempt_at']).toEqual(new Date('2027-01-01'));
    await attempt('attempts = 0');
    const [again] = await attempt("attempts = 1, last_attempt_at = '2027-02-01'");
    expect(again?.['first_attempt_at']).toEqual(new Date('2027-02-01'));
  });

  it('has three more days once that release resumes its webhook', async () => {
    await attempt("attempts = 3, first_attempt_at = now() - interval '3 days'");
    await admin.store.database.query('UPDATE webhooks SET paused_at = NULL, pause_reason = NULL');
    expect(await admin.store.database.query('SELECT first_attempt_at FROM webhook_deliveries')).toEqual([
      { first_attempt_at: null },
    ]);
  });

  it('is the only one of a test event', async () => {
    await attempt("event_type = 'webhook.test', attempts = 1, last_attempt_at = now()");
    expect(await attempt("last_failure = 'The response was 500'")).toMatchObject([{ state: 'failed' }]);
    expect(await attempt("state = 'pending', attempts = 0")).toMatchObject([{ state: 'pending' }]);
  });

  it('keeps when it succeeded, even if the delivery is sent again', async () => {
    await attempt("attempts = 1, last_attempt_at = '2027-01-01'");
    await attempt("state = 'delivered', last_failure = NULL");
    await attempt("state = 'pending', attempts = 0");
    await attempt("attempts = 1, last_attempt_at = '2027-01-02'");
    await attempt("state = 'failed', last_failure = 'The response was 500'");
    expect(await admin.store.database.query('SELECT last_succeeded_at FROM webhook_deliveries')).toEqual([
      { last_succeeded_at: new Date('2027-01-01') },
    ]);
  });

  it('leaves a delivery of any other event pending', async () => {
    await attempt('attempts = 1, last_attempt_at = now()');
    expect(await attempt("last_failure = 'The response was 500'")).toMatchObject([{ state: 'pending' }]);
  });
});

describe('the deliveries of a webhook that its list shows', () => {
  it('are the last whose attempt ended, and when the next is sent', async () => {
    const webhook = await createWebhook();
    expect(await findWebhook(webhook)).toMatchObject({ lastDelivery: null, nextAttemptAt: null });
    await sendEvent(webhook);
    const { id, lastAttemptAt } = await expectNewest(webhook, { state: 'delivered' });
    const succeeded = {
      id,
      eventType: 'key.revoked',
      state: 'delivered',
      attempts: 1,
      lastAttemptAt,
      nextAttemptAt: null,
      lastFailure: null,
      responseStatus: 204,
    };
    expect(await findWebhook(webhook)).toMatchObject({ lastDelivery: succeeded, nextAttemptAt: null });
    receiver.respond = respondWith(500);
    await sendEvent(webhook);
    const failed = await expectNewest(webhook, { state: 'pending', responseStatus: 500 });
    const { eventId: _id, payload: _payload, createdAt: _at, responseBody: _body, ...shown } = failed;
    const { json } = await admin.send('GET /admin/webhooks');
    expect(json).toMatchObject([{ lastDelivery: shown, nextAttemptAt: failed.nextAttemptAt }]);
    expect(Object.keys(json[0].lastDelivery).toSorted()).toEqual(Object.keys(shown).toSorted());
  });

  it('are counted as failing while they are pending after a failure, though others succeed', async () => {
    const webhook = await createWebhook();
    expect(await findWebhook(webhook)).toMatchObject({ failingDeliveryCount: 0 });
    receiver.respond = respondWith(500);
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', responseStatus: 500 });
    receiver.respond = respondWith(204);
    const { id } = (await admin.send(`POST /admin/webhooks/${webhook.id}/test`)).json as Delivery;
    await expectNewest(webhook, { id, state: 'delivered' });
    expect(await findWebhook(webhook)).toMatchObject({
      lastDelivery: { id, state: 'delivered' },
      failingDeliveryCount: 1,
    });
    await endWaits();
    await eventually(async () => {
      await sendDue(webhook);
      expect(await findWebhook(webhook)).toMatchObject({ failingDeliveryCount: 0 });
    });
  });
});

describe('a paused webhook', () => {
  const pause = async ({ id }: { id: string }, paused: boolean) =>
    expect((await admin.send(`PATCH /admin/webhooks/${id}`, { paused })).status).toBe(200);

  it('is sent what was pending once it is resumed, but nothing that happened meanwhile', async () => {
    receiver.respond = respondWith(503);
    const [webhook, other] = [await createWebhook(), await createWebhook(`${receiver.url}/other`)];
    const pending = await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', responseStatus: 503 });
    await expectNewest(other, { state: 'pending', responseStatus: 503 });
    await pause(webhook, true);
    receiver.reset();
    await endWaits();
    expect(await listDeliveries(webhook)).toMatchObject([{ state: 'pending', nextAttemptAt: null }]);
    await sendEvent(other);
    await expectDeliveredTwice(other);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook/other', '/hook/other']);
    await pause(webhook, false);
    await expectNewest(webhook, { id: pending.id, state: 'delivered', attempts: 2 });
    expect(await listDeliveries(webhook)).toHaveLength(1);
  });

  it('has no next attempt of a delivery that is to be sent again', async () => {
    const webhook = await createWebhook();
    const { id } = await sendEvent(webhook);
    await expectNewest(webhook, { id, state: 'delivered' });
    await pause(webhook, true);
    const { json } = await admin.send(`POST /admin/webhooks/${webhook.id}/deliveries/${id}/resend`);
    expect(json).toMatchObject({ id, state: 'pending', nextAttemptAt: null });
  });

  it('is not sent what is pending because its URL changes', async () => {
    receiver.respond = respondWith(500);
    const webhook = await createWebhook();
    await sendEvent(webhook);
    await expectNewest(webhook, { state: 'pending', responseStatus: 500 });
    await pause(webhook, true);
    const due = 'SELECT next_attempt_at FROM webhook_deliveries';
    const planned = await admin.store.database.query(due);
    await admin.send(`PATCH /admin/webhooks/${webhook.id}`, { url: `${receiver.url}/new` });
    expect(await admin.store.database.query(due)).toEqual(planned);
  });
});

describe('a repaired webhook', () => {
  const CHANGES: [string, () => object[]][] = [
    ['it is resumed', () => [{ paused: true }, { paused: false }]],
    ['it has a new URL', () => [{ url: `${receiver.url}/new` }]],
  ];
  const change = async ({ id }: { id: string }, changes: () => object[]) => {
    for (const each of changes()) {
      expect((await admin.send(`PATCH /admin/webhooks/${id}`, each)).status).toBe(200);
    }
  };

  beforeEach(() => {
    receiver.respond = respondWith(503, { 'Retry-After': '7200' });
  });
  afterEach(() => admin.store.clock.returnToPresent());

  it.each(CHANGES)(
    'is sent at once what is pending when %s, whatever it waits for',
    async (_when, changes) => {
      const webhook = await createWebhook();
      const { id } = await sendEvent(webhook);
      await expectNewest(webhook, { state: 'pending', responseStatus: 503 });
      receiver.reset();
      admin.store.clock.travel(20_000);
      await change(webhook, changes);
      await expectNewest(webhook, { id, state: 'delivered', attempts: 2 });
    },
  );

  it.each(CHANGES)(
    'is sent what may be in flight when %s as soon as that has ended, and not twice at once',
    async (_when, changes) => {
      const webhook = await createWebhook();
      await sendEvent(webhook);
      const { lastAttemptAt } = await expectNewest(webhook, { state: 'pending', responseStatus: 503 });
      await change(webhook, changes);
      const [{ nextAttemptAt } = { nextAttemptAt: null }] = await listDeliveries(webhook);
      expect(Date.parse(nextAttemptAt ?? '') - Date.parse(lastAttemptAt ?? '')).toBe(16_000);
    },
  );
});

describe('a service with nothing to deliver', () => {
  it('sets no deadline', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const run = jest.spyOn(admin.store.app.get(PrismaService).sql, 'query');
    await until(() => run.mock.calls.filter(([{ name }]) => name === 'claim-deliveries').length >= 2);
    // A deadline is 15 s after the claim, and its timer a second later.
    const deadlines = timers.mock.calls.filter(([, ms = 0]) => ms >= 14_000 && ms <= 16_000);
    expect(deadlines).toStrictEqual([]);
    jest.restoreAllMocks();
  });
});

describe('a delivery by a service without WEBHOOK_ALLOW_PRIVATE_ADDRESSES', () => {
  const store = useApplication();
  const HOSTS = ['localhost', '127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0'];

  /** Returns the failure of the first attempt to deliver to a host. */
  async function findFailure(host: string): Promise<string> {
    const { database } = store;
    await insertDeliveries(database, `http://${host}:${receiver.port}/hook`, 1);
    let failure: string | null | undefined;
    await until(async () => {
      store.app.get(WebhookDeliverer).runNow();
      const [row] = await database.query<{ failure: string | null }>(
        'SELECT last_failure AS failure FROM webhook_deliveries',
      );
      failure = row?.failure;
      return typeof failure === 'string';
    });
    await database.query('DELETE FROM webhooks');
    return failure ?? '';
  }

  it('fails with the reason when the name of the receiver does not exist', async () => {
    expect(await findFailure('webhooks.invalid')).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  it.each(HOSTS)('connects to no address that is not public, however the URL names it: %s', async (host) => {
    expect(await findFailure(host)).toContain('has the private address');
    expect(receiver.received).toStrictEqual([]);
  });
});
