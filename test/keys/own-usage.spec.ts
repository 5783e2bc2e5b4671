import { SERVICE } from '../../src/audit/audit.js';
import type { Scope } from '../../src/auth/rules/scope.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { KeyService } from '../../src/keys/key.service.js';
import type { Usage } from '../../src/usage/usage.schemas.js';
import { encodeCursor } from '../../src/schemas/pagination.js';
import { expectError, expectInvalid, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type Init, send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { useApplication } from '../support/service/application.js';

const TODAY = new Date('2027-03-05T12:00:30.000Z');
/** Days before the one to which the requests of the tests themselves belong. */
const [THURSDAY, WEDNESDAY] = ['2027-03-04T00:00:00.000Z', '2027-03-03T00:00:00.000Z'];
const RANGE = `since=${WEDNESDAY}&until=2027-03-05T00:00:00.000Z`;
const CSV = { Accept: 'text/csv' };
const BAD_CURSOR = 'cursor was not issued by this service: follow the Link header of the previous page';

const ORIGIN = 'https://shop.example';

const store = useApplication({ environment: { CORS_ORIGINS: [ORIGIN] } });
let old: IssuedKey;
let next: IssuedKey;

beforeAll(async () => {
  store.clock.travelTo(TODAY);
  const scopes: Scope[] = ['pets:read', 'keys:write'];
  old = await store.issue({ ...UNLIMITED, scopes, name: '=HYPERLINK("https://evil.example")' });
  next = await store.app.get(KeyService).rotate(old.id, {}, SERVICE);
  await store.database.query('UPDATE api_keys SET name = $2 WHERE id = $1', [next.id, 'Ann, "the\nfirst"']);
  const other = await store.issue(UNLIMITED);
  const rows: [IssuedKey, string, string, boolean, number, number, number][] = [
    [old, THURSDAY, 'listPets', false, 5, 0, 0],
    [old, THURSDAY, 'getPet', true, 2, 0, 0],
    [next, THURSDAY, 'listPets', false, 3, 1, 1],
    [next, THURSDAY, 'none', false, 0, 1, 0],
    [old, WEDNESDAY, 'listPets', false, 7, 0, 0],
    [old, WEDNESDAY, 'getPet', false, 1, 0, 0],
    [old, WEDNESDAY, 'getPet', true, 1, 0, 0],
    [other, THURSDAY, 'listPets', false, 100, 0, 0],
  ];
  for (const [{ id, quotaId }, ...counts] of rows) {
    await store.database.query(
      `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated,
         succeeded, redirected, client_errors, server_errors, denied, last_request_at)
       VALUES ($1, $2, 'day', $3, $4, $5, $6, 0, $7, 0, $8, '2027-03-04')`,
      [id, quotaId, ...counts],
    );
  }
});
beforeEach(() => store.clock.travelTo(TODAY));

const get = (target: string, init: Init = {}) => send(`${store.url}${target}`, { key: next.key, ...init });

/** Returns the usage of a query from the first page to the last. */
async function walk(query: string) {
  const pages = await readPages<Usage>((target) => get(target), `/v1/usage?${query}`);
  return pages.flat();
}

const entry = (startsAt: string, split: object, succeeded: number, clientErrors = 0, denied = 0) => ({
  startsAt,
  ...split,
  requests: succeeded + clientErrors,
  denied,
  statuses: { '2xx': succeeded, '3xx': 0, '4xx': clientErrors, '5xx': 0 },
});

describe('GET /v1/usage?by=operation', () => {
  it.each([1, 2, 100])(
    'returns the usage of all keys of the quota, and of no other, by operation (limit %i)',
    async (limit) => {
      expect(await walk(`${RANGE}&by=operation&limit=${limit}`)).toEqual([
        entry(THURSDAY, { operation: 'getPet', deprecated: true }, 2),
        entry(THURSDAY, { operation: 'listPets', deprecated: false }, 8, 1, 1),
        entry(THURSDAY, { operation: 'none', deprecated: false }, 0, 1),
        entry(WEDNESDAY, { operation: 'getPet', deprecated: false }, 1),
        entry(WEDNESDAY, { operation: 'getPet', deprecated: true }, 1),
        entry(WEDNESDAY, { operation: 'listPets', deprecated: false }, 7),
      ]);
    },
  );
});

describe('GET /v1/usage?by=key', () => {
  it.each([1, 2, 100])(
    'returns the usage of each key of the quota, and of no other (limit %i)',
    async (limit) => {
      const [first, second] = [old, next].map(({ id: keyId, lastFour }) => ({ keyId, lastFour }));
      const keyName = { [old.id]: old.name, [next.id]: 'Ann, "the\nfirst"' };
      expect(await walk(`${RANGE}&by=key&limit=${limit}`)).toEqual([
        entry(THURSDAY, { ...first, keyName: keyName[old.id] }, 7),
        entry(THURSDAY, { ...second, keyName: keyName[next.id] }, 3, 2, 1),
        entry(WEDNESDAY, { ...first, keyName: keyName[old.id] }, 9),
      ]);
    },
  );
});

describe('GET /v1/usage?by=key without the scope keys:write', () => {
  it('returns the usage of the own key only, and without by that of all', async () => {
    const { id: keyId, key, name: keyName, lastFour } = await store.issue({ quotaId: old.quotaId });
    await store.database.query(
      `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated,
         succeeded, redirected, client_errors, server_errors, denied, last_request_at)
       VALUES ($1, $2, 'day', $3, 'listOrders', false, 4, 0, 0, 0, 0, $3)`,
      [keyId, old.quotaId, '2027-03-01T00:00:00.000Z'],
    );
    const range = 'since=2027-03-01T00:00:00.000Z&until=2027-03-05T00:00:00.000Z';
    const read = async (query: string) => (await get(`/v1/usage?${range}&${query}`, { key })).json;
    const own = entry('2027-03-01T00:00:00.000Z', { keyId, keyName, lastFour }, 4);
    expect(await read('by=key')).toEqual([own]);
    expect(await read('by=key&period=day&limit=1')).toEqual([own]);
    expect((await read('')).map(({ requests }: Usage) => requests)).toEqual([12, 9, 4]);
  });
});

describe('GET /v1/usage', () => {
  it('returns the fields of a split only with it', async () => {
    expect(await walk(RANGE)).toEqual([entry(THURSDAY, {}, 10, 2, 1), entry(WEDNESDAY, {}, 9)]);
  });

  it('has by in the links to other pages', async () => {
    const { next: target, first } = parseLinks(await get('/v1/usage?by=operation&limit=1'));
    expect(first).toBe('/v1/usage?limit=1&period=day&by=operation');
    expect(target).toMatch(/^\/v1\/usage\?limit=1&period=day&by=operation&cursor=[\w-]+$/);
  });

  it.each(['', '&by=operation', '&by=key'])('returns only the periods of a range (%s)', async (by) => {
    const entries = await walk(`since=${WEDNESDAY}&until=${THURSDAY}${by}&limit=1`);
    expect(new Set(entries.map(({ startsAt }) => startsAt))).toEqual(new Set([WEDNESDAY]));
    expect(entries.reduce((sum, { requests }) => sum + requests, 0)).toBe(9);
  });

  it('returns 400 when since is not before until', async () => {
    expectInvalid(await get(`/v1/usage?since=${THURSDAY}&until=${THURSDAY}`), 'since must be before until');
  });

  it.each(['plan', '', 'key,operation', 'toString'])('returns 400 when by is %j', async (by) => {
    expectInvalid(await get(`/v1/usage?by=${by}`), 'by must be one of operation, key');
  });

  it('returns 400 when by is repeated', async () => {
    expectInvalid(await get('/v1/usage?by=key&by=operation'), 'by must be given once');
  });

  it.each([
    ['', `${THURSDAY}|listPets|false`],
    ['', `${THURSDAY}|019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11`],
    ['by=operation&', THURSDAY],
    ['by=operation&', `${THURSDAY}|019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11`],
    ['by=operation&', `${THURSDAY}|listPets|maybe`],
    ['by=operation&', `${THURSDAY}|list\0Pets|true`],
    ['by=operation&', '0000-01-01T00:00:00Z|listPets|true'],
    ['by=key&', THURSDAY],
    ['by=key&', `${THURSDAY}|listPets|false`],
    ['by=key&', `${THURSDAY}|listPets`],
    ['by=key&', `${THURSDAY}|019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11|`],
  ])('returns 400 for a cursor of another list or of none: %s%j', async (query, position) => {
    expectInvalid(await get(`/v1/usage?${query}cursor=${encodeCursor(position)}`), BAD_CURSOR);
  });
});

describe('GET /v1/usage as CSV', () => {
  it('returns the same page, with the same links, as CSV with a header line', async () => {
    const json = await get(`/v1/usage?${RANGE}`);
    const { status, headers, text } = await get(`/v1/usage?${RANGE}`, { headers: CSV });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(headers.get('link')).toBe(json.headers.get('link'));
    expect([headers.get('vary'), json.headers.get('vary')]).toEqual(['Origin, Accept', 'Origin, Accept']);
    expect(headers.get('x-stability')).toBe('beta');
    expectRateLimitHeaders({ headers });
    expect(text).toBe(
      'startsAt,requests,denied,2xx,3xx,4xx,5xx\r\n' +
        '2027-03-04T00:00:00.000Z,12,1,10,0,2,0\r\n' +
        '2027-03-03T00:00:00.000Z,9,0,9,0,0,0\r\n',
    );
  });

  it('returns the operations as CSV, up to a page of its own', async () => {
    const cursor = encodeCursor(`${THURSDAY}|listPets|false`);
    const target = `/v1/usage?${RANGE}&by=operation&limit=2&cursor=${cursor}`;
    const response = await get(target, { headers: CSV });
    expect(response.text).toBe(
      'startsAt,operation,deprecated,requests,denied,2xx,3xx,4xx,5xx\r\n' +
        '2027-03-04T00:00:00.000Z,none,false,1,0,0,0,1,0\r\n' +
        '2027-03-03T00:00:00.000Z,getPet,false,1,0,1,0,0,0\r\n',
    );
    expect((await get(parseLinks(response)['next'] ?? '', { headers: CSV })).text).toBe(
      'startsAt,operation,deprecated,requests,denied,2xx,3xx,4xx,5xx\r\n' +
        '2027-03-03T00:00:00.000Z,getPet,true,1,0,1,0,0,0\r\n' +
        '2027-03-03T00:00:00.000Z,listPets,false,7,0,7,0,0,0\r\n',
    );
  });

  it('returns the keys as CSV, their names quoted, and without formulas', async () => {
    expect((await get(`/v1/usage?${RANGE}&by=key&limit=2`, { headers: CSV })).text).toBe(
      'startsAt,keyId,keyName,lastFour,requests,denied,2xx,3xx,4xx,5xx\r\n' +
        `${THURSDAY},${old.id},"'=HYPERLINK(""https://evil.example"")",${old.lastFour},7,0,7,0,0,0\r\n` +
        `${THURSDAY},${next.id},"Ann, ""the\nfirst""",${next.lastFour},5,1,3,0,2,0\r\n`,
    );
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['x;=1+1;y', "x;'=1+1;y"],
    ['x; @SUM(1)', "x; '@SUM(1)"],
    ['x\t+1', "x\t'+1"],
    ['x\n-1', `"x\n'-1"`],
    ['x\r\n=1', `"x\r\n'=1"`],
    ['x;"=1+1', `"x;""'=1+1"`],
    ['\t=1;\uff1d2;\uff0b3;\uff0d4;\uff20', "\t'=1;'\uff1d2;'\uff0b3;'\uff0d4;'\uff20"],
    ['a=b, -c; 1-2', '"a=b, -c; 1-2"'],
  ])('has no formula for a spreadsheet, whichever its separator is: %j', async (name, cell) => {
    const { key, id, quotaId } = await store.issue(UNLIMITED);
    await store.database.query('UPDATE api_keys SET name = $2 WHERE id = $1', [id, name]);
    await store.database.query(
      `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated,
         succeeded, redirected, client_errors, server_errors, denied, last_request_at)
       VALUES ($1, $2, 'day', $3, 'listPets', false, 1, 0, 0, 0, 0, $3)`,
      [id, quotaId, THURSDAY],
    );
    const { text } = await get(`/v1/usage?${RANGE}&by=key`, { key, headers: CSV });
    expect(text.slice(text.indexOf('\r\n') + 2).startsWith(`${THURSDAY},${id},${cell},`)).toBe(true);
  });

  it.each([
    ['', 'startsAt,requests'],
    ['?by=operation', 'startsAt,operation,deprecated,requests'],
    ['?by=key', 'startsAt,keyId,keyName,lastFour,requests'],
  ])('returns the header line alone for a quota without requests (%s)', async (query, columns) => {
    const { key } = await store.issue();
    const { status, text } = await get(`/v1/usage${query}`, { key, headers: CSV });
    expect([status, text]).toEqual([200, `${columns},denied,2xx,3xx,4xx,5xx\r\n`]);
  });

  it.each([
    ['text/csv', 'text/csv'],
    ['TEXT/CSV', 'text/csv'],
    ['text/csv; charset=utf-8', 'text/csv'],
    ['text/*', 'text/csv'],
    ['text/csv, application/json', 'text/csv'],
    ['application/json;q=0.8, text/csv;q=0.9', 'text/csv'],
    ['*/*;q=0.1, text/csv', 'text/csv'],
    ['*/*', 'application/json'],
    ['application/json, text/csv', 'application/json'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['text/csv;q=0.5, */*', 'application/json'],
    ['text/csv;q=0, */*', 'application/json'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json'],
    ['image/png', 'application/json'],
    ['', 'application/json'],
    ['text/csv;;q=x,', 'application/json'],
  ])('chooses the form by Accept: %j', async (accept, type) => {
    const { status, headers } = await get('/v1/usage', { headers: { Accept: accept } });
    expect([status, headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    expect(headers.get('vary')).toBe('Origin, Accept');
  });

  it('lets pages of allowed origins read the links of CSV', async () => {
    const { headers } = await get('/v1/usage', { headers: { ...CSV, Origin: ORIGIN } });
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-expose-headers')).toBe('*');
    expect(headers.get('vary')).toBe('Origin, Accept');
  });

  it('responds to HEAD with the headers of GET', async () => {
    const target = `/v1/usage?${RANGE}`;
    const full = await get(target, { headers: CSV });
    const head = await get(target, { method: 'HEAD', headers: CSV });
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'link', 'vary', 'x-stability']) {
      expect([name, head.headers.get(name)]).toEqual([name, full.headers.get(name)]);
    }
  });

  it('returns errors as JSON', async () => {
    expectInvalid(await get('/v1/usage?by=day', { headers: CSV }), 'by must be one of operation, key');
    expectError(await get('/v1/usage', { headers: CSV, key: undefined }), 401, 'missing_api_key');
    const { key } = await store.issue({ plan: 'enterprise', perMinute: 2, perDay: 10 });
    await get('/v1/usage', { headers: CSV, key });
    await get('/v1/usage', { headers: CSV, key });
    expectError(await get('/v1/usage', { headers: CSV, key }), 429, 'rate_limit_exceeded');
  });
});
