import type { IssuedKey, Key, KeyWithUsage } from '../../src/keys/key.schemas.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { DAY_MS, HOUR_MS } from '../support/time/clock.js';
import { recordUsage } from '../support/keys/usage.js';
import { useAdministration } from '../support/keys/administration.js';
import { expectInvalid } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';

const NOON = new Date('2027-03-05T12:00:30.000Z');
const NOON_HOUR_MS = Date.parse('2027-03-05T12:00:00.000Z');
const UUID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';

const admin = useAdministration();
/** The keys of these tests, oldest first: used an hour ago, never, five days ago, and now. */
let hourAgo: IssuedKey;
let never: IssuedKey;
let daysAgo: IssuedKey;
let now: IssuedKey;

beforeAll(async () => {
  admin.store.clock.travelTo(NOON);
  const inDays = (days: number) => new Date(NOON.getTime() + days * DAY_MS).toISOString();
  hourAgo = await admin.issue({ name: 'list b', expiresAt: inDays(20) });
  never = await admin.issue({ name: 'list Ä | "c"', expiresAt: inDays(10) });
  daysAgo = await admin.issue({ name: 'list a' });
  now = await admin.issue({ name: 'list a' });
  await admin.store.database.query("UPDATE api_keys SET created_at = '2027-01-01'");
  for (const [key, agoMs] of [
    [daysAgo, 5 * DAY_MS],
    [hourAgo, HOUR_MS],
    [now, 0],
    [now, 0],
  ] as const) {
    admin.store.clock.travelTo(new Date(NOON.getTime() - agoMs));
    await send(`${admin.store.url}/v1/pets`, { key: key.key });
    await send(`${admin.store.url}/v1/pets/1`, { key: key.key });
  }
  await recordUsage(admin.store);
});

const get = (target: string) => admin.send(`GET ${target}`);
const keyIds = (keys: Key[]) => keys.map(({ id }) => id);
/** Returns the ids of the keys of these tests, over pages of one key each. */
const walk = async (query: string, between?: () => Promise<unknown>) =>
  keyIds((await readPages<KeyWithUsage>(get, `/admin/keys?limit=1&search=list&${query}`, between)).flat());

describe('the usage of a key', () => {
  it.each<[string, () => IssuedKey, RegExp, number[]]>([
    ['now', () => now, /^2027-03-05T12:00:3/, [0, 4]],
    ['an hour ago', () => hourAgo, /^2027-03-05T11:00:3/, [2, 0]],
    ['before these hours', () => daysAgo, /^2027-02-28T12:00:3/, [0, 0]],
  ])(
    'has the time of the last request, and the requests of the last 24 UTC hours, oldest first: %s',
    async (_when, key, time, lastHours) => {
      const { json } = await get(`/admin/keys/${key().id}`);
      expect(json).toMatchObject({
        lastUsedAt: expect.stringMatching(time),
        recentUsage: [...Array<number>(22).fill(0), ...lastHours].map((requests, hour) => ({
          startsAt: new Date(NOON_HOUR_MS + (hour - 23) * HOUR_MS).toISOString(),
          requests,
          denied: 0,
        })),
      });
    },
  );

  it('is in the list as in the key itself, and in no other operation', async () => {
    const { json: all } = await get('/admin/keys?search=list');
    for (const key of all) {
      expect(key).toEqual((await get(`/admin/keys/${key.id}`)).json);
    }
    const { json } = await admin.send(`PATCH /admin/keys/${now.id}`, {});
    expect(json).not.toHaveProperty('lastUsedAt');
    expect(json).not.toHaveProperty('recentUsage');
  });
});

describe('GET /admin/keys while the journal of usage cannot be written', () => {
  it('returns 200 with the usage that is aggregated already', async () => {
    await admin.store.database.query('ALTER TABLE usage_batches RENAME TO batches_away');
    try {
      expect((await get(`/admin/keys/${hourAgo.id}`)).json.lastUsedAt).toMatch(/^2027-03-05T11/);
      expect(await get('/admin/keys?search=list')).toMatchObject({ status: 200 });
    } finally {
      await admin.store.database.query('ALTER TABLE batches_away RENAME TO usage_batches');
    }
  });
});

describe('GET /admin/keys?sort=', () => {
  const SORTS: [string, () => IssuedKey[]][] = [
    ['createdAt', () => [hourAgo, never, daysAgo, now]],
    ['-createdAt', () => [now, daysAgo, never, hourAgo]],
    ['name', () => [daysAgo, now, hourAgo, never]],
    ['-lastUsedAt', () => [now, hourAgo, daysAgo, never]],
    ['expiresAt', () => [never, hourAgo, daysAgo, now]],
    ['state', () => [now, daysAgo, never, hourAgo]],
  ];

  it.each(SORTS)('%s returns each key once and in order, over pages of any length', async (sort, keys) => {
    const { json } = await get(`/admin/keys?search=list&sort=${sort}`);
    expect(keyIds(json)).toEqual(keyIds(keys()));
    expect(await walk(`sort=${sort}`)).toEqual(keyIds(keys()));
  });

  it.each(SORTS)('%s returns each existing key exactly once while others are issued', async (sort, keys) => {
    const added: string[] = [];
    // They sort before and after the existing keys.
    const names = ['list z', 'list 0'];
    const ids = await walk(`sort=${sort}`, async () => {
      for (const name of names.splice(0, 1)) {
        added.push((await admin.issue({ name, expiresAt: '2999-01-01T00:00:00Z' })).id);
      }
    });
    expect(ids.filter((id) => !added.includes(id))).toEqual(keyIds(keys()));
    expect(new Set(ids).size).toBe(ids.length);
    await admin.store.database.query('DELETE FROM api_keys WHERE id = ANY ($1)', [added]);
  });

  it('state returns valid keys first, and each once while some are revoked between the pages', async () => {
    const revoked = await admin.issue({ name: 'list revoked' });
    const expired = await admin.issue({ name: 'list expired' });
    const last = await admin.issue({ name: 'list last' });
    admin.store.clock.travelTo(NOON);
    await admin.send(`POST /admin/keys/${revoked.id}/revoke`);
    await admin.store.database.query('UPDATE api_keys SET expires_at = $2 WHERE id = $1', [expired.id, NOON]);
    const expected = keyIds([last, now, daysAgo, never, hourAgo, expired, revoked]);
    admin.store.clock.travelTo(new Date(NOON.getTime() + HOUR_MS));
    // The first is on a page already, and the last is not yet.
    const ids = await walk('sort=state', async () => {
      admin.store.clock.travelTo(new Date(NOON.getTime() + 2 * HOUR_MS));
      for (const id of [last.id, hourAgo.id]) {
        await admin.send(`POST /admin/keys/${id}/revoke`);
      }
    });
    expect(ids).toEqual(expected);
    admin.store.clock.travelTo(new Date(NOON.getTime() + 3 * HOUR_MS));
    expect(await walk('sort=state')).toEqual(keyIds([now, daysAgo, never, last, expired, revoked, hourAgo]));
    const issued = keyIds([last, expired, revoked]);
    await admin.store.database.query('DELETE FROM api_keys WHERE id = ANY ($1)', [issued]);
    await admin.store.database.query('UPDATE api_keys SET revoked_at = NULL');
    admin.store.clock.travelTo(NOON);
  });

  it.each(['-lastUsedAt', 'expiresAt'])(
    'continues after the instant of a cursor, whichever offset it has: %s',
    async (sort) => {
      const after = (time: string) =>
        get(`/admin/keys?search=list&sort=${sort}&cursor=${encodeCursor(`${sort}|${UUID}|${time}`)}`);
      const expected = await after('2027-03-10T00:00:00.000Z');
      for (const time of ['2027-03-10T16:00:00+16:00', '2027-03-09T00:01:00-23:59']) {
        expect(await after(time)).toMatchObject({ status: 200, json: expected.json });
      }
    },
  );

  it('keeps a cursor of the longest name within the documented length', async () => {
    const name = '🐕'.repeat(255);
    const keys = [await admin.issue({ name }), await admin.issue({ name })];
    const search = encodeURIComponent('🐕'.repeat(64));
    const { json, headers } = await get(`/admin/keys?limit=1&sort=name&search=${search}`);
    expect(keyIds(json)).toEqual([keys[0]?.id]);
    expect(headers.get('link')?.length).toBeLessThanOrEqual(4096);
    expect(/cursor=([\w-]+)/.exec(headers.get('link') ?? '')?.[1]?.length).toBeLessThanOrEqual(1536);
    const pages = await readPages<KeyWithUsage>(get, `/admin/keys?limit=1&sort=name&search=${search}`);
    expect(keyIds(pages.flat())).toEqual(keyIds(keys));
  });
});

describe('the X-Total-Count of GET /admin/keys', () => {
  it('is the number of keys on all pages that the filters select', async () => {
    for (const [query, total] of [
      ['search=list&limit=1', '4'],
      ['search=list&limit=100', '4'],
      ['search=list&expiresBefore=2028-01-01T00:00:00Z&limit=1', '2'],
      ['search=nothing', '0'],
    ]) {
      const { status, headers } = await get(`/admin/keys?${query}`);
      expect([status, headers.get('x-total-count')]).toEqual([200, total]);
    }
  });

  it('is the same on the next page', async () => {
    const { headers } = await get('/admin/keys?search=list&limit=3');
    const next = parseLinks({ headers })['next'] ?? '';
    const { json, headers: second } = await get(next);
    expect([json.length, second.get('x-total-count')]).toEqual([1, '4']);
  });
});

describe('GET /admin/keys with a filter', () => {
  it('returns the keys of a quota', async () => {
    const { json: successor } = await admin.send(`POST /admin/keys/${daysAgo.id}/rotate`);
    const { json } = await get(`/admin/keys?quotaId=${daysAgo.quotaId.toUpperCase()}`);
    expect(keyIds(json)).toEqual([daysAgo.id, successor.id]);
    await admin.store.database.query('DELETE FROM api_keys WHERE id = $1', [successor.id]);
    await admin.store.database.query('UPDATE api_keys SET expires_at = NULL WHERE id = $1', [daysAgo.id]);
    expect((await get(`/admin/keys?quotaId=${UUID}`)).json).toStrictEqual([]);
  });

  it('returns the keys that are valid and expire before a time', async () => {
    const at = (days: number) => new Date(NOON.getTime() + days * DAY_MS).toISOString();
    const before = async (time: string) => walk(`expiresBefore=${encodeURIComponent(time)}`);
    expect(await before(at(10))).toStrictEqual([]);
    expect(await before('2027-03-15T14:00:30.001+01:30')).toEqual([never.id]);
    expect(await before(at(21))).toEqual([hourAgo.id, never.id]);
    admin.store.clock.travelTo(new Date(at(10)));
    expect(await before(at(21))).toEqual([hourAgo.id]);
    admin.store.clock.travelTo(NOON);
    const revoked = await admin.issue({ name: 'list revoked', expiresAt: at(1) });
    await admin.send(`POST /admin/keys/${revoked.id}/revoke`);
    expect(await before(at(2))).toStrictEqual([]);
  });

  it('returns the valid keys without a request since a time, if they were issued before it', async () => {
    const since = async (msAgo: number) =>
      walk(`unusedSince=${new Date(NOON.getTime() - msAgo).toISOString()}`);
    expect(await since(HOUR_MS / 2)).toEqual(keyIds([hourAgo, never, daysAgo]));
    expect(await since(DAY_MS)).toEqual(keyIds([never, daysAgo]));
    expect(await since(6 * DAY_MS)).toEqual([never.id]);
    expect(await since(100 * DAY_MS)).toStrictEqual([]);
  });

  it('combines filters with an order', async () => {
    const query = 'expiresBefore=2028-01-01T00:00:00Z&unusedSince=2027-03-05T12:00:00Z&sort=expiresAt';
    expect(await walk(query)).toEqual(keyIds([never, hourAgo]));
  });
});

describe('GET /admin/keys with an invalid cursor', () => {
  const FAULT = 'cursor was not issued by this service: follow the Link header of the previous page';
  const of = (sort: string) =>
    `cursor belongs to the sort order ${sort}: follow the Link header of the previous page`;

  it.each([
    ['of another order', 'createdAt', `name|${UUID}|Ann`, of('name')],
    ['of another order', 'name', `createdAt|${UUID}|`, of('createdAt')],
    ['of another order', '-createdAt', `expiresAt|${UUID}|`, of('expiresAt')],
    ...[
      UUID,
      `createdAt|${UUID}|x`,
      `age|${UUID}|`,
      `name|x|Ann`,
      `name|${UUID}|a\0b`,
      `-createdAt|${UUID}|x`,
      // The names of orders before the first release.
      `created|${UUID}|`,
      `lastUsed|${UUID}|2027-03-05T12:00:00.000Z`,
      `-lastUsedAt|${UUID}|soon`,
      `expiresAt|${UUID}|0000-01-01T00:00:00.000Z`,
      `state|${UUID}|`,
      `state|${UUID}|true`,
      `state|${UUID}|true@soon`,
      `state|${UUID}|maybe@2027-03-05T12:00:00.000Z`,
      `state|${UUID}|true@2027-03-05T12:00:00.000Z@`,
    ].map((position) => ['forged', 'name', position, FAULT]),
  ])('returns 400 for one that is %s: sort=%s, %j', async (_what, sort, position, fault) => {
    expectInvalid(await get(`/admin/keys?sort=${sort}&cursor=${encodeCursor(position)}`), fault);
  });
});
