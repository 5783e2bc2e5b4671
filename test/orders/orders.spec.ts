import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { rowsRead } from '../support/database/rows-read.js';
import { eventually } from '../support/eventually.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { startApplication, type TestApplication, useApplication } from '../support/service/application.js';
import { expectError, expectInvalid, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, listedIds, send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';
import { hold } from '../support/database/holding.js';
import { readPages } from '../support/http/pages.js';

const PATH = '/v1/store/orders';

const store = useApplication();
let issued: IssuedKey;
let key: string;

beforeAll(async () => {
  issued = await store.issue(UNLIMITED);
  ({ key } = issued);
});
beforeEach(async () => {
  await store.database.query('TRUNCATE pets RESTART IDENTITY CASCADE');
  await store.database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7), ('Tom', 3)`);
});

function place(body: unknown, as = key): Promise<HttpResponse> {
  return send(`${store.url}${PATH}`, { method: 'POST', key: as, body });
}

function list(query = '', as = key): Promise<HttpResponse> {
  return send(`${store.url}${PATH}${query}`, { key: as });
}

/** Inserts orders of the quota by SQL, because the API cannot set a status. */
async function fill(quotaId: string, count: number): Promise<void> {
  await store.database.query(
    `INSERT INTO orders (quota_id, pet_id, quantity, status)
     SELECT $1, 1, n, ('{placed,approved,delivered}'::text[])[1 + (n - 1) % 3]
     FROM generate_series(1, $2) n`,
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
      '{"id":1,"petId":2,"quantity":3,"status":"placed","complete":false,' +
        '"shipDate":"2027-01-01T00:00:00.500Z"}',
    );
    expect(response.headers.get('x-stability')).toBe('experimental');
    expect((await list()).json).toEqual([response.json]);
  });

  it.each(['0001-01-01T00:00:00.000Z', '1850-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'])(
    'stores the instant %s as it is, whatever the time zone of the process',
    async (shipDate) => {
      // The tests run in New York, where the driver would write another, once even before year 1.
      expect(new Date(0).getTimezoneOffset()).toBe(300);
      const response = await place({ petId: 2, quantity: 1, shipDate });
      expect(response.json).toMatchObject({ shipDate });
      expect((await list()).json).toEqual([response.json]);
    },
  );

  it('accepts the greatest quantity and petId, and ignores unknown fields', async () => {
    await store.database.query(
      `INSERT INTO pets (id, name, category_id) VALUES (9223372036854775807, 'Max', 1)`,
    );
    const response = await place(
      '{"petId":9223372036854775807,"quantity":2147483647,"status":"delivered","complete":true,' +
        '"id":99,"quotaId":"x"}',
    );
    expect(response.status).toBe(201);
    expect(response.text).toBe(
      '{"id":1,"petId":9223372036854775807,"quantity":2147483647,"status":"placed","complete":false}',
    );
  });

  it('returns 400 for an unknown animal, with X-Stability, and places nothing', async () => {
    const response = await place({ petId: 3, quantity: 1 });
    expectInvalid(response, 'petId: no animal has the id 3');
    expect(response.headers.get('x-stability')).toBe('experimental');
    expect(await countOrders()).toBe(0);
  });

  it('returns 400 only for an animal deleted by SQL meanwhile, and places all others', async () => {
    const deletion = await hold(store.database.url, 'DELETE FROM pets WHERE id = 2');
    const orders = Promise.all([1, 2].map((petId) => place({ petId, quantity: 1 })));
    await eventually(() => expectLocksWaitedFor(store.database, 1));
    await deletion.letGo();
    const [one, two] = await orders;
    expect([one?.status, await countOrders()]).toEqual([201, 1]);
    expectInvalid(two!, 'petId: no animal has the id 2');
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
    expect(parseLinks(response)).toEqual({ first: `${PATH}?limit=20` });
  });

  it('never returns an order of another quota, also not by a cursor of that quota', async () => {
    const other = await store.issue(UNLIMITED);
    await fill(other.quotaId, 3);
    await fill(issued.quotaId, 3);
    expect(listedIds(await list())).toEqual([4, 5, 6]);
    expect(listedIds(await list('', other.key))).toEqual([1, 2, 3]);
    const { next = '' } = parseLinks(await list('?limit=1', other.key));
    expect(listedIds(await send(`${store.url}${next}`, { key }))).toEqual([4]);
    for (const status of ['placed', 'approved', 'delivered']) {
      expect(listedIds(await list(`?status=${status}`))).toHaveLength(1);
    }
  });

  it('returns the same orders to all keys of a quota', async () => {
    const { json: rotated } = await send(`${store.url}/admin/keys/${issued.id}/rotate`, {
      method: 'POST',
      key: (await store.issue({ ...UNLIMITED, role: 'admin' })).key,
    });
    await place({ petId: 1, quantity: 1 });
    expect(listedIds(await list('', rotated.key))).toEqual([1]);
  });

  it('returns each order once over all pages, even of one status and while orders are added', async () => {
    await fill(issued.quotaId, 25);
    const get = (target: string) => send(`${store.url}${target}`, { key });
    const addTwo = async (added: number) => (added < 2 ? place({ petId: 1, quantity: 1 }) : null);
    let added = 0;
    const pages = await readPages<{ id: number }>(get, `${PATH}?limit=10`, () => addTwo((added += 1)));
    expect(pages.flat().map(({ id }) => id)).toEqual(Array.from({ length: 26 }, (_, index) => index + 1));
    const { next = '' } = parseLinks(await list('?limit=2&status=approved'));

    expect(listedIds(await get(next))).toEqual([8, 11]);
  });

  describe('among 40,000 orders of 200 quotas', () => {
    let database: TestDatabase;
    let many: IssuedKey;
    let few: IssuedKey;

    beforeAll(async () => {
      database = await createDatabase();
      [many, few] = [await issueKey(database, UNLIMITED), await issueKey(database, UNLIMITED)];
      await database.query("INSERT INTO pets (name, category_id) VALUES ('Rex', 7)");
      await database.query(
        `INSERT INTO quotas (id, plan) SELECT gen_random_uuid(), 'free' FROM generate_series(1, 200)`,
      );
      // One quota that came last has as many orders as all others together; another has hardly any.
      await database.query(
        `INSERT INTO orders (quota_id, pet_id, quantity, status)
         SELECT id, 1, n, ('{placed,approved,delivered}'::text[])[1 + n % 3]
         FROM quotas, LATERAL generate_series(1, CASE id WHEN $1 THEN 20000 WHEN $2 THEN 3 ELSE 100 END) n
         ORDER BY id = $1, n`,
        [many.quotaId, few.quotaId],
      );
      await database.query('VACUUM ANALYZE orders');
    });
    afterAll(() => database.drop());

    it.each(['', '&status=approved'])('reads those of a page?limit=10%s, and hardly more', async (filter) => {
      const before = await rowsRead(database, 'orders');
      const reader = await startApplication({ database });
      const get = (target: string, as: IssuedKey) => send(`${reader.url}${target}`, { key: as.key });
      const first = `${PATH}?limit=10${filter}`;
      try {
        const page = await get(first, many);
        expect(listedIds(page)).toHaveLength(10);
        expect(listedIds(await get(parseLinks(page)['next'] ?? '', many))).toHaveLength(10);
        expect(listedIds(await get(first, few))).toHaveLength(filter === '' ? 3 : 1);
      } finally {
        await reader.close();
      }
      const after = await rowsRead(database, 'orders');
      expect(after.scanned - before.scanned).toBe(0);
      expect(after.byIndex - before.byIndex).toBeLessThan(40);
    });
  });
});

it.each([
  ['GET', 'beta'],
  ['POST', 'experimental'],
])('%s /v1/store/orders returns 401 without a key, with X-Stability: %s', async (method, stability) => {
  const response = await send(`${store.url}${PATH}`, { method });
  expectError(response, 401, 'missing_api_key');
  expect(response.headers.get('x-stability')).toBe(stability);
});

describe('/v1/store/orders, while experimental operations are off', () => {
  let production: TestApplication;

  beforeAll(async () => {
    production = await startApplication({ database: store.database, environment: { EXPERIMENTAL: false } });
  });
  afterAll(() => production.close());

  it.each<[string, unknown]>([
    ['a valid body', { petId: 1, quantity: 1 }],
    ['a body that is not JSON', '{'],
  ])('returns 404 to POST with %s, counts the request, and places nothing', async (_name, body) => {
    const message = 'This operation is experimental, and not offered in this environment.';
    const response = await send(`${production.url}${PATH}`, { method: 'POST', key, body });
    expectError(response, 404, 'not_found', message);
    expect(response.headers.get('x-stability')).toBe('experimental');
    expectRateLimitHeaders(response);
    expect(await countOrders()).toBe(0);
  });

  it('leaves POST out of Allow, and still returns the list', async () => {
    for (const [{ url }, allow] of [
      [production, 'GET, HEAD'],
      [store, 'GET, HEAD, POST'],
    ] as const) {
      const denied = await send(`${url}${PATH}`, { method: 'DELETE', key });
      expectError(denied, 405, 'method_not_allowed');
      expect(denied.headers.get('allow')).toBe(allow);
    }
    expect((await send(`${production.url}${PATH}`, { key })).status).toBe(200);
  });
});
