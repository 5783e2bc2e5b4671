import { createHash } from 'node:crypto';
import { SERVICE } from '../../src/audit/audit.js';
import type { IssuedKey, Key } from '../../src/keys/key.schemas.js';
import { KeyService } from '../../src/keys/key.service.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../support/time/clock.js';
import { useAdministration } from '../support/keys/administration.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import { type HttpResponse, listedIds, send } from '../support/http/http.js';
import { remaining } from '../support/http/rate-limit-headers.js';
import { parseLinks } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { changingNothing } from '../support/database/stored-state.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';

const admin = useAdministration();
const { send: sendAsAdmin, issue } = admin;

afterEach(() => admin.store.clock.goOn());

const use = (key: string) => send(`${admin.store.url}/v1/pets`, { key });
const inFuture = (milliseconds: number) => new Date(admin.store.clock.now() + milliseconds);
/** An issued key as it is returned later: without the key itself. */
const shown = ({ key: _key, ...rest }: IssuedKey): Key => rest;
/** An issued key that was not used, as it is listed. */
const listed = (key: IssuedKey) => ({
  ...shown(key),
  lastUsedAt: null,
  recentUsage: unusedHours(admin.store.clock.now()),
});
/** The hours up to one, of a key that was not used. */
const unusedHours = (nowMs: number) =>
  Array.from({ length: 24 }, (_hour, index) => {
    const startsAtMs = (Math.floor(nowMs / HOUR_MS) - 23 + index) * HOUR_MS;
    return { startsAt: new Date(startsAtMs).toISOString(), requests: 0, denied: 0 };
  });
const find = async ({ id }: { id: string }): Promise<Key> =>
  (await sendAsAdmin(`GET /admin/keys/${id}`)).json;
const rotate = ({ id }: { id: string }, body?: unknown) => sendAsAdmin(`POST /admin/keys/${id}/rotate`, body);
const revoke = ({ id }: { id: string }) => sendAsAdmin(`POST /admin/keys/${id}/revoke`);
const update = ({ id }: { id: string }, body: unknown) => sendAsAdmin(`PATCH /admin/keys/${id}`, body);

const unchanged = (work: () => Promise<HttpResponse>) => changingNothing(admin.store.database, work);

const listAuditEvents = async ({ id, quotaId }: IssuedKey, action: string): Promise<unknown[]> =>
  (await sendAsAdmin(`GET /admin/audit?keyId=${id}&quotaId=${quotaId}&action=${action}`)).json;

const createPlan = (name: string) =>
  sendAsAdmin(`PUT /admin/plans/${name}`, { perMinute: 100, perDay: 1000 });

describe('POST /admin/keys', () => {
  it('returns 201 with the key, which is shown only this once, on the limits of its plan', async () => {
    const response = await sendAsAdmin('POST /admin/keys', { name: "Ann's shop", plan: 'pro' });
    expect(response.json).toEqual({
      id: expect.stringMatching(UUID),
      key: expect.stringMatching(/^ask_test_[0-9A-Za-z]{38}$/),
      name: "Ann's shop",
      note: null,
      role: 'client',
      scopes: null,
      allowedNetworks: null,
      state: 'active',
      prefix: 'ask_test_',
      lastFour: response.json.key.slice(-4),
      quotaId: expect.stringMatching(UUID),
      externalId: null,
      plan: 'pro',
      perMinute: 300,
      perDay: 10_000,
      limitsSource: 'plan',
      bannedUntil: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expiresAt: null,
      revokedAt: null,
      suspendedAt: null,
      predecessorId: null,
      successorId: null,
      issuerId: null,
      warnings: [],
    });
    expect(response.headers.get('location')).toBe(`/admin/keys/${response.json.id}`);
    expect(response.headers.get('cache-control')).toBe('no-store');

    const read = await sendAsAdmin(`GET ${response.headers.get('location')}`);
    expect([read.status, read.json]).toEqual([200, listed(response.json)]);
    const used = await use(response.json.key);
    expect([used.status, used.headers.get('x-ratelimit-limit'), remaining(used)]).toEqual([200, '300', 299]);
  });

  it('accepts own limits instead of those of the plan, up to the largest int32', async () => {
    for (const plan of ['enterprise', 'free']) {
      const limits = { plan, perMinute: 7, perDay: 2_147_483_647 };
      const own = await issue(limits);
      expect(own).toMatchObject({ ...limits, limitsSource: 'quota' });
      expect((await use(own.key)).headers.get('ratelimit-policy')).toBe(
        '"minute";q=7;w=60, "day";q=2147483647;w=86400',
      );
    }
  });

  it('accepts a date as an expiry, which is the end of that day in UTC', async () => {
    const key = await issue({ expiresAt: '2999-01-31' });
    expect(key.expiresAt).toBe('2999-01-31T23:59:59.999Z');
    const { json } = await rotate(key, { expiresAt: '2996-02-29' });
    expect(json.expiresAt).toBe('2996-02-29T23:59:59.999Z');
    const message =
      'must be a date such as 2027-01-31, or a date-time with its offset, such as 2027-01-01T00:00:00Z';
    for (const expiresAt of ['2999-02-29', '2999-13-01', '2999-1-31', '0000-01-01', '2999-01-31Z']) {
      const response = await sendAsAdmin('POST /admin/keys', { name: 'x', plan: 'free', expiresAt });
      expectInvalid(response, `expiresAt ${message}`);
    }
  });

  it('accepts a role, and an expiry at any offset', async () => {
    const expiresAt = inFuture(DAY_MS);
    const inTokyo = `${new Date(expiresAt.getTime() + 9 * HOUR_MS).toISOString().slice(0, -1)}+09:00`;
    const key = await issue({ role: 'admin', expiresAt: inTokyo });
    expect(key).toMatchObject({ role: 'admin', state: 'active', expiresAt: expiresAt.toISOString() });
    expect(await issue({ role: 'client' })).toMatchObject({ role: 'client', expiresAt: null });
  });

  it.each([
    ['a name of one character', { name: 'A' }],
    ['a name of 255 characters outside the basic plane', { name: '🐕'.repeat(255) }],
    ['a name with spaces around it, quotes and markup', { name: ` <b>"Ann's"</b> \\ ` }],
    ['a name with a character that only looks blank', { name: '\u200b' }],
    ['a note with quotes', { note: 'Calls at night: "ann@example.org"' }],
    ['a note of 1000 characters', { note: '🐕'.repeat(1000) }],
    ['the latest expiry', { expiresAt: '9999-12-31T23:59:59.999Z' }],
  ])('stores input as given: %s', async (_what, input) => {
    expect(await find(await issue(input))).toMatchObject(input);
  });

  it('ignores unknown fields: nobody can choose the key or its id', async () => {
    const chosen = {
      id: UNKNOWN_ID,
      key: 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBps',
      state: 'revoked',
      revokedAt: '2020-01-01T00:00:00Z',
      bannedUntil: '2999-01-01T00:00:00Z',
      predecessorId: UNKNOWN_ID,
    };
    const { status, json } = await sendAsAdmin(
      'POST /admin/keys',
      `{"name":"x","plan":"free","__proto__":{"role":"admin"},"":null,${JSON.stringify(chosen).slice(1)}`,
    );
    expect([status, json.role]).toEqual([201, 'client']);
    expect(Object.entries(chosen).filter(([name, value]) => json[name] === value)).toStrictEqual([]);
  });

  const input = (fields: Record<string, unknown>) => JSON.stringify({ name: 'x', plan: 'free', ...fields });

  it.each([
    [input({ name: ' ' }), 'name must not be blank'],
    [input({ name: '🐕'.repeat(256) }), 'name must have at most 255 characters'],
    [input({ note: 'x'.repeat(1001) }), 'note must have at most 1000 characters'],
    ...['\n', '\t', '\u001b[31m', '\u007f', '\u0085', '\u202E'].map((control) => [
      input({ name: `a${control}b`, note: `a${control}b` }),
      'name must be text without control characters; note must be text without control characters',
    ]),
    [input({ expiresAt: '2020-01-01T00:00:00Z' }), 'expiresAt must be in the future'],
    [
      '{"name":7,"perDay":5}',
      'name must be a string; plan is required without quotaId; perMinute is required with perDay',
    ],
  ])('returns 400 that names every fault, and issues nothing: %s', async (body, faults) => {
    expectInvalid(await unchanged(() => sendAsAdmin('POST /admin/keys', body)), faults);
  });

  it('returns 400 for an expiry at the current instant', async () => {
    const at = (expiresAt: Date) => sendAsAdmin('POST /admin/keys', { name: 'x', plan: 'free', expiresAt });
    expectInvalid(await at(inFuture(0)), 'expiresAt must be in the future');
    expect((await at(inFuture(MINUTE_MS))).status).toBe(201);
  });
});

describe('GET /admin/keys/{id}', () => {
  const unknown = ['x', UNKNOWN_ID, `${UNKNOWN_ID}0`, UNKNOWN_ID.replaceAll('-', ''), '%00', "'%20OR%201=1"];

  it.each(unknown)('returns 404 for an unknown id, as every operation on one key does: %s', async (id) => {
    const path = `/admin/keys/${id}`;
    const message = `There is no key with the id "${decodeURIComponent(id)}".`;
    for (const request of [
      `GET ${path}`,
      ...['rotate', 'revoke'].map((action) => `POST ${path}/${action}`),
      `GET ${path}/usage`,
    ]) {
      expectError(await sendAsAdmin(request), 404, 'not_found', message);
    }
    expectError(await update({ id }, { name: 'x' }), 404, 'not_found', message);
  });
});

describe('GET /admin/keys', () => {
  /** Returns the ids of the keys on each page. */
  async function walk(query: string, between?: () => Promise<unknown>): Promise<string[][]> {
    const get = (target: string) => sendAsAdmin(`GET ${target}`);
    const pages = await readPages<Key>(get, `/admin/keys${query}`, between);
    return pages.map((keys) => keys.map(({ id }) => id));
  }

  async function issueMany(count: number, input: Record<string, unknown>): Promise<IssuedKey[]> {
    const keys: IssuedKey[] = [];
    for (let issued = 0; issued < count; issued += 1) {
      keys.push(await issue(input));
    }
    return keys;
  }

  it('returns 200 with an array of keys, oldest first, 20 by default, as each is read alone', async () => {
    await createPlan('listed');
    const none = await sendAsAdmin('GET /admin/keys?plan=listed');
    expect([none.status, none.text]).toEqual([200, '[]']);
    const keys = await issueMany(21, { plan: 'listed' });
    const page = await sendAsAdmin('GET /admin/keys?plan=listed');
    expect([page.status, page.json]).toEqual([200, keys.slice(0, 20).map(listed)]);
    expect(parseLinks(page)['first']).toBe('/admin/keys?limit=20&plan=listed');
    // A last page that is full has no next page.
    const last = await sendAsAdmin('GET /admin/keys?plan=listed&limit=21');
    expect([last.json.length, parseLinks(last)]).toEqual([21, { first: '/admin/keys?limit=21&plan=listed' }]);
  });

  it('returns each existing key exactly once over all pages, while others are issued', async () => {
    const existing = await admin.store.database.query<{ id: string }>('SELECT id FROM api_keys ORDER BY id');
    const before = existing.map(({ id }) => id);
    const added: string[] = [];
    const pages = await walk('?limit=7', async () => {
      if (added.length < 5) {
        added.push((await issue()).id);
      }
    });
    expect(pages.flat()).toEqual([...before, ...added]);
    expect(before.length).toBeGreaterThan(21);
  });

  describe('?search', () => {
    const found = async (search: string) => {
      const response = await sendAsAdmin(`GET /admin/keys?limit=100&search=${encodeURIComponent(search)}`);
      expect(response.status).toBe(200);
      return listedIds(response);
    };

    it('returns keys by a part of the name in any case, and by the end of the id or of the key', async () => {
      const key = await issue({ name: 'Jörg_s 100% ÄPFEL & 🐕' });
      await issue({ name: 'Jorgas 100 apples' });
      for (const text of ['jörg_s', '100%', 'äpfel & 🐕', key.name, key.id, key.id.slice(-9).toUpperCase()]) {
        expect([text, await found(text)]).toEqual([text, [key.id]]);
      }
      expect(await found(key.key.slice(-4))).toContain(key.id);
      expect(await found(key.key.slice(-4).repeat(2))).toStrictEqual([]);
    });
  });

  it('returns keys by their state: a rotated key is rotating until its overlap ends', async () => {
    const name = 'by state';
    const [active, rotating, expired] = [await issue({ name }), await issue({ name }), await issue({ name })];
    const revoked = await issue({ name });
    const expiring = await issue({ name, expiresAt: inFuture(HOUR_MS).toISOString() });
    const successors = [
      (await rotate(rotating, { overlapSeconds: 3600 })).json.id,
      (await rotate(expired, { overlapSeconds: 0 })).json.id,
    ];
    await revoke(revoked);
    const inState = async (state: string) => {
      const { json } = await sendAsAdmin(`GET /admin/keys?search=by%20state&state=${state}`);
      return (json as Key[]).map((key) => (key.state === state ? key.id : key));
    };
    expect(await inState('active')).toEqual([active.id, expiring.id, ...successors]);
    expect(await inState('rotating')).toEqual([rotating.id]);
    expect(await inState('expired')).toEqual([expired.id]);
    expect(await inState('revoked')).toEqual([revoked.id]);
    admin.store.clock.stopAt(inFuture(HOUR_MS));
    expect(await inState('rotating')).toStrictEqual([]);
    expect(await inState('expired')).toEqual([rotating.id, expired.id, expiring.id]);
  });
});

describe('POST /admin/keys/{id}/rotate', () => {
  it('returns 201 with a successor of the same name, note, role and quota, and its key once', async () => {
    const named = { name: 'warehouse', note: 'by the gate', role: 'admin' };
    const old = await issue({ ...named, plan: 'pro', perMinute: 9, perDay: 90 });
    const response = await rotate(old);
    expect(response.json).toEqual({
      ...shown(old),
      id: expect.stringMatching(UUID),
      key: expect.stringMatching(/^ask_test_[0-9A-Za-z]{38}$/),
      lastFour: response.json.key.slice(-4),
      createdAt: expect.any(String),
      predecessorId: old.id,
      successorId: null,
      overlapEndsAt: expect.any(String),
    });
    expect(response.json.id).not.toBe(old.id);
    expect(response.json.key).not.toBe(old.key);
    expect(response.headers.get('location')).toBe(`/admin/keys/${response.json.id}`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await find(old)).toEqual({
      ...listed(old),
      state: 'rotating',
      expiresAt: expect.any(String),
      successorId: response.json.id,
    });
    const { overlapEndsAt, ...successor } = response.json;
    expect(overlapEndsAt).toBe((await find(old)).expiresAt);
    expect(await find(successor)).toEqual(listed(successor));
    const next = (await rotate(response.json)).json;
    expect(next).toMatchObject({ predecessorId: response.json.id, quotaId: old.quotaId });
    expect((await find(response.json)).successorId).toBe(next.id);
  });

  it('counts both keys in the same windows, and a key of another quota in its own', async () => {
    const [old, other] = [await issue(), await issue()];
    admin.store.clock.travelToMinuteStart();
    const { key } = (await rotate(old)).json;
    const left: number[] = [];
    for (const each of [old.key, key, other.key, old.key, key]) {
      left.push(remaining(await use(each)));
    }
    expect(left).toEqual([59, 58, 59, 57, 56]);
  });

  it.each([
    ['24 hours by default', undefined, DAY_MS],
    ['24 hours with an empty body', {}, DAY_MS],
    ['the given number of seconds', { overlapSeconds: 90 }, 90_000],
    ['at most a year', { overlapSeconds: 31_536_000 }, 365 * DAY_MS],
  ])('accepts both keys for %s, by the clock of the database', async (_what, body, overlapMs) => {
    const old = await issue();
    const beforeMs = admin.store.clock.now();
    const { key } = (await rotate(old, body)).json;
    const afterMs = admin.store.clock.now();
    const endsAtMs = Date.parse((await find(old)).expiresAt ?? '');
    expect(endsAtMs - overlapMs).toBeGreaterThanOrEqual(beforeMs - 1);
    expect(endsAtMs - overlapMs).toBeLessThanOrEqual(afterMs + 1);
    admin.store.clock.travelTo(new Date(endsAtMs - SECOND_MS));
    expect([(await use(old.key)).status, (await use(key)).status]).toEqual([200, 200]);
    admin.store.clock.travelTo(new Date(endsAtMs + SECOND_MS));
    expectError(await use(old.key), 401, 'invalid_api_key', 'The API key has expired.');
    expect((await use(key)).status).toBe(200);
  });

  it('ends the old key within a second when the overlap is 0, even if it is in use', async () => {
    const key = await issue({ plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 });
    expect((await use(key.key)).status).toBe(200);
    const { json } = await rotate(key, { overlapSeconds: 0 });
    expect((await use(json.key)).status).toBe(200);
    await eventually(async () => expectError(await use(key.key), 401, 'invalid_api_key'), SECOND_MS);
  });

  it('ends the old key no later than its own expiry, which the successor inherits', async () => {
    const expiresAt = inFuture(HOUR_MS).toISOString();
    const old = await issue({ expiresAt });
    const successor = (await rotate(old)).json;
    expect(successor.expiresAt).toBe(expiresAt);
    expect((await find(old)).expiresAt).toBe(expiresAt);
    admin.store.clock.travelTo(new Date(Date.parse(expiresAt) + SECOND_MS));
    expect([(await use(old.key)).status, (await use(successor.key)).status]).toEqual([401, 401]);
  });

  it.each([
    ['later than that of the old key, which keeps its own', 2 * DAY_MS],
    ['earlier than that of the old key', HOUR_MS / 2],
  ])('gives the successor its own expiry when one is given: %s', async (_what, milliseconds) => {
    const old = await issue({ expiresAt: inFuture(HOUR_MS).toISOString() });
    const expiresAt = inFuture(milliseconds).toISOString();
    const { status, json } = await rotate(old, { expiresAt });
    expect([status, json.expiresAt]).toEqual([201, expiresAt]);
    expect((await find(old)).expiresAt).toBe(old.expiresAt);
  });

  it('returns 400 and changes nothing for an expiry in the past', async () => {
    const key = await issue();
    const response = await unchanged(() => rotate(key, { expiresAt: '2020-01-01T00:00:00Z' }));
    expectInvalid(response, 'expiresAt must be in the future');
  });

  it('leaves one valid successor when several are concurrent, and replaces or denies others', async () => {
    const name = 'contested';
    const old = await issue({ name });
    const responses = await Promise.all(Array.from({ length: 6 }, () => rotate(old)));
    // A request that arrives after another has succeeded repeats it.
    const issued = responses.filter(({ status }) => status === 201).map(({ json }) => String(json.id));
    const others = responses.filter(({ status }) => status !== 201);
    others.forEach((other) =>
      expectError(other, 409, 'conflict', expect.stringMatching(/^The key was rotated already\. Rotate its/)),
    );
    const { json: keys } = await sendAsAdmin(`GET /admin/keys?limit=100&search=${name}`);
    const valid = keys.filter(({ id, state }: Key) => id !== old.id && state === 'active');
    expect(keys.map(({ id }: Key) => id).toSorted()).toEqual([old.id, ...issued].toSorted());
    expect(valid.map(({ id }: Key) => id)).toEqual([(await find(old)).successorId]);
    expect(await listAuditEvents(old, 'key.rotated')).toHaveLength(issued.length);
  });

  it.each<[string, (key: IssuedKey) => Promise<unknown>, string]>([
    ['revoked', revoke, 'The key is revoked, so it cannot be rotated. Issue a new one.'],
    [
      'rotated, and its successor used',
      async (key) => use((await rotate(key)).json.key),
      'The key was rotated already. Rotate its successor ID.',
    ],
    [
      'rotated, and its successor revoked',
      async (key) => revoke((await rotate(key)).json),
      'The key was rotated already. Its successor ID was revoked. Issue a new one.',
    ],
    [
      'expired',
      async ({ expiresAt }) => admin.store.clock.stopAt(new Date(String(expiresAt))),
      'The key is expired, so it cannot be rotated. Issue a new one.',
    ],
  ])('returns 409 conflict and changes nothing when the key is %s', async (_state, end, message) => {
    const key = await issue({ expiresAt: inFuture(HOUR_MS).toISOString() });
    await end(key);
    const { successorId } = await find(key);
    const response = await unchanged(() => rotate(key));
    expectError(response, 409, 'conflict', message.replace('ID', String(successorId)));
  });
});

describe('POST /admin/keys/{id}/revoke', () => {
  it('returns 200 with the key, which gets 401 from then on, and the same when repeated', async () => {
    const key = await issue();
    const earliestMs = inFuture(-SECOND_MS).getTime();
    let { revokedAt } = key;
    for (const travelledMs of [0, MINUTE_MS]) {
      admin.store.clock.travel(travelledMs);
      const { status, json } = await revoke(key);
      revokedAt ??= json.revokedAt;
      expect([status, json]).toEqual([200, { ...shown(key), state: 'revoked', revokedAt }]);
      expect(Date.parse(String(revokedAt))).toBeGreaterThanOrEqual(earliestMs);
      expectError(await use(key.key), 401, 'invalid_api_key', 'The API key was revoked.');
    }
  });

  it('does not change the successor or the predecessor of the key', async () => {
    const [old, other] = [await issue(), await issue()];
    const successor = (await rotate(old)).json;
    await revoke(old);
    expect((await use(successor.key)).status).toBe(200);
    const otherSuccessor = (await rotate(other)).json;
    await revoke(otherSuccessor);
    expect((await use(other.key)).status).toBe(200);
  });
});

describe('PATCH /admin/keys/{id}', () => {
  it('returns 200 with the key, changes what the body names, and keeps the rest', async () => {
    const key = await issue({ name: 'Ann', note: 'first', scopes: ['pets:read'] });
    const fields = { name: 'Bob', role: 'admin', plan: 'pro', expiresAt: '2999-01-01T00:00:00Z' };
    const response = await update(key, fields);
    expect([response.status, response.json]).toEqual([200, { ...shown(key), name: 'Bob' }]);
    expect(response.headers.get('cache-control')).toBeNull();
    const rest = { note: 'second', scopes: ['orders:read'], allowedNetworks: ['203.0.113.0/24'] };
    expect((await update(key, rest)).json).toEqual({ ...shown(key), name: 'Bob', ...rest });
    const removed = { note: null, scopes: null, allowedNetworks: null };
    expect((await update(key, removed)).json).toEqual({ ...shown(key), name: 'Bob', ...removed });
    expect(await find(key)).toMatchObject({ name: 'Bob', ...removed });
  });

  it('records one event with what it changed, and none for what is as it was', async () => {
    const key = await issue({ name: 'Ann', note: 'first' });
    await update(key, { name: 'Ann', note: 'second', scopes: [] });
    await update(key, { name: 'Ann', scopes: [] });
    await update(key, {});
    expect(await listAuditEvents(key, 'key.updated')).toEqual([
      expect.objectContaining({
        before: { note: 'first', scopes: null },
        after: { note: 'second', scopes: [] },
      }),
    ]);
  });

  it('changes only what a change gives, beside another change', async () => {
    const key = await issue({ name: 'Ann', note: 'first' });
    await Promise.all([update(key, { note: 'second' }), update(key, { name: 'Bob' })]);
    expect(await find(key)).toMatchObject({ name: 'Bob', note: 'second' });
  });

  it('changes a revoked key too, and leaves its successor as it is', async () => {
    const key = await issue({ name: 'Ann' });
    const successor = (await rotate(key)).json;
    await revoke(key);
    expect((await update(key, { name: 'old' })).json).toMatchObject({ name: 'old', state: 'revoked' });
    expect((await find(successor)).name).toBe('Ann');
  });

  it.each([
    [{ name: null }, 'name must be a string'],
    [{ name: ' ', note: '' }, 'name must not be blank; note must not be blank'],
    [
      { scopes: 'pets:read', allowedNetworks: ['x'] },
      'scopes must be a list of up to 7 scopes, or null for no restriction; allowedNetworks[0] must be a ' +
        'network such as 203.0.113.0/24 or 2001:db8::/32, or an address',
    ],
  ])('returns 400 that names every fault, and changes nothing: %j', async (body, faults) => {
    const key = await issue();
    expectInvalid(await unchanged(() => update(key, body)), faults);
  });
});

describe('/admin/keys/{id}', () => {
  it('accepts an id in upper case', async () => {
    const key = await issue();
    expect((await find({ id: key.id.toUpperCase() })).id).toBe(key.id);
    expect((await revoke({ id: key.id.toUpperCase() })).json).toMatchObject({ id: key.id, state: 'revoked' });
  });

  it.each(['rotate', 'revoke'])('needs no body for /%s, even when Content-Type is set', async (action) => {
    const { id } = await issue();
    const { status } = await send(`${admin.store.url}/admin/keys/${id}/${action}`, {
      method: 'POST',
      key: admin.administrator.key,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(status).toBe(action === 'rotate' ? 201 : 200);
  });

  it('is not rotated by a body that is not JSON', async () => {
    const { id } = await issue();
    const malformed = await unchanged(() => sendAsAdmin(`POST /admin/keys/${id}/rotate`, '{'));
    expectError(malformed, 400, 'invalid_request');
  });
});

describe('an issued key', () => {
  it('is returned even when the bans cannot be read, because it is shown only once', async () => {
    const keys = admin.store.app.get(KeyService);
    await admin.store.database.query('ALTER TABLE rate_limit_counters RENAME TO counters_away');
    try {
      const { id, key } = await keys.issue({ name: 'x', plan: 'free' }, SERVICE);
      expect(key).toMatch(/^ask_test_/);
      // A response must not show a banned quota as not banned, so the rotation fails and changes nothing.
      await changingNothing(admin.store.database, () =>
        expect(keys.rotate(id, {}, SERVICE)).rejects.toThrow('rate_limit_counters'),
      );
    } finally {
      await admin.store.database.query('ALTER TABLE counters_away RENAME TO rate_limit_counters');
    }
  });

  it('is in no other response and no other table, and its hash only in api_keys', async () => {
    const first = await issue();
    const second: IssuedKey = (await rotate(first)).json;
    const keys = [first.key, second.key];
    const responses = [
      await sendAsAdmin('GET /admin/keys?limit=100'),
      await sendAsAdmin(`GET /admin/keys/${first.id}`),
      await update(first, { name: 'x' }),
      await sendAsAdmin(`PATCH /admin/quotas/${first.quotaId}`, { plan: 'pro' }),
      await sendAsAdmin(`POST /admin/quotas/${first.quotaId}/unban`),
      await rotate(first),
      await revoke(second),
      await sendAsAdmin('GET /admin/audit?limit=100'),
    ];
    expectNoSecrets(responses.map(({ text }) => text).join('\n'), keys);
    const tables = await admin.store.database.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND " +
        "table_name <> 'api_keys'",
    );
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['audit_events', 'quotas']));
    for (const { name } of tables) {
      expectNoSecrets(
        JSON.stringify(await admin.store.database.query(`SELECT t::text FROM ${name} t`)),
        keys,
      );
    }
    const [kept] = await admin.store.database.query<{ hash: Buffer; line: string }>(
      'SELECT hash, t::text AS line FROM api_keys t WHERE id = $1',
      [first.id],
    );
    expect(kept?.hash).toEqual(createHash('sha256').update(first.key).digest());
    expect(kept?.line).not.toContain(first.key.slice(9));
  });
});
