import { createHash } from 'node:crypto';
import { TERMINAL } from '../../src/audit/audit.js';
import type { IssuedKey, Key } from '../../src/keys/key.schemas.js';
import { KeyService } from '../../src/keys/key.service.js';
import { CounterStoreError } from '../../src/rate-limit/stores/counter-store.js';
import { FallbackCounterStore } from '../../src/rate-limit/stores/fallback-counter-store.js';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../support/time/clock.js';
import { useAdministration } from '../support/keys/administration.js';
import { ban, bannedUntil } from '../support/keys/bans.js';
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
  requestsByHour: Array<number>(24).fill(0),
});
const find = async ({ id }: { id: string }): Promise<Key> =>
  (await sendAsAdmin(`GET /admin/keys/${id}`)).json;
const rotate = ({ id }: { id: string }, body?: unknown) => sendAsAdmin(`POST /admin/keys/${id}/rotate`, body);
const revoke = ({ id }: { id: string }) => sendAsAdmin(`POST /admin/keys/${id}/revoke`);
const label = ({ id }: { id: string }, body: unknown) => sendAsAdmin(`PUT /admin/keys/${id}/label`, body);
const rateLimit = ({ id }: { id: string }) => sendAsAdmin(`GET /admin/keys/${id}/rate-limit`);
const unban = ({ id }: { id: string }) => sendAsAdmin(`POST /admin/keys/${id}/unban`);

const unchanged = (work: () => Promise<HttpResponse>) => changingNothing(admin.store.database, work);

const listAuditEvents = async ({ id }: IssuedKey, action: string): Promise<unknown[]> =>
  (await sendAsAdmin(`GET /admin/audit?key=${id}&action=${action}`)).json;

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
      plan: 'pro',
      perMinute: 300,
      perDay: 10_000,
      ownLimits: false,
      bannedUntil: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expiresAt: null,
      revokedAt: null,
      predecessorId: null,
      successorId: null,
      issuerId: null,
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
      expect(own).toMatchObject({ ...limits, ownLimits: true });
      expect((await use(own.key)).headers.get('ratelimit-policy')).toBe(
        '"minute";q=7;w=60, "day";q=2147483647;w=86400',
      );
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

  it('ignores unknown fields: nobody can choose the key, its id or its quota', async () => {
    const chosen = {
      id: UNKNOWN_ID,
      quotaId: UNKNOWN_ID,
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
      'name must be a string; plan is required without quotaOf; perMinute is required with perDay',
    ],
  ])('returns 400 that names every fault, and issues nothing: %s', async (body, faults) => {
    expectInvalid(await unchanged(() => sendAsAdmin('POST /admin/keys', body)), faults);
  });

  it('returns 400 for an expiry at the current instant', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const at = (expiresAt: Date) => sendAsAdmin('POST /admin/keys', { name: 'x', plan: 'free', expiresAt });
    expectInvalid(await at(now), 'expiresAt must be in the future');
    expect((await at(new Date(now.getTime() + 1))).status).toBe(201);
  });
});

describe('POST /admin/keys and PATCH /admin/keys/{id}', () => {
  const noPlan: unknown = expect.stringMatching(
    /^There is no plan ".*"; the plans are business, enterprise, free, .*pro/s,
  );
  it.each<[Record<string, unknown>, unknown]>([
    ...['gold', 'Free', '', '\ud800', 'free\0', '__proto__', "free'; DROP TABLE plans; --"].map(
      (plan): [Record<string, unknown>, unknown] => [{ plan }, noPlan],
    ),
    [
      { plan: 'enterprise' },
      'Plan "enterprise" has no limits: give the key its own limits per minute and per day.',
    ],
    [{ plan: 'free', perMinute: 5 }, 'The request is invalid: perDay is required with perMinute.'],
    [{ plan: 'free', perDay: 5 }, 'The request is invalid: perMinute is required with perDay.'],
  ])(
    'return 400 for a plan that does not exist or lacks limits, and for one limit: %j',
    async (input, message) => {
      const key = await issue();
      for (const request of ['POST /admin/keys', `PATCH /admin/keys/${key.id}`]) {
        const response = await unchanged(() => sendAsAdmin(request, { name: 'x', ...input }));
        expectError(response, 400, 'invalid_request', message);
      }
    },
  );
});

describe('GET /admin/keys/{id}', () => {
  const unknown = ['x', UNKNOWN_ID, `${UNKNOWN_ID}0`, UNKNOWN_ID.replaceAll('-', ''), '%00', "'%20OR%201=1"];

  it.each(unknown)('returns 404 for an unknown id, as every operation on one key does: %s', async (id) => {
    const path = `/admin/keys/${id}`;
    const message = `There is no key with the id "${decodeURIComponent(id)}".`;
    for (const request of [
      `GET ${path}`,
      ...['rotate', 'revoke', 'unban'].map((action) => `POST ${path}/${action}`),
      ...['rate-limit', 'usage'].map((part) => `GET ${path}/${part}`),
    ]) {
      expectError(await sendAsAdmin(request), 404, 'not_found', message);
    }
    expectError(await sendAsAdmin(`PATCH ${path}`, { plan: 'pro' }), 404, 'not_found', message);
    expectError(await label({ id }, { name: 'x' }), 404, 'not_found', message);
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
    expect(await find(response.json)).toEqual(listed(response.json));
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

  it('succeeds exactly once when several are concurrent; the others get 409', async () => {
    const name = 'contested';
    const old = await issue({ name });
    const responses = await Promise.all(Array.from({ length: 6 }, () => rotate(old)));
    const [winner, ...others] = responses.toSorted((one, other) => one.status - other.status);
    expect(winner?.status).toBe(201);
    const message = `The key was rotated already. Rotate its successor ${winner?.json.id}.`;
    others.forEach((other) => expectError(other, 409, 'conflict', message));
    const { json: keys } = await sendAsAdmin(`GET /admin/keys?limit=100&search=${name}`);
    expect(keys).toHaveLength(2);
    expect(await listAuditEvents(old, 'key.rotated')).toHaveLength(1);
  });

  it.each<[string, (key: IssuedKey) => Promise<unknown>, string]>([
    ['revoked', revoke, 'The key is revoked, so it cannot be rotated. Issue a new one.'],
    ['rotated', rotate, 'The key was rotated already. Rotate its successor ID.'],
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
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const key = await issue();
    for (const travelledMs of [0, SECOND_MS]) {
      admin.store.clock.stopAt(new Date(now.getTime() + travelledMs));
      const { status, json } = await revoke(key);
      const revokedAt = now.toISOString();
      expect([status, json]).toEqual([200, { ...shown(key), state: 'revoked', revokedAt }]);
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
  const change = ({ id }: { id: string }, body: unknown) => sendAsAdmin(`PATCH /admin/keys/${id}`, body);
  const usedBy = ({ quotaId }: Key) =>
    admin.store.database.query<{ minute_used: number; day_used: number }>(
      'SELECT minute_used, day_used FROM rate_limit_counters WHERE bucket_key = $1',
      [`quota:${quotaId}`],
    );

  it('returns 200 with the key on its new plan, and keeps the counts', async () => {
    const key = await issue();
    admin.store.clock.travelToMinuteStart();
    for (let sent = 0; sent < 3; sent += 1) {
      await use(key.key);
    }
    const { status, json, headers } = await change(key, { plan: 'pro' });
    expect([status, json]).toEqual([200, { ...shown(key), plan: 'pro', perMinute: 300, perDay: 10_000 }]);
    expect(headers.get('cache-control')).toBeNull();
    expect(await usedBy(key)).toEqual([{ minute_used: 3, day_used: 3 }]);

    await eventually(async () => {
      const left = remaining(await use(key.key));
      const [counted] = await usedBy(key);
      expect(left).toBe(300 - (counted?.minute_used ?? NaN));
    }, SECOND_MS);
  });

  it('leaves 0 remaining when the usage exceeds the new limits', async () => {
    const key = await issue({ plan: 'enterprise', perMinute: 1_000_000, perDay: 1_000_000 });
    admin.store.clock.travelToMinuteStart();
    for (let sent = 0; sent < 5; sent += 1) {
      await use(key.key);
    }
    await change(key, { plan: 'enterprise', perMinute: 2, perDay: 2_000_000 });
    await eventually(async () => {
      const updated = await use(key.key);
      expectError(updated, 429, 'rate_limit_exceeded');
      expect([updated.headers.get('x-ratelimit-limit'), remaining(updated)]).toEqual(['2', 0]);
    }, SECOND_MS);
  });

  it('sets own limits, and returns to those of the plan when none are given', async () => {
    const key = await issue();
    const own = { plan: 'enterprise', perMinute: 5000, perDay: 1_000_000 };
    expect((await change(key, own)).json).toMatchObject({ ...own, ownLimits: true });
    expect((await change(key, { plan: 'free' })).json).toEqual(shown(key));
  });

  it('applies to a key and its successor, and ignores other fields such as name and expiry', async () => {
    const old = await issue();
    const successor = (await rotate(old)).json;
    const fields = { name: 'other', role: 'admin', expiresAt: '2999-01-01T00:00:00Z' };
    await change(successor, { ...fields, plan: 'business' });
    expect((await find(old)).plan).toBe('business');
    const { name, role, expiresAt, plan } = await find(successor);
    expect([name, role, expiresAt, plan]).toEqual(['test', 'client', null, 'business']);
  });
});

describe('GET /admin/keys/{id}/rate-limit', () => {
  it('returns 200 with the status that the key gets, and counts nothing', async () => {
    const { id, key } = await issue({ plan: 'pro' });
    admin.store.clock.travelToMinuteStart();
    await use(key);
    const ofKey = await send(`${admin.store.url}/v1/rate-limit`, { key });
    for (const { status, json } of [await rateLimit({ id }), await rateLimit({ id })]) {
      expect([status, json]).toEqual([200, ofKey.json]);
    }
    expect(ofKey.json).toMatchObject({ plan: 'pro', windows: [{ remaining: 299 }, { remaining: 9999 }] });
  });

  it('returns the status of the quota for a revoked key, its successor, and a banned one', async () => {
    const key = await issue({ plan: 'pro', perMinute: 5, perDay: 50 });
    const successor = (await rotate(key)).json;
    await use(successor.key);
    await revoke(key);
    const { json } = await rateLimit(key);
    expect(json).toMatchObject({
      windows: [
        { limit: 5, remaining: 4 },
        { limit: 50, remaining: 49 },
      ],
    });
    expect((await rateLimit(successor)).json).toEqual(json);
    const end = inFuture(HOUR_MS);
    await ban(admin.store.database, key, end);
    const banned = { bannedUntil: end.toISOString(), denialsUntilBan: 0 };
    expect((await rateLimit(key)).json).toMatchObject(banned);
  });

  it('returns 503 while the counter store is away, because only this replica would count', async () => {
    const key = await issue();
    const counters = admin.store.app.get(FallbackCounterStore);
    const known = await counters.peek({ bucketKey: 'quota:x', perMinute: 1, perDay: 1 });
    const peek = jest.spyOn(counters, 'peek').mockResolvedValue({ ...known, degraded: true });
    expectError(await rateLimit(key), 503, 'service_unavailable');
    peek.mockRestore();
  });
});

describe('PUT /admin/keys/{id}/label', () => {
  it('returns 200 with the key and its new label, of which a note that is not given is removed', async () => {
    const key = await issue({ name: 'Ann', note: 'first' });
    const fields = { name: 'Bob', note: 'second', role: 'admin', plan: 'pro' };
    const response = await label(key, fields);
    expect([response.status, response.json]).toEqual([200, { ...shown(key), name: 'Bob', note: 'second' }]);
    expect(await find(key)).toMatchObject({ name: 'Bob', note: 'second' });
    expect((await label(key, { name: 'Ann' })).json).toEqual({ ...shown(key), note: null });
  });

  it('changes only what a change at the terminal gives, beside another change', async () => {
    const key = await issue({ name: 'Ann', note: 'first' });
    const keys = admin.store.app.get(KeyService);
    await Promise.all([
      keys.label(key.id, { note: 'second' }, TERMINAL),
      keys.label(key.id, { name: 'Bob' }, TERMINAL),
    ]);
    expect(await find(key)).toMatchObject({ name: 'Bob', note: 'second' });
    await keys.label(key.id, { note: null }, TERMINAL);
    expect(await find(key)).toMatchObject({ name: 'Bob', note: null });
  });

  it('labels a revoked key too, and leaves its successor as it is', async () => {
    const key = await issue({ name: 'Ann' });
    const successor = (await rotate(key)).json;
    await revoke(key);
    expect((await label(key, { name: 'old' })).json).toMatchObject({ name: 'old', state: 'revoked' });
    expect((await find(successor)).name).toBe('Ann');
  });
});

describe('/admin/keys/{id}', () => {
  it('accepts an id in upper case', async () => {
    const key = await issue();
    expect((await find({ id: key.id.toUpperCase() })).id).toBe(key.id);
    expect((await revoke({ id: key.id.toUpperCase() })).json).toMatchObject({ id: key.id, state: 'revoked' });
  });

  it.each(['rotate', 'revoke', 'unban'])(
    'needs no body for /%s, even when Content-Type is set',
    async (action) => {
      const { id } = await issue();
      const { status } = await send(`${admin.store.url}/admin/keys/${id}/${action}`, {
        method: 'POST',
        key: admin.administrator.key,
        headers: { 'Content-Type': 'application/json' },
      });
      expect(status).toBe(action === 'rotate' ? 201 : 200);
    },
  );

  it('is not rotated by a body that is not JSON', async () => {
    const { id } = await issue();
    const malformed = await unchanged(() => sendAsAdmin(`POST /admin/keys/${id}/rotate`, '{'));
    expectError(malformed, 400, 'invalid_request');
  });
});

describe('a ban', () => {
  const until = () => inFuture(HOUR_MS);
  const isListed = async (banned: boolean, { id }: { id: string }) =>
    (await sendAsAdmin(`GET /admin/keys?limit=100&plan=bans&banned=${banned}`)).json.some(
      (key: Key) => key.id === id,
    );

  beforeAll(() => createPlan('bans'));

  it('is shown on every key of the quota until its end, and on no other key', async () => {
    const [key, other] = [await issue({ plan: 'bans' }), await issue({ plan: 'bans' })];
    const successor = (await rotate(key)).json;
    const end = until();
    await ban(admin.store.database, key, end);
    for (const banned of [key, successor]) {
      expect((await find(banned)).bannedUntil).toBe(end.toISOString());
      expect([await isListed(true, banned), await isListed(false, banned)]).toEqual([true, false]);
    }
    expect((await find(other)).bannedUntil).toBeNull();
    expect([await isListed(true, other), await isListed(false, other)]).toEqual([false, true]);
  });

  it('is neither shown nor lifted after its end', async () => {
    const key = await issue({ plan: 'bans' });
    await ban(admin.store.database, key, until());
    admin.store.clock.travel(HOUR_MS);
    expect((await find(key)).bannedUntil).toBeNull();
    expect(await isListed(true, key)).toBe(false);
    expect((await unchanged(() => unban(key))).json).toEqual(shown(key));
  });

  it('is lifted at once for every key of the quota', async () => {
    const key = await issue({ plan: 'bans' });
    const successor = (await rotate(key)).json;
    await ban(admin.store.database, key, until());
    const { status, json } = await unban(successor);
    expect([status, json]).toEqual([200, shown(successor)]);
    expect((await find(key)).bannedUntil).toBeNull();
    const end = await bannedUntil(admin.store.database, key);
    expect(end?.getTime()).toBeLessThanOrEqual(admin.store.clock.now());
  });

  it('is lifted once when several requests lift it concurrently', async () => {
    const key = await issue({ plan: 'bans' });
    await ban(admin.store.database, key, until());
    const responses = await Promise.all(Array.from({ length: 5 }, () => unban(key)));
    expect(responses.map(({ json }) => json)).toEqual(responses.map(() => shown(key)));
    expect(await listAuditEvents(key, 'key.unbanned')).toHaveLength(1);
  });
});

describe('a change after which the counter store is away', () => {
  it('returns 200 with the bans read before the change, because 503 would mean no change', async () => {
    const [revoked, moved, freed] = [await issue(), await issue(), await issue()];
    await ban(admin.store.database, freed, inFuture(HOUR_MS));
    const plan = { plan: 'pro' };
    const counters = admin.store.app.get(FallbackCounterStore);
    const away = new CounterStoreError('refused', new Error('away'));
    for (const [action, key, expected] of [
      [() => revoke(revoked), revoked, { state: 'revoked' }],
      [() => sendAsAdmin(`PATCH /admin/keys/${moved.id}`, plan), moved, plan],
      [() => unban(freed), freed, { bannedUntil: null }],
    ] as const) {
      const known = await counters.bans();
      const bans = jest.spyOn(counters, 'bans').mockRejectedValue(away).mockResolvedValueOnce(known);
      const { status } = await action();
      bans.mockRestore();
      expect(status).toBe(200);
      expect(await find(key)).toMatchObject(expected);
    }
  });
});

describe('an issued key', () => {
  it('is returned even when the bans cannot be read, because it is shown only once', async () => {
    const keys = admin.store.app.get(KeyService);
    await admin.store.database.query('ALTER TABLE rate_limit_counters RENAME TO counters_away');
    try {
      const { id, key } = await keys.issue({ name: 'x', plan: 'free' }, 'terminal');
      expect(key).toMatch(/^ask_test_/);
      // A response must not show a banned quota as not banned, so the rotation fails and changes nothing.
      await changingNothing(admin.store.database, () =>
        expect(keys.rotate(id, {}, 'terminal')).rejects.toThrow('rate_limit_counters'),
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
      await sendAsAdmin(`PATCH /admin/keys/${first.id}`, { plan: 'pro' }),
      await rotate(first),
      await unban(second),
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
