import type { AuditEvent } from '../../src/audit/audit.schemas.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { hold } from '../support/database/holding.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { useAdministration } from '../support/keys/administration.js';
import { addKeys, UNLIMITED } from '../support/keys/keys.js';
import { recordUsage } from '../support/keys/usage.js';
import { useApplication } from '../support/service/application.js';
import { DAY_MS } from '../support/time/clock.js';

const WEEK_SECONDS = 7 * 86_400;

type Keyed = Pick<IssuedKey, 'id' | 'key'>;

const admin = useAdministration();
const replica = useApplication(() => ({ database: admin.store.database, clock: admin.store.clock }));

const query = (text: string, values?: unknown[]) => admin.store.database.query(text, values);
const rotate = ({ key }: Keyed, body: object = {}, { url } = admin.store) =>
  send(`${url}/v1/key/rotate`, { method: 'POST', key, body });
const rotateAsAdmin = ({ id }: Keyed, body: object = {}) => admin.send(`POST /admin/keys/${id}/rotate`, body);
const statusOf = async ({ key }: Keyed, { url } = admin.store) =>
  (await send(`${url}/v1/pets`, { key })).status;
const find = async ({ id }: Keyed) => (await admin.send(`GET /admin/keys/${id}`)).json;
const issue = (input = {}) => admin.issue({ ...UNLIMITED, ...input });
const listEvents = async ({ id }: Keyed): Promise<AuditEvent[]> =>
  (await admin.send(`GET /admin/audit?keyId=${id}`)).json;

function expectRotatedAlready(response: HttpResponse, { id }: { id: string }): void {
  expectError(response, 409, 'conflict', `The key was rotated already. Rotate its successor ${id}.`);
}

/** Rotates a key, as if the response was lost. */
async function rotateLosing(key: Keyed, body: object = {}): Promise<IssuedKey> {
  const { status, json } = await rotate(key, body);
  expect(status).toBe(201);
  return json;
}

describe('a rotation whose response was lost', () => {
  it('is repeated by the holder, and replaces the successor, which was never used', async () => {
    const expiresAt = new Date(admin.store.clock.now() + 30 * DAY_MS).toISOString();
    const key = await issue({ name: 'Shop', note: 'Ann', scopes: ['pets:read'], expiresAt });
    const lost = await rotateLosing(key, { overlapSeconds: 3600 });
    await admin.send(`PATCH /admin/keys/${lost.id}`, { name: "Ann's shop" });
    const repeated = await rotate(key, { overlapSeconds: WEEK_SECONDS });
    expect(repeated.status).toBe(201);
    // The end of the overlap is not postponed.
    expect(repeated.json.overlapEndsAt).toBe((await find(key)).expiresAt);
    expect(await find(repeated.json)).toMatchObject({
      name: "Ann's shop",
      note: 'Ann',
      scopes: ['pets:read'],
      state: 'active',
      expiresAt,
      predecessorId: key.id,
    });
    expect(await find(lost)).toMatchObject({ state: 'revoked', predecessorId: null });
    expect(await find(key)).toMatchObject({ state: 'rotating', successorId: repeated.json.id });
    expect(await Promise.all([key, lost, repeated.json].map((each) => statusOf(each)))).toEqual([
      200, 401, 200,
    ]);
    const [rotated, first] = (await listEvents(key)).filter(({ action }) => action === 'key.rotated');
    expect([first?.before?.['successorId'], first?.after['successorId']]).toEqual([null, lost.id]);
    expect([rotated?.before?.['successorId'], rotated?.after['successorId']]).toEqual([
      lost.id,
      repeated.json.id,
    ]);
    expect((await listEvents(lost))[0]).toMatchObject({ action: 'key.revoked', actor: { id: key.id } });
  });

  it('is repeated by an administrator, by other values, and without an overlap', async () => {
    const key = await issue();
    const lost = await rotateLosing(key);
    const expiresAt = new Date(admin.store.clock.now() + 60_000).toISOString();
    const repeated = await rotateAsAdmin(key, { overlapSeconds: 0, expiresAt });
    expect(repeated.status).toBe(201);
    expect(repeated.json).toMatchObject({ state: 'active', expiresAt, predecessorId: key.id });
    expect([(await find(key)).state, (await find(lost)).state]).toEqual(['expired', 'revoked']);
    expectError(await rotateAsAdmin(key), 409, 'conflict', expect.stringMatching(/^The key is expired, so/));
  });

  it('queues another event for the webhooks', async () => {
    const webhook = { url: 'https://example.com/', events: ['key.rotated', 'key.revoked'] };
    const { json } = await admin.send('POST /admin/webhooks', webhook);
    const key = await issue();
    const lost = await rotateLosing(key);
    const { id } = await rotateLosing(key);
    const deliveries = (await admin.send(`GET /admin/webhooks/${json.id}/deliveries`)).json;
    const facts = deliveries.map(
      ({ payload: { type, data } }: { payload: { type: string; data: object } }) => ({
        type,
        ...data,
      }),
    );
    expect(facts).toMatchObject([
      { type: 'key.rotated', keyId: key.id, successorId: id },
      { type: 'key.revoked', keyId: lost.id },
      { type: 'key.rotated', keyId: key.id, successorId: lost.id },
    ]);
    await admin.send(`DELETE /admin/webhooks/${json.id}`);
  });

  it('needs no room in a full quota, because the successor takes that of the replaced one', async () => {
    const key = await issue();
    await rotateLosing(key);
    await addKeys(admin.store.database, key.quotaId, 18);
    expect((await rotate(key)).status).toBe(201);
    expect((await rotateAsAdmin(key)).status).toBe(201);
  });

  it('cannot be repeated by the holder while its successor is suspended', async () => {
    const key = await issue();
    const lost = await rotateLosing(key);
    await admin.send(`PATCH /admin/keys/${lost.id}`, { suspended: true });
    expectError(
      await rotate(key),
      409,
      'conflict',
      'The successor of the key is suspended, so only an administrator can rotate it.',
    );
    expect((await find(lost)).state).toBe('suspended');
    expect((await rotateAsAdmin(key)).status).toBe(201);
  });

  it('counts as one of the five rotations of the day', async () => {
    const key = await issue();
    for (let rotation = 0; rotation < 5; rotation += 1) {
      await rotateLosing(key);
    }
    expectError(
      await rotate(key),
      409,
      'conflict',
      expect.stringMatching(/^The key was rotated 5 times today/),
    );
    expect((await rotateAsAdmin(key)).status).toBe(201);
  });

  it('leaves the new successor valid when the replaced one is reported as leaked', async () => {
    const key = await issue();
    const lost = await rotateLosing(key);
    const { id, key: text } = await rotateLosing(key);
    const next = await rotateLosing({ id, key: text });
    expect((await admin.send('POST /admin/keys/revoke', { key: lost.key })).status).toBe(200);
    expect([(await find({ id, key: text })).state, (await find(next)).state]).toEqual(['rotating', 'active']);
  });
});

describe('a successor that was used', () => {
  it('is not replaced, whichever replica served it, and however recently', async () => {
    const key = await issue();
    const successor = await rotateLosing(key);
    expect(await statusOf(successor, replica)).toBe(200);
    // So that a thief of the old key cannot end the key that its holder uses.
    expectRotatedAlready(await rotate(key), successor);
    expectRotatedAlready(await rotateAsAdmin(key), successor);
    expect(await statusOf(successor)).toBe(200);
  });

  it('is not replaced if a request with it was denied', async () => {
    const key = await issue({ scopes: [] });
    const successor = await rotateLosing(key);
    expect(await statusOf(successor)).toBe(403);
    expectRotatedAlready(await rotate(key), successor);
  });

  it('is not replaced if it was rotated or revoked', async () => {
    const key = await issue();
    const successor = await rotateLosing(key);
    await rotateAsAdmin(successor);
    expectRotatedAlready(await rotate(key), successor);
    await admin.send(`POST /admin/keys/${successor.id}/revoke`);
    const message = `Its successor ${successor.id} was revoked. Issue a new one.`;
    expectError(await rotate(key), 409, 'conflict', `The key was rotated already. ${message}`);
  });

  it('is not replaced, but served, if its first use cannot be recorded', async () => {
    const key = await issue();
    const successor = await rotateLosing(key);
    await query(
      `CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql
         AS $$ BEGIN RAISE 'read-only'; END $$;
       CREATE TRIGGER reject BEFORE UPDATE OF first_used_at ON api_keys EXECUTE FUNCTION reject()`,
    );
    expect(await statusOf(successor)).toBe(200);
    await query('DROP FUNCTION reject CASCADE');
    await recordUsage(admin.store);
    expect(await query('SELECT first_used_at FROM api_keys WHERE id = $1', [successor.id])).toEqual([
      { first_used_at: null },
    ]);
    expectRotatedAlready(await rotate(key), successor);
    // Once it is aggregated, too.
    await find(successor);
    expectRotatedAlready(await rotate(key), successor);
  });

  it('is recorded even if the first try ends in a deadlock', async () => {
    const successor = await rotateLosing(await issue());
    // A rollback does not undo `nextval`.
    await query(
      `CREATE SEQUENCE tries;
       CREATE FUNCTION deadlock_once() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
           IF nextval('tries') = 1 THEN RAISE 'deadlock' USING ERRCODE = 'deadlock_detected'; END IF;
           RETURN NEW;
         END $$;
       CREATE TRIGGER deadlock_once BEFORE UPDATE OF first_used_at ON api_keys
         FOR EACH ROW EXECUTE FUNCTION deadlock_once()`,
    );
    try {
      expect(await statusOf(successor)).toBe(200);
    } finally {
      await query('DROP FUNCTION deadlock_once CASCADE; DROP SEQUENCE tries');
    }
    expect(await query('SELECT first_used_at FROM api_keys WHERE id = $1', [successor.id])).toEqual([
      { first_used_at: expect.any(Date) },
    ]);
  });

  it('is recorded once, and only while it could be replaced', async () => {
    const key = await issue();
    const successor = await rotateLosing(key, { overlapSeconds: 3600 });
    const read = async () =>
      (await query('SELECT first_used_at FROM api_keys WHERE id = $1', [successor.id]))[0]?.['first_used_at'];
    await statusOf(successor);
    const first = await read();
    expect(first).toBeInstanceOf(Date);
    admin.store.clock.travel(60_000);
    await statusOf(successor);
    expect(await read()).toEqual(first);
    const next = await rotateLosing(successor, { overlapSeconds: 3600 });
    admin.store.clock.travel(3_600_000);
    await statusOf(next);
    expect(await query('SELECT first_used_at FROM api_keys WHERE id = $1', [next.id])).toEqual([
      { first_used_at: null },
    ]);
  });
});

describe('rotations at the same time', () => {
  const statusesOf = (responses: HttpResponse[]) =>
    responses.map(({ status }) => status).toSorted((one, other) => one - other);

  it.each([
    ['the first', false],
    ['a repeated', true],
  ])('make one successor of %s rotation, and tell the other request so', async (_which, isRepeated) => {
    const key = await issue();
    const lost = isRepeated ? await rotateLosing(key) : null;
    const lock = await hold(
      admin.store.database.url,
      `SELECT FROM quotas WHERE id = '${key.quotaId}' FOR NO KEY UPDATE`,
    );
    const responses = [rotate(key), rotate(key, {}, replica)];
    await eventually(() => expectLocksWaitedFor(admin.store.database, 2));
    await lock.letGo();
    const all = await Promise.all(responses);
    expect(statusesOf(all)).toEqual([201, 409]);
    const { successorId } = await find(key);
    expect(all.find(({ status }) => status === 201)?.json.id).toBe(successorId);
    expectRotatedAlready(
      all.find(({ status }) => status === 409)!,
      { id: successorId },
    );
    expect(lost && (await find(lost)).state).toBe(isRepeated ? 'revoked' : null);
  });

  it('replace a successor, or serve its first request, but never both', async () => {
    for (const isUsedFirst of [true, false]) {
      const key = await issue();
      const successor = await rotateLosing(key);
      const lock = await hold(
        admin.store.database.url,
        `SELECT FROM api_keys WHERE id = '${successor.id}' FOR NO KEY UPDATE`,
      );
      const begin = [() => statusOf(successor, replica), async () => (await rotate(key)).status];
      const first = (isUsedFirst ? begin[0] : begin[1])!();
      await eventually(() => expectLocksWaitedFor(admin.store.database, 1));
      const second = (isUsedFirst ? begin[1] : begin[0])!();
      await eventually(() => expectLocksWaitedFor(admin.store.database, 2));
      await lock.letGo();
      const [used, rotated] = isUsedFirst ? [await first, await second] : [await second, await first];
      expect([
        [200, 409],
        [401, 201],
      ]).toContainEqual([used, rotated]);
    }
  });
});
