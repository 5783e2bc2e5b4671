import { encodeCursor } from '../../src/schemas/pagination.js';
import { PAGES } from '../../src/pets/pet.repository.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { linksOf } from '../support/http/links.js';

type Status = 'available' | 'pending' | 'sold';

let store: TestApplication;
let key: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue({ plan: 'enterprise', perMinute: 100_000, perDay: 100_000 }));
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.database.query('TRUNCATE pets, orders RESTART IDENTITY');
});

/** Adds animals that are named after their identifiers; each in turn has one of the given statuses. */
async function addPets(
  count: number,
  statuses: readonly (Status | null)[] = [null],
  database = store.database,
): Promise<void> {
  await database.query(
    `INSERT INTO pets (name, category_id, status)
     SELECT n, n, ($2::pet_status[])[1 + (n - 1) % cardinality($2::text[])] FROM generate_series(1, $1) n`,
    [count, statuses],
  );
}

function list(query = ''): Promise<HttpResponse> {
  return send(`${store.url}/v1/pets${query}`, { key });
}

const idsOf = ({ json }: HttpResponse): number[] => (json as { id: number }[]).map(({ id }) => id);
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Follows `rel="next"` to the end; `between` runs after each page. */
async function walk(
  query: string,
  between: (page: number) => Promise<void> = async () => {},
): Promise<number[][]> {
  const pages: number[][] = [];
  let target: string | undefined = `/v1/pets${query}`;
  while (target !== undefined) {
    const response: HttpResponse = await send(`${store.url}${target}`, { key });
    expect(response.status).toBe(200);
    pages.push(idsOf(response));
    target = linksOf(response)['next'];
    if (pages.length > 50) {
      throw new Error('The walk does not end');
    }
    await between(pages.length);
  }
  return pages;
}

describe('GET /v1/pets', () => {
  it('returns 200 with a bare array of animals', async () => {
    await store.database.query(
      `INSERT INTO pets (name, category_id, status) VALUES ('Rex', 9223372036854775807, 'sold'), ('Tom', -1, NULL)`,
    );
    const response = await list();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.text).toBe(
      '[{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"},{"id":2,"name":"Tom","categoryId":-1}]',
    );
    expectRateLimitHeaders(response);
  });

  it('returns an empty array when there is no animal', async () => {
    const response = await list();
    expect(response.status).toBe(200);
    expect(response.text).toBe('[]');
    expect(linksOf(response)).toEqual({ first: '/v1/pets?limit=20' });
  });

  it('returns the oldest first, whatever the order of the table', async () => {
    await store.database.query(
      `INSERT INTO pets (id, name, category_id) VALUES (7, 'c', 1), (9007199254740993, 'd', 1), (-3, 'a', 1), (5, 'b', 1)`,
    );
    await store.database.query("UPDATE pets SET name = 'A' WHERE id = -3");
    const { json } = await list();
    expect(json.map(({ name }: { name: string }) => name)).toEqual(['A', 'b', 'c', 'd']);
  });

  it('returns 20 animals by default, and links that say so', async () => {
    await addPets(21);
    const response = await list();
    expect(idsOf(response)).toEqual(range(1, 20));
    expect(linksOf(response)).toEqual({
      next: expect.stringMatching(/^\/v1\/pets\?limit=20&cursor=[\w-]+$/),
      first: '/v1/pets?limit=20',
    });
  });

  it.each([1, 2, 20, 99, 100])('returns %d animals when limit is given', async (limit) => {
    await addPets(120);
    expect(idsOf(await list(`?limit=${limit}`))).toEqual(range(1, limit));
  });

  it.each<Status>(['available', 'pending', 'sold'])(
    'returns only animals of status %s when status is given',
    async (status) => {
      await addPets(12, ['available', 'pending', 'sold', null]);
      const response = await list(`?status=${status}`);
      expect(response.status).toBe(200);
      expect(response.json).toHaveLength(3);
      expect(response.json.map((pet: { status: Status }) => pet.status)).toEqual([status, status, status]);
      expect(idsOf(response)).toEqual(idsOf(response).toSorted((a, b) => a - b));
    },
  );

  it('ignores unknown parameters, repeated ones too', async () => {
    await addPets(3);
    for (const query of [
      '?color=brown',
      '?color=brown&color=black',
      '?__proto__=1&constructor=2&toString=3&hasOwnProperty=4',
      '?limit[]=0&Limit=0&LIMIT=x',
      '?color=%zz',
      '?&&=&',
      '?petId=2',
    ]) {
      const response = await list(query);
      expect([query, response.status, idsOf(response)]).toEqual([query, 200, [1, 2, 3]]);
    }
  });

  describe('GET /v1/pets, with an invalid parameter', () => {
    const LIMIT = 'limit must be an integer from 1 to 100';
    const STATUS = 'status must be one of available, pending, sold';
    const CURSOR = 'cursor is not one that this service gave: follow the Link header of the page before';
    const forged = (text: string) => `?cursor=${Buffer.from(text).toString('base64url')}`;

    it.each([
      ...['0', '101', '-1', '', '1%20', '1.0', '1e1', '%2B5', '05', '0x5', 'ten', '%zz', '%D9%A5'].map(
        (limit) => [`?limit=${limit}`, LIMIT],
      ),
      ['?limit', LIMIT],
      ['?limit=99999999999999999999', LIMIT],
      ...['', 'lost', 'SOLD', 'sold%20', 'sold,pending', 'null', 'toString', '%00'].map((status) => [
        `?status=${status}`,
        STATUS,
      ]),
      ['?status', STATUS],
      ...['', 'x', '1', 'MQ', '%00', '%zz', 'null', 'toString', 'x'.repeat(2000)].map((cursor) => [
        `?cursor=${cursor}`,
        CURSOR,
      ]),
      [forged('after:1'), CURSOR],
      [forged("1' OR '1'='1"), CURSOR],
      [forged('\0'.repeat(12)), CURSOR],
      ['?limit=5&limit=5', 'limit must be given once'],
      ['?limit=5&limit=', 'limit must be given once'],
      ['?status=sold&status=pending', 'status must be given once'],
      ['?cursor=x&cursor=x', 'cursor must be given once'],
      ['?limit=0&status=lost&cursor=x', `${LIMIT}; ${STATUS}; ${CURSOR}`],
      ['?limit=1&limit=2&status=lost', `limit must be given once; ${STATUS}`],
    ])('returns 400 invalid_request, naming it: %s', async (query, faults) => {
      const response = await list(query);
      expectError(response, 400, 'invalid_request', `The request is invalid: ${faults}.`);
      expectRateLimitHeaders(response);
      expect(response.headers.get('link')).toBeNull();
    });

    it('returns 400 invalid_request for a cursor that is changed anywhere', async () => {
      await addPets(300);
      const cursor = /cursor=([\w-]+)/.exec(linksOf(await list('?limit=100'))['next'] ?? '')?.[1] ?? '';
      expect(cursor).not.toBe('');
      const mangled = [
        cursor.slice(1),
        cursor.slice(0, -1),
        `${cursor}=`,
        `${cursor}A`,
        ` ${cursor}`,
        cursor.toLowerCase(),
      ];
      for (const each of mangled) {
        expectError(
          await list(`?cursor=${encodeURIComponent(each)}`),
          400,
          'invalid_request',
          expect.stringMatching(/cursor/),
        );
      }
    });
  });
});

describe('the Link header of a list', () => {
  it('has the next and the first page, with the filters in force, as paths without a host', async () => {
    await addPets(9, ['sold', null, 'pending']);
    const response = await list('?status=sold&limit=2&color=brown');
    expect(response.headers.get('link')).toMatch(
      /^<\/v1\/pets\?limit=2&status=sold&cursor=[\w-]+>; rel="next", <\/v1\/pets\?limit=2&status=sold>; rel="first"$/,
    );
    const next = await send(`${store.url}${linksOf(response)['next']}`, { key });
    expect(idsOf(response)).toEqual([1, 4]);
    expect(idsOf(next)).toEqual([7]);
    expect(linksOf(next)).toEqual({ first: '/v1/pets?limit=2&status=sold' });
  });

  it.each([
    ['not full', 3, '?limit=4'],
    ['exactly full', 4, '?limit=4'],
    ['exactly full, at the greatest limit', 100, '?limit=100'],
    ['exactly full of its status, though others follow', 8, '?limit=4&status=sold'],
  ])('has no next page when this page is %s', async (_name, count, query) => {
    await addPets(count, query.includes('status') ? ['sold', 'pending'] : [null]);
    expect(Object.keys(linksOf(await list(query)))).toEqual(['first']);
  });
});

describe('a walk over all pages', () => {
  it.each([
    [1, [1, 1, 1, 1, 1, 1]],
    [2, [2, 2, 2]],
    [4, [4, 2]],
    [100, [6]],
  ])('returns each animal exactly once, %d at a time', async (limit, lengths) => {
    await addPets(6);
    const pages = await walk(`?limit=${limit}`);
    expect(pages.map(({ length }) => length)).toEqual(lengths);
    expect(pages.flat()).toEqual(range(1, 6));
  });

  it('returns each earlier animal exactly once while others are added, and ends with the added ones', async () => {
    await addPets(10);
    const pages = await walk('?limit=3', async (page) => {
      if (page <= 3) {
        await send(`${store.url}/v1/pets`, { method: 'POST', key, body: { name: 'new', categoryId: 1 } });
      }
    });
    expect(pages.flat()).toEqual(range(1, 13));
  });

  it('returns each matching animal exactly once with a filter', async () => {
    await addPets(20, ['sold', 'available']);
    const pages = await walk('?limit=3&status=sold', async (page) => {
      for (const status of page <= 2 ? ['sold', 'available'] : []) {
        const body = { name: 'new', categoryId: 1, status };
        await send(`${store.url}/v1/pets`, { method: 'POST', key, body });
      }
    });
    expect(pages.flat()).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]);
  });

  it('continues at the same position when the last animal of a page was deleted', async () => {
    await addPets(6);
    const first = await list('?limit=3');
    await store.database.query('DELETE FROM pets WHERE id = 3');
    expect(idsOf(await send(`${store.url}${linksOf(first)['next']}`, { key }))).toEqual([4, 5, 6]);
  });

  it('distinguishes identifiers that are equal as doubles', async () => {
    await store.database.query(
      `INSERT INTO pets (id, name, category_id) SELECT 9007199254740991 + n, n, n FROM generate_series(1, 6) n`,
    );
    const names: string[] = [];
    let target: string | undefined = '/v1/pets?limit=1';
    while (target !== undefined && names.length < 10) {
      const response: HttpResponse = await send(`${store.url}${target}`, { key });
      names.push(...response.json.map(({ name }: { name: string }) => name));
      target = linksOf(response)['next'];
    }
    expect(names).toEqual(['1', '2', '3', '4', '5', '6']);
  });
});

describe('GET /v1/pets, with 20,000 animals', () => {
  const COUNT = 20_000;
  /** One animal of fifty is sold: a search by identifier reads thousands of animals to fill a page of sold ones. */
  const STATUSES: Status[] = [
    ...Array<Status>(25).fill('available'),
    ...Array<Status>(24).fill('pending'),
    'sold',
  ];
  const QUERIES = ['', '&status=available', '&status=pending', '&status=sold'].flatMap((filter) => [
    `?limit=100${filter}`,
    `?limit=100${filter}&cursor=${encodeCursor(String(COUNT / 2))}`,
    `?limit=100${filter}&cursor=${encodeCursor(String((COUNT * 3) / 4))}`,
  ]);

  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase();
    await addPets(COUNT, STATUSES, database);
    await database.query('VACUUM ANALYZE pets');
  });
  afterAll(() => database.drop());

  it('reads hardly more animals than it returns, for the first page or a deep one, filtered or not', async () => {
    const before = await reads();
    const reader = await startApplication({ database });
    const { key: readersKey } = await reader.issue();
    for (const query of QUERIES) {
      const { status, json } = await send(`${reader.url}/v1/pets${query}`, { key: readersKey });
      expect([query, status, json.length]).toEqual([query, 200, 100]);
    }
    await reader.close();
    // PostgreSQL updates its statistics of a connection when the connection ends.
    const connections = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'animal-store%'`;
    await until(async () => (await database.query(connections)).length === 0);
    const after = await reads();
    expect(after.sequentially - before.sequentially).toBe(0);
    expect(after.byIndex - before.byIndex).toBeGreaterThan(0);
    expect((after.byIndex - before.byIndex) / QUERIES.length).toBeLessThan(300);
  });

  it('uses an index for each kind of page, and neither sorts nor scans the table', async () => {
    const nodes = nodesOf(await planOf(PAGES.text));
    expect(
      nodes.filter((node) => node['Relation Name'] === 'pets').map((node) => node['Index Name']),
    ).toEqual(['pets_pkey', 'pets_status_id_idx']);
    // The input of a Limit is already in order.
    const cut = nodes.filter((node) => node['Node Type'] === 'Limit').flatMap(nodesOf);
    expect(new Set(cut.map((node) => node['Node Type']))).toEqual(new Set(['Limit', 'Result', 'Index Scan']));
  });

  /** Returns how many animals were read so far, as counted by PostgreSQL. */
  async function reads(): Promise<{ sequentially: number; byIndex: number }> {
    const [row] = await database.query<{ sequentially: number; byIndex: number }>(
      `SELECT t.seq_tup_read::int AS sequentially, sum(i.idx_tup_read)::int AS "byIndex"
       FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid)
       WHERE t.relname = 'pets' GROUP BY 1`,
    );
    return row as { sequentially: number; byIndex: number };
  }

  /** Returns the generic plan, which is the same for all parameters. */
  async function planOf(statement: string): Promise<PlanNode> {
    const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${statement}`,
    );
    return (row as NonNullable<typeof row>)['QUERY PLAN'][0].Plan;
  }
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
