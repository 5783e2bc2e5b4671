import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { OrderRepository } from '../src/orders/order.repository.js';
import { startApplication, type TestApplication } from './support/application.js';
import { createDatabase } from './support/database.js';
import { eventually } from './support/eventually.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { type Answer, send } from './support/http.js';
import { linksOf } from './support/links.js';

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

function place(body: unknown, as = key): Promise<Answer> {
  return send(`${store.url}${PATH}`, { method: 'POST', key: as, body });
}

function list(query = '', as = key): Promise<Answer> {
  return send(`${store.url}${PATH}${query}`, { key: as });
}

const idsOf = ({ json }: Answer): number[] => (json as { id: number }[]).map(({ id }) => id);

/** Places orders of the quota beside the interface, which cannot give them a status. */
async function fill(quotaId: string, count: number, database = store.database): Promise<void> {
  await database.query(
    `INSERT INTO orders (quota_id, pet_id, quantity, status)
     SELECT $1, 1, n, ('{placed,approved,delivered}'::order_status[])[1 + (n - 1) % 3] FROM generate_series(1, $2) n`,
    [quotaId, count],
  );
}

async function countOrders(): Promise<number> {
  const [row] = await store.database.query<{ count: number }>('SELECT count(*)::int FROM orders');
  return row?.count ?? NaN;
}

describe('createOrder', () => {
  it('answers 201 with a placed order, and says that it is experimental', async () => {
    const answer = await place({ petId: 2, quantity: 3, shipDate: '2027-01-01T01:00:00.5+01:00' });
    expect(answer.status).toBe(201);
    expect(answer.text).toBe(
      '{"id":1,"petId":2,"quantity":3,"status":"placed","complete":false,"shipDate":"2027-01-01T00:00:00.500Z"}',
    );
    expect(answer.headers.get('x-stability')).toBe('experimental');
    expectRateLimitHeaders(answer);
    expect((await list()).json).toEqual([answer.json]);
  });

  it('leaves out a date that was not given', async () => {
    expect((await place({ petId: 1, quantity: 1 })).text).toBe(
      '{"id":1,"petId":1,"quantity":1,"status":"placed","complete":false}',
    );
  });

  it('takes the greatest quantity and identifier, and ignores what it does not know', async () => {
    await store.database.query(
      `INSERT INTO pets (id, name, category_id) VALUES (9223372036854775807, 'Max', 1)`,
    );
    const answer = await place(
      '{"petId":9223372036854775807,"quantity":2147483647,"status":"delivered","complete":true,"id":99,"quotaId":"x"}',
    );
    expect(answer.status).toBe(201);
    expect(answer.text).toBe(
      '{"id":1,"petId":9223372036854775807,"quantity":2147483647,"status":"placed","complete":false}',
    );
  });

  const QUANTITY = 'quantity must be an integer from 1 to 2147483647, written as digits';
  const SHIP_DATE = 'shipDate must be a date-time with its offset, such as 2027-01-01T00:00:00Z';
  const PET_ID =
    'petId must be an integer from -9223372036854775808 to 9223372036854775807, written as digits';

  it.each([
    [
      'an animal that is not there',
      '{"petId":3,"quantity":1}',
      'petId must be that of an animal; there is none with 3',
    ],
    ['no animal', '{"quantity":1}', 'petId is required'],
    ['no quantity', '{"petId":1}', 'quantity is required'],
    ['a petId that is a string', '{"petId":"1","quantity":1}', PET_ID],
    ['a petId that is no int64', '{"petId":9223372036854775808,"quantity":1}', PET_ID],
    ['a quantity of none', '{"petId":1,"quantity":0}', QUANTITY],
    ['a quantity below none', '{"petId":1,"quantity":-1}', QUANTITY],
    ['a quantity that is no int32', '{"petId":1,"quantity":2147483648}', QUANTITY],
    ['a quantity with a fraction', '{"petId":1,"quantity":1.0}', QUANTITY],
    ['a quantity that is null', '{"petId":1,"quantity":null}', QUANTITY],
    ['a date that is null', '{"petId":1,"quantity":1,"shipDate":null}', SHIP_DATE],
    ['a date without a time', '{"petId":1,"quantity":1,"shipDate":"2027-01-01"}', SHIP_DATE],
    ['a date-time without an offset', '{"petId":1,"quantity":1,"shipDate":"2027-01-01T00:00:00"}', SHIP_DATE],
    ['a day that there is not', '{"petId":1,"quantity":1,"shipDate":"2027-02-29T00:00:00Z"}', SHIP_DATE],
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
    ['several faults', '{"petId":1.5,"quantity":0}', `${PET_ID}; ${QUANTITY}`],
    ['a body that is no object', '[]', 'the body must be a JSON object'],
  ])('refuses %s with 400, and places nothing', async (_name, body, fault) => {
    const answer = await place(body);
    expectError(answer, 400, 'invalid_request', `The request is invalid: ${fault}.`);
    expect(answer.headers.get('x-stability')).toBe('experimental');
    expectRateLimitHeaders(answer);
    expect(await countOrders()).toBe(0);
  });

  it('of a quota that was removed by hand meanwhile is no fault of the request', async () => {
    const order = { petId: 1n, quantity: 1, shipDate: undefined };
    const placed = store.app.get(OrderRepository).create(randomUUID(), order);
    await expect(placed).rejects.toMatchObject({ constraint: 'orders_quota_id_fkey' });
    expect(await countOrders()).toBe(0);
  });

  it('has an identifier that no other order has, not even of another quota', async () => {
    await place({ petId: 1, quantity: 1 });
    const { quotaId } = await store.issue(UNLIMITED);
    const twin =
      'INSERT INTO orders (id, quota_id, pet_id, quantity) SELECT id, $1, pet_id, 2147483647 FROM orders';
    await expect(store.database.query(twin, [quotaId])).rejects.toMatchObject({
      code: '23505',
      constraint: 'orders_id_key',
    });
  });

  it('keeps an animal that is ordered from being removed by hand', async () => {
    await place({ petId: 1, quantity: 1 });
    await expect(store.database.query('DELETE FROM pets WHERE id = 1')).rejects.toMatchObject({
      // restrict_violation since PostgreSQL 18, foreign_key_violation before.
      code: expect.stringMatching(/^23(001|503)$/),
    });
  });
});

describe('listOrders', () => {
  it('answers 200 with a bare array, oldest first, and says that it is beta', async () => {
    await fill(issued.quotaId, 3);
    const answer = await list();
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(
      '[{"id":1,"petId":1,"quantity":1,"status":"placed","complete":false},' +
        '{"id":2,"petId":1,"quantity":2,"status":"approved","complete":false},' +
        '{"id":3,"petId":1,"quantity":3,"status":"delivered","complete":false}]',
    );
    expect(answer.headers.get('x-stability')).toBe('beta');
    expect(linksOf(answer)).toEqual({ first: `${PATH}?limit=20` });
    expectRateLimitHeaders(answer);
  });

  it('never shows an order of another quota, nor the place of one by a cursor', async () => {
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

  it('is shared by the keys of a quota', async () => {
    const { json: rotated } = await send(`${store.url}/admin/keys/${issued.id}/rotate`, {
      method: 'POST',
      key: (await store.issue({ ...UNLIMITED, role: 'admin' })).key,
    });
    await place({ petId: 1, quantity: 1 });
    expect(idsOf(await list('', rotated.key))).toEqual([1]);
  });

  it('walks over all pages, each order once, also of one status and under inserts', async () => {
    await fill(issued.quotaId, 25);
    const seen: number[] = [];
    for (let target: string | undefined = `${PATH}?limit=10`; target !== undefined;) {
      const answer: Answer = await send(`${store.url}${target}`, { key });
      seen.push(...idsOf(answer));
      target = linksOf(answer)['next'];
      await place({ petId: 1, quantity: 1 });
    }
    expect(seen.slice(0, 25)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(new Set(seen).size).toBe(seen.length);
    const { next = '' } = linksOf(await list('?limit=2&status=approved'));
    expect(next).toMatch(/^\/v1\/store\/orders\?limit=2&status=approved&cursor=/);
    expect(idsOf(await send(`${store.url}${next}`, { key }))).toEqual([8, 11]);
  });

  it('reads no orders of other quotas for a page of a quota with a large share of all', async () => {
    const database = await createDatabase();
    const reader = await startApplication({ database });
    const [mine, others] = [await reader.issue(UNLIMITED), await reader.issue(UNLIMITED)];
    await database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7)`);
    for (const [{ quotaId }, count] of [[others, 20_000] as const, [mine, 10_000] as const]) {
      await fill(quotaId, count, database);
    }
    await database.query('VACUUM ANALYZE orders');
    for (const query of ['', '?limit=100', '?limit=5&status=delivered']) {
      const { json } = await send(`${reader.url}${PATH}${query}`, { key: mine.key });
      expect(json[0].id).toBeGreaterThan(20_000);
    }
    await reader.close();
    // PostgreSQL has counted all that a connection read when the connection has ended.
    await eventually(async () =>
      expect(
        await database.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'animal-store%'`,
        ),
      ).toEqual([]),
    );
    const [{ read } = { read: NaN }] = await database.query<{ read: number }>(
      `SELECT (seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid))::int AS read
       FROM pg_stat_user_tables t WHERE relname = 'orders'`,
    );
    await database.drop();
    expect(read).toBeGreaterThanOrEqual(127);
    expect(read).toBeLessThan(1_000);
  });

  it.each([
    ['?limit=0', 'limit must be an integer from 1 to 100'],
    ['?status=sold', 'status must be one of placed, approved, delivered'],
    ['?cursor=x', 'cursor is not one that this service gave: follow the Link header of the page before'],
    ['?limit=1&limit=1', 'limit must be given once'],
  ])('refuses %s with 400', async (query, fault) => {
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
      // Who came last, and has as many as all others together; and who has hardly any.
      await fill(issued.quotaId, 20_000);
      await fill(few.quotaId, 3);
      await store.database.query('ANALYZE orders');
    });

    /** How many orders PostgreSQL reads for this page, asked by the statement that is really sent. */
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
      // Those that it passes by are told as removed.
      const counts = JSON.stringify(plan).matchAll(/"(Actual Rows|Rows Removed by Filter)":(\d+)/g);
      return Math.max(...[...counts].map(([, , rows]) => Number(rows)));
    }

    it.each(['', '&status=approved'])(
      'a page?limit=10%s reads the orders that it shows, and one more',
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

describe.each([
  ['without a key', undefined, 'missing_api_key'],
  ['with an unknown key', 'ask_test_x', 'invalid_api_key'],
])('orders %s', (_name, stranger, code) => {
  it('are neither shown nor placed, and tell their stability and the limits', async () => {
    const answers = [
      await send(`${store.url}${PATH}`, { key: stranger }),
      await send(`${store.url}${PATH}`, { method: 'POST', key: stranger, body: { petId: 1, quantity: 1 } }),
    ];
    for (const answer of answers) {
      expectError(answer, 401, code);
      expectRateLimitHeaders(answer);
    }
    expect(answers.map(({ headers }) => headers.get('x-stability'))).toEqual(['beta', 'experimental']);
    expect(await countOrders()).toBe(0);
  });
});

describe('where experiments are not offered', () => {
  let production: TestApplication;

  beforeAll(async () => {
    production = await startApplication({ database: store.database, environment: { EXPERIMENTAL: false } });
  });
  afterAll(() => production.close());

  const send404 = (body: unknown) => send(`${production.url}${PATH}`, { method: 'POST', key, body });

  it.each<[string, unknown]>([
    ['a good body', { petId: 1, quantity: 1 }],
    ['a bad one', { quantity: 0 }],
    ['one that is no JSON', '{'],
  ])('createOrder is 404 with %s, counted, and places nothing', async (_name, body) => {
    const answer = await send404(body);
    expectError(
      answer,
      404,
      'not_found',
      'This operation is experimental, and not offered in this environment.',
    );
    expect(answer.headers.get('x-stability')).toBe('experimental');
    expectRateLimitHeaders(answer);
    expect(await countOrders()).toBe(0);
  });

  it('nobody is told of it in Allow, and the list is there', async () => {
    const refused = await send(`${production.url}${PATH}`, { method: 'DELETE', key });
    expectError(refused, 405, 'method_not_allowed');
    expect(refused.headers.get('allow')).toBe('GET, HEAD');
    expect((await send(`${production.url}${PATH}`, { key })).status).toBe(200);
  });

  it('a stranger is told 401 first', async () => {
    const body = { petId: 1, quantity: 1 };
    expectError(await send(`${production.url}${PATH}`, { method: 'POST', body }), 401, 'missing_api_key');
  });
});

test('Allow names what is experimental where it is offered', async () => {
  const refused = await send(`${store.url}${PATH}`, { method: 'DELETE', key });
  expect(refused.headers.get('allow')).toBe('GET, HEAD, POST');
});
