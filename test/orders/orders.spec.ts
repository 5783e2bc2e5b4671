import pg from 'pg';
import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { linksOf } from '../support/http/links.js';

const UNLIMITED = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };
const PATH = '/v1/store/orders';

let store: TestApplication;
let issued: IssuedKey;
let key: string;

beforeAll(async () => {
  store = await startApplication();
  issued = await store.issue(UNLIMITED);
  ({ key } = issued);
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.database.query('TRUNCATE pets, orders RESTART IDENTITY');
  await store.database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7), ('Tom', 3)`);
});

function place(body: unknown, as = key): Promise<HttpResponse> {
  return send(`${store.url}${PATH}`, { method: 'POST', key: as, body });
}

function list(query = '', as = key): Promise<HttpResponse> {
  return send(`${store.url}${PATH}${query}`, { key: as });
}

const idsOf = ({ json }: HttpResponse): number[] => (json as { id: number }[]).map(({ id }) => id);

/** Inserts orders of the quota by SQL, since the API cannot set a status. */
async function fill(quotaId: string, count: number): Promise<void> {
  await store.database.query(
    `INSERT INTO orders (quota_id, pet_id, quantity, status)
     SELECT $1, 1, n, ('{placed,approved,delivered}'::order_status[])[1 + (n - 1) % 3] FROM generate_series(1, $2) n`,
    [quotaId, count],
  );
}

async function countOrders(): Promise<number> {
  const [row] = await store.database.query<{ count: number }>('SELECT count(*)::int FROM orders');
  return row?.count ?? NaN;
}

describe('POST /v1/store/orders', () => {
  it('returns 201 with a placed order, and X-Stability: experimental', async () => {
    const response = await place({ petId: 2, quantity: 3, shipDate: '2027-01-01T01:00:00.5+01:00' });
    expect(response.status).toBe(201);
    expect(response.text).toBe(
      '{"id":1,"petId":2,"quantity":3,"status":"placed","complete":false,"shipDate":"2027-01-01T00:00:00.500Z"}',
    );
    expect(response.headers.get('x-stability')).toBe('experimental');
    expectRateLimitHeaders(response);
    expect((await list()).json).toEqual([response.json]);
  });

  it('leaves out shipDate when it was not given', async () => {
    expect((await place({ petId: 1, quantity: 1 })).text).toBe(
      '{"id":1,"petId":1,"quantity":1,"status":"placed","complete":false}',
    );
  });

  it('accepts the greatest quantity and petId, and ignores unknown fields', async () => {
    await store.database.query(
      `INSERT INTO pets (id, name, category_id) VALUES (9223372036854775807, 'Max', 1)`,
    );
    const response = await place(
      '{"petId":9223372036854775807,"quantity":2147483647,"status":"delivered","complete":true,"id":99,"quotaId":"x"}',
    );
    expect(response.status).toBe(201);
    expect(response.text).toBe(
      '{"id":1,"petId":9223372036854775807,"quantity":2147483647,"status":"placed","complete":false}',
    );
  });

  const QUANTITY = 'quantity must be an integer from 1 to 2147483647, written as digits';
  const SHIP_DATE = 'shipDate must be a date-time with its offset, such as 2027-01-01T00:00:00Z';
  const PET_ID =
    'petId must be an integer from -9223372036854775808 to 9223372036854775807, written as digits';

  it.each([
    [
      'an unknown animal',
      '{"petId":3,"quantity":1}',
      'petId must be that of an animal; there is none with 3',
    ],
    ['no petId', '{"quantity":1}', 'petId is required'],
    ['no quantity', '{"petId":1}', 'quantity is required'],
    ['a petId that is a string', '{"petId":"1","quantity":1}', PET_ID],
    ['a petId beyond int64', '{"petId":9223372036854775808,"quantity":1}', PET_ID],
    ['a quantity of zero', '{"petId":1,"quantity":0}', QUANTITY],
    ['a negative quantity', '{"petId":1,"quantity":-1}', QUANTITY],
    ['a quantity beyond int32', '{"petId":1,"quantity":2147483648}', QUANTITY],
    ['a quantity with a fraction', '{"petId":1,"quantity":1.0}', QUANTITY],
    ['a quantity that is null', '{"petId":1,"quantity":null}', QUANTITY],
    ['a date that is null', '{"petId":1,"quantity":1,"shipDate":null}', SHIP_DATE],
    ['a date without a time', '{"petId":1,"quantity":1,"shipDate":"2027-01-01"}', SHIP_DATE],
    ['a date-time without an offset', '{"petId":1,"quantity":1,"shipDate":"2027-01-01T00:00:00"}', SHIP_DATE],
    ['a day that does not exist', '{"petId":1,"quantity":1,"shipDate":"2027-02-29T00:00:00Z"}', SHIP_DATE],
    ['a date in the year 0', '{"petId":1,"quantity":1,"shipDate":"0000-01-01T00:00:00Z"}', SHIP_DATE],
    [
      'a date that its offset carries into the year 0',
      '{"petId":1,"quantity":1,"shipDate":"0001-01-01T00:00:00+14:00"}',
      SHIP_DATE,
    ],
    [
      'a date that its offset carries into the year 10000',
      '{"petId":1,"quantity":1,"shipDate":"9999-12-31T23:59:59-00:01"}',
      SHIP_DATE,
    ],
    ['a number for a date', '{"petId":1,"quantity":1,"shipDate":1}', SHIP_DATE],
    ['several invalid fields', '{"petId":1.5,"quantity":0}', `${PET_ID}; ${QUANTITY}`],
    ['a body that is not an object', '[]', 'the body must be a JSON object'],
  ])('returns 400 for %s, and places nothing', async (_name, body, fault) => {
    const response = await place(body);
    expectError(response, 400, 'invalid_request', `The request is invalid: ${fault}.`);
    expect(response.headers.get('x-stability')).toBe('experimental');
    expectRateLimitHeaders(response);
    expect(await countOrders()).toBe(0);
  });

  it('gives each order a unique id, also across quotas', async () => {
    await place({ petId: 1, quantity: 1 });
    const { quotaId } = await store.issue(UNLIMITED);
    const twin =
      'INSERT INTO orders (id, quota_id, pet_id, quantity) SELECT id, $1, pet_id, 2147483647 FROM orders';
    await expect(store.database.query(twin, [quotaId])).rejects.toMatchObject({
      code: '23505',
      constraint: 'orders_id_key',
    });
  });

  it('protects an ordered animal from deletion by SQL', async () => {
    await place({ petId: 1, quantity: 1 });
    await expect(store.database.query('DELETE FROM pets WHERE id = 1')).rejects.toMatchObject({
      // restrict_violation since PostgreSQL 18, foreign_key_violation before.
      code: expect.stringMatching(/^23(001|503)$/),
    });
  });
});

describe('GET /v1/store/orders', () => {
  it('returns 200 with a bare array, oldest first, and X-Stability: beta', async () => {
    await fill(issued.quotaId, 3);
    const response = await list();
    expect(response.status).toBe(200);
    expect(response.text).toBe(
      '[{"id":1,"petId":1,"quantity":1,"status":"placed","complete":false},' +
        '{"id":2,"petId":1,"quantity":2,"status":"approved","complete":false},' +
        '{"id":3,"petId":1,"quantity":3,"status":"delivered","complete":false}]',
    );
    expect(response.headers.get('x-stability')).toBe('beta');
    expect(linksOf(response)).toEqual({ first: `${PATH}?limit=20` });
    expectRateLimitHeaders(response);
  });

  it('never returns an order of another quota, also not by a cursor of that quota', async () => {
    const other = await store.issue(UNLIMITED);
    await fill(other.quotaId, 3);
    await fill(issued.quotaId, 3);
    expect(idsOf(await list())).toEqual([4, 5, 6]);
    expect(idsOf(await list('', other.key))).toEqual([1, 2, 3]);
    const { next = '' } = linksOf(await list('?limit=1', other.key));
    expect(idsOf(await send(`${store.url}${next}`, { key }))).toEqual([4]);
    for (const status of ['placed', 'approved', 'delivered']) {
      expect(idsOf(await list(`?status=${status}`))).toHaveLength(1);
    }
  });

  it('returns the same orders to all keys of a quota', async () => {
    const { json: rotated } = await send(`${store.url}/admin/keys/${issued.id}/rotate`, {
      method: 'POST',
      key: (await store.issue({ ...UNLIMITED, role: 'admin' })).key,
    });
    await place({ petId: 1, quantity: 1 });
    expect(idsOf(await list('', rotated.key))).toEqual([1]);
  });

  it('returns each order once over all pages, also of one status and while orders are added', async () => {
    await fill(issued.quotaId, 25);
    const seen: number[] = [];
    for (let target: string | undefined = `${PATH}?limit=10`; target !== undefined;) {
      const response: HttpResponse = await send(`${store.url}${target}`, { key });
      seen.push(...idsOf(response));
      target = linksOf(response)['next'];
      await place({ petId: 1, quantity: 1 });
    }
    expect(seen.slice(0, 25)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(new Set(seen).size).toBe(seen.length);
    const { next = '' } = linksOf(await list('?limit=2&status=approved'));
    expect(next).toMatch(/^\/v1\/store\/orders\?limit=2&status=approved&cursor=/);
    expect(idsOf(await send(`${store.url}${next}`, { key }))).toEqual([8, 11]);
  });

  it.each([
    ['?limit=0', 'limit must be an integer from 1 to 100'],
    ['?status=sold', 'status must be one of placed, approved, delivered'],
    ['?cursor=x', 'cursor is not one that this service gave: follow the Link header of the page before'],
    ['?limit=1&limit=1', 'limit must be given once'],
  ])('returns 400 for %s', async (query, fault) => {
    expectError(await list(query), 400, 'invalid_request', `The request is invalid: ${fault}.`);
  });

  describe('among 40,000 orders of 200 quotas', () => {
    let few: IssuedKey;

    beforeEach(async () => {
      few = await store.issue(UNLIMITED);
      await store.database.query(
        `WITH others AS (INSERT INTO quotas (id, plan) SELECT gen_random_uuid(), 'free' FROM generate_series(1, 200) RETURNING id)
         INSERT INTO orders (quota_id, pet_id, quantity, status)
         SELECT id, 1, n, ('{placed,approved,delivered}'::order_status[])[1 + n % 3] FROM generate_series(1, 100) n, others ORDER BY n`,
      );
      // One quota that came last has as many orders as all others together; another has hardly any.
      await fill(issued.quotaId, 20_000);
      await fill(few.quotaId, 3);
      await store.database.query('ANALYZE orders');
    });

    /** Returns how many orders PostgreSQL reads for this page, by the query that the service really sends. */
    async function readsFor(target: string, as: string): Promise<number> {
      const sent = jest.spyOn(pg.Client.prototype, 'query');
      expect((await send(`${store.url}${target}`, { key: as })).status).toBe(200);
      const statements = sent.mock.calls.flat() as unknown as (pg.QueryConfig | undefined)[];
      sent.mockRestore();
      const [statement, ...others] = statements.filter((each) => each?.text?.includes('"orders"'));
      expect(others).toEqual([]);
      const plan = await store.database.query(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${statement?.text}`,
        statement?.values,
      );
      // Skipped orders are reported as rows removed by a filter.
      const counts = JSON.stringify(plan).matchAll(/"(Actual Rows|Rows Removed by Filter)":(\d+)/g);
      return Math.max(...[...counts].map(([, , rows]) => Number(rows)));
    }

    it.each(['', '&status=approved'])(
      'reads the orders of a page?limit=10%s, and one more',
      async (filter) => {
        const first = `${PATH}?limit=10${filter}`;
        const { next = '' } = linksOf(await send(`${store.url}${first}`, { key }));
        expect(await readsFor(first, key)).toBe(11);
        expect(await readsFor(next, key)).toBe(11);
        expect(await readsFor(first, few.key)).toBe(filter === '' ? 3 : 1);
      },
    );
  });
});

it.each([
  ['GET', 'beta', undefined],
  ['POST', 'experimental', { petId: 1, quantity: 1 }],
])('%s /v1/store/orders returns 401 without a key, with X-Stability: %s', async (method, stability, body) => {
  const response = await send(`${store.url}${PATH}`, { method, body });
  expectError(response, 401, 'missing_api_key');
  expect(response.headers.get('x-stability')).toBe(stability);
  expect(await countOrders()).toBe(0);
});

describe('/v1/store/orders, while experimental operations are off', () => {
  let production: TestApplication;

  beforeAll(async () => {
    production = await startApplication({ database: store.database, environment: { EXPERIMENTAL: false } });
  });
  afterAll(() => production.close());

  const send404 = (body: unknown) => send(`${production.url}${PATH}`, { method: 'POST', key, body });

  it.each<[string, unknown]>([
    ['a valid body', { petId: 1, quantity: 1 }],
    ['an invalid body', { quantity: 0 }],
    ['a body that is not JSON', '{'],
  ])('returns 404 to POST with %s, counts the request, and places nothing', async (_name, body) => {
    const response = await send404(body);
    expectError(
      response,
      404,
      'not_found',
      'This operation is experimental, and not offered in this environment.',
    );
    expect(response.headers.get('x-stability')).toBe('experimental');
    expectRateLimitHeaders(response);
    expect(await countOrders()).toBe(0);
  });

  it('leaves POST out of Allow, and still returns the list', async () => {
    const denied = await send(`${production.url}${PATH}`, { method: 'DELETE', key });
    expectError(denied, 405, 'method_not_allowed');
    expect(denied.headers.get('allow')).toBe('GET, HEAD');
    expect((await send(`${production.url}${PATH}`, { key })).status).toBe(200);
  });
});

it('/v1/store/orders has POST in Allow if experimental operations are enabled', async () => {
  const denied = await send(`${store.url}${PATH}`, { method: 'DELETE', key });
  expect(denied.headers.get('allow')).toBe('GET, HEAD, POST');
});
