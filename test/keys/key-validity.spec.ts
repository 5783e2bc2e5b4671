import { SERVICE } from '../../src/audit/audit.js';
import {
  findInvalidity,
  findKeyEnd,
  isLiveAt,
  isValidAt,
  keyState,
  stateAt,
  wasLiveAt,
  whereLive,
  whereValid,
} from '../../src/auth/key-validity.js';
import { seedAdministrator } from '../../src/cli/seed.command.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { KeyService } from '../../src/keys/key.service.js';
import { WebhookEventWatch } from '../../src/webhooks/event-watch.js';
import { expectError } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { startApplication, type TestApplication, useApplication } from '../support/service/application.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, WrongClock } from '../support/time/clock.js';

const store = useApplication();

describe('the rule of when a key is valid', () => {
  it('is the same in TypeScript, Prisma, SQL, the events and the guard', async () => {
    const nowMs = store.clock.now();
    const times = { none: null, past: new Date(nowMs - HOUR_MS), future: new Date(nowMs + HOUR_MS) };
    const { app, database } = store;
    const prisma = app.get(PrismaService);
    const kinds = Object.values(times).flatMap((revokedAt) =>
      Object.values(times).flatMap((expiresAt) =>
        [false, true].flatMap((isRotated) =>
          [null, times.past].map((suspendedAt) => ({ revokedAt, expiresAt, isRotated, suspendedAt })),
        ),
      ),
    );
    const keys = await Promise.all(
      kinds.map(async (kind) => {
        const { id, key } = await store.issue(UNLIMITED);
        if (kind.isRotated) {
          await app.get(KeyService).rotate(id, {}, SERVICE);
        }
        await database.query(
          'UPDATE api_keys SET revoked_at = $2, expires_at = $3, suspended_at = $4 WHERE id = $1',
          [id, kind.revokedAt, kind.expiresAt, kind.suspendedAt],
        );
        return { ...kind, id, key, successor: kind.isRotated ? {} : null };
      }),
    );
    const rows = await prisma.$queryRaw<Record<string, unknown>[]>`
      SELECT id, ${isValidAt(nowMs)} AS valid, ${isLiveAt(nowMs)} AS live, ${stateAt(nowMs)} AS state,
        ${wasLiveAt(times.past.toISOString())} AS was FROM api_keys k`;
    const select = { id: true };
    const validByPrisma = await prisma.apiKey.findMany({ where: whereValid(nowMs), select });
    const liveByPrisma = await prisma.apiKey.findMany({ where: whereLive(nowMs), select });
    const [validIds, liveIds] = [validByPrisma, liveByPrisma].map((found) => found.map(({ id }) => id));
    await database.query(
      `INSERT INTO webhooks (id, url, events, secret)
       VALUES (gen_random_uuid(), 'http://127.0.0.1:9', '{*}', 'x')`,
    );
    await database.query('DELETE FROM webhook_deliveries');
    await app.get(WebhookEventWatch).findEvents();
    const events = await database.query<{ id: string }>(
      `SELECT payload->'data'->>'keyId' AS id FROM webhook_deliveries WHERE event_type = 'key.expiring'`,
    );
    for (const { id, key, revokedAt, suspendedAt, expiresAt, successor } of keys) {
      const isLive = findKeyEnd(revokedAt !== null, expiresAt, nowMs) === null;
      const isValid = findInvalidity(revokedAt !== null, suspendedAt !== null, expiresAt, nowMs) === null;
      const state = keyState({ revokedAt, suspendedAt, expiresAt, successor }, nowMs);
      const isAfterPast = (time: Date | null) => time === null || time > times.past;
      const was = isAfterPast(revokedAt) && isAfterPast(expiresAt);
      expect(rows).toContainEqual({ id, valid: isValid, live: isLive, state, was });
      expect([validIds!.includes(id), liveIds!.includes(id)]).toEqual([isValid, isLive]);
      expect(['active', 'rotating'].includes(state)).toBe(isValid);
      expect(['active', 'rotating', 'suspended'].includes(state)).toBe(isLive);
      // A suspended key expires all the same.
      const isExpiring = isLive && successor === null && expiresAt !== null;
      expect(events.some((event) => event.id === id)).toBe(isExpiring);
      const { status } = await send(`${store.url}/v1/pets`, { key });
      expect(status).toBe(isValid ? 200 : 401);
    }
  });
});

describe.each([
  ['ahead', 12 * HOUR_MS],
  ['behind', -12 * HOUR_MS],
])('a replica whose clock is 12 hours %s', (_direction, aheadMs) => {
  let replica: TestApplication;
  let admin: string;

  beforeAll(async () => {
    const clock = new WrongClock(aheadMs);
    replica = await startApplication({ clock, database: store.database });
    clock.returnToPresent();
    ({ key: admin } = await replica.issue({ ...UNLIMITED, role: 'admin' }));
  });
  afterAll(() => replica.close());

  const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
  const call = (path: string, method = 'GET', body?: object) =>
    send(`${replica.url}/admin${path}`, { key: admin, method, ...(body && { body }) });
  const expire = (id: string, hours: number) =>
    replica.database.query('UPDATE api_keys SET expires_at = $2 WHERE id = $1', [id, at(hours)]);

  it('issues and rotates keys until times that are in the future for the database alone', async () => {
    const { id } = await replica.issue(UNLIMITED);
    for (const path of ['/keys', `/keys/${id}/rotate`]) {
      const fields = path === '/keys' ? { name: 'Ann', plan: 'free' } : {};
      const past = await call(path, 'POST', { ...fields, expiresAt: at(-1) });
      expectError(past, 400, 'invalid_request', 'The request is invalid: expiresAt must be in the future.');
      expect((await call(path, 'POST', { ...fields, expiresAt: at(1) })).status).toBe(201);
    }
  });

  it('shows, lists and counts keys in the states that they have for the database', async () => {
    const { id: valid, quotaId } = await replica.issue(UNLIMITED);
    const { id: expired } = await replica.issue({ quotaId });
    await expire(valid, 1);
    await expire(expired, -1);
    for (const [id, state] of [
      [valid, 'active'],
      [expired, 'expired'],
    ]) {
      expect((await call(`/keys/${id}`)).json).toMatchObject({ state });
      const listed = await call(`/keys?quotaId=${quotaId}&state=${state}`);
      expect(listed.json).toEqual([expect.objectContaining({ id, state })]);
      expect((await call(`/keys/${id}`, 'PATCH', { note: 'seen' })).json).toMatchObject({ state });
    }
    const expiring = await call(`/keys?quotaId=${quotaId}&expiresBefore=${at(2)}`);
    expect(expiring.json).toEqual([expect.objectContaining({ id: valid })]);
    const sorted = await call(`/keys?quotaId=${quotaId}&sort=state`);
    expect(sorted.json.map(({ id }: { id: string }) => id)).toEqual([valid, expired]);
    expect((await call(`/quotas/${quotaId}`)).json).toMatchObject({ validKeyCount: 1 });
  });

  it('revokes a key at the time of the database', async () => {
    const { id } = await replica.issue(UNLIMITED);
    const { json } = await call(`/keys/${id}/revoke`, 'POST');
    expect(Math.abs(Date.parse(json.revokedAt) - Date.now())).toBeLessThan(MINUTE_MS);
  });

  it('seeds an administrator if there is none for the database', async () => {
    const seed = () =>
      replica.app.get(PrismaService).$transaction((transaction) => {
        const keys = replica.app.get(KeyService).within(transaction);
        const settings = { ADMIN_API_KEY: undefined, APP_ENV: 'staging' } as const;
        return seedAdministrator(transaction, keys, settings, SERVICE);
      });
    const setExpiry = (hours: number | null) =>
      replica.database.query("UPDATE api_keys SET expires_at = $1 WHERE role = 'admin'", [
        hours && at(hours),
      ]);
    await setExpiry(1);
    expect((await seed()).created).toBe(false);
    await setExpiry(-1);
    expect((await seed()).created).toBe(true);
    await setExpiry(null);
  });

  it('removes a deprecated operation at the time of the database', async () => {
    const removalMs = Date.parse('2030-12-05');
    const { key } = await replica.issue(UNLIMITED);
    const statusAt = async (ms: number) => {
      replica.clock.travelTo(new Date(ms));
      return (await send(`${replica.url}/v1/pets/1`, { key })).status;
    };
    expect(await statusAt(removalMs - HOUR_MS)).toBe(404);
    expect(await statusAt(removalMs + HOUR_MS)).toBe(410);
    expect(await statusAt(removalMs - DAY_MS)).toBe(404);
    replica.clock.returnToPresent();
  });
});
