import { encodeCursor } from '../../src/schemas/pagination.js';
import { rowsRead } from '../support/database/rows-read.js';
import { startApplication, shareApplication } from '../support/service/application.js';
import { createDatabase } from '../support/database/database.js';

import { expectInvalid } from '../support/http/expectations.js';
import { type HttpResponse, listedIds, send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';

type Status = 'available' | 'pending' | 'sold';

const store = shareApplication();

beforeEach(async () => {
  await store.database.query('TRUNCATE pets RESTART IDENTITY CASCADE');
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
  return store.send(`/v1/pets${query}`);
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Adds animals of each status. */
async function post(...statuses: Status[]): Promise<void> {
  for (const status of statuses) {
    await store.send('/v1/pets', { method: 'POST', body: { name: 'new', categoryId: 1, status } });
  }
}

/** Returns the ids of each page; `between` runs after each. */
async function walk(query: string, between = async (_page: number) => {}): Promise<number[][]> {
  let read = 0;
  const pages = await readPages<{ id: number }>(store.send, `/v1/pets${query}`, () => between((read += 1)));
  return pages.map((pets) => pets.map(({ id }) => id));
}

describe('GET /v1/pets', () => {
  it('returns 200 with a bare array of animals, which may be empty', async () => {
    expect((await list()).text).toBe('[]');
    await store.database.query(
      `INSERT INTO pets (name, category_id, status) VALUES ('Rex', 9223372036854775807, 'sold'), ` +
        `('Tom', -1, NULL)`,
    );
    const response = await list();
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.text).toBe(
      '[{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"},' +
        '{"id":2,"name":"Tom","categoryId":-1}]',
    );
  });

  it('returns the oldest first, whatever the order of the table', async () => {
    await store.database.query(
      `INSERT INTO pets (id, name, category_id) VALUES (7, 'c', 1), (9007199254740993, 'd', 1), (-3, ` +
        `'a', 1), (5, 'b', 1)`,
    );
    await store.database.query("UPDATE pets SET name = 'A' WHERE id = -3");
    const { json } = await list();
    expect(json.map(({ name }: { name: string }) => name)).toEqual(['A', 'b', 'c', 'd']);
  });

  it('returns 20 animals by default, and links that say so', async () => {
    await addPets(21);
    const response = await list();
    expect(listedIds(response)).toEqual(range(1, 20));
    expect(parseLinks(response)).toEqual({
      next: expect.stringMatching(/^\/v1\/pets\?limit=20&cursor=[\w-]+$/),
      first: '/v1/pets?limit=20',
    });
  });

  it.each([1, 2, 99, 100])('returns %d animals when limit is given', async (limit) => {
    await addPets(120);
    expect(listedIds(await list(`?limit=${limit}`))).toEqual(range(1, limit));
  });

  it.each<[Status, number]>([
    ['available', 1],
    ['pending', 2],
    ['sold', 3],
  ])('returns only animals of status %s when status is given', async (status, first) => {
    await addPets(12, ['available', 'pending', 'sold', null]);
    const { json } = await list(`?status=${status}`);
    expect(json).toMatchObject([first, first + 4, first + 8].map((id) => ({ id, status })));
  });
});

/** Returns a query that names these animals. */
const named = (ids: (number | bigint)[]): string => ids.map((id) => `id=${id}`).join('&');

describe('GET /v1/pets?id=…', () => {
  const FAULT =
    'id must be given at most 100 times, each time as an integer from -9223372036854775808 to ' +
    '9223372036854775807, written as digits';

  it('returns 200 with the animal of that id alone, as the list has it', async () => {
    await addPets(3, ['sold', null, 'pending']);
    const response = await list('?id=3');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(response.text).toBe('[{"id":3,"name":"3","categoryId":3,"status":"pending"}]');
    expect(parseLinks(response)).toEqual({ first: '/v1/pets?limit=100&id=3' });
  });

  it('returns those that exist, each once and oldest first, in whatever order ids are given', async () => {
    await addPets(12);
    const response = await list(`?${named([10, 2, 999_999, 9, 2, -1])}&id=0010`);
    expect([response.status, listedIds(response)]).toEqual([200, [2, 9, 10]]);
  });

  it('returns 200 with an empty array if none exists', async () => {
    const { status, text, headers } = await list('?id=7&id=-9223372036854775808');
    expect([status, text]).toEqual([200, '[]']);
    expect(headers.get('link')).toBe('</v1/pets?limit=100&id=7&id=-9223372036854775808>; rel="first"');
  });

  it('returns only those of a status when status is given', async () => {
    await addPets(8, ['available', 'sold', null, 'pending']);
    expect(listedIds(await list(`?${named(range(1, 7))}&status=sold`))).toEqual([2, 6]);
    expect((await list('?id=3&status=sold')).text).toBe('[]');
  });

  it('distinguishes identifiers that are equal as doubles, to the ends of int64', async () => {
    const ids = [-9223372036854775808n, 9007199254740992n, 9007199254740993n, 9223372036854775807n];
    await store.database.query(
      "INSERT INTO pets (id, name, category_id) SELECT id, 'x', 1 FROM unnest($1::bigint[]) AS id",
      [ids.map(String)],
    );
    const shown = ({ text }: HttpResponse) => [...text.matchAll(/"id":(-?\d+)/g)].map(([, id]) => id);
    expect(shown(await list(`?${named(ids.toReversed())}`))).toEqual(ids.map(String));
    for (const id of ids) {
      expect(shown(await list(`?id=${id}`))).toEqual([String(id)]);
    }
  });

  it('returns as many as 100 at once, and 400 for 101', async () => {
    await addPets(120);
    const response = await list(`?${named(range(11, 110))}`);
    expect(listedIds(response)).toEqual(range(11, 110));
    expect(Object.keys(parseLinks(response))).toEqual(['first']);
    expect(listedIds(await list(`?${named([...range(1, 100), ...range(1, 100)])}`))).toEqual(range(1, 100));
    expectInvalid(await list(`?${named(range(1, 101))}`), FAULT);
  });

  it.each([
    ['id='],
    ['id=abc'],
    ['id=7.0'],
    ['id=7,9'],
    ['id=%207'],
    ['id=9223372036854775808'],
    ['id=-9223372036854775809'],
    ['id=7&id='],
    ['id=7&id=x&id=9'],
  ])('returns 400 that names id for %s', async (query) => {
    await addPets(9);
    const response = await list(`?${query}`);
    expectInvalid(response, FAULT);
    expect(response.headers.get('link')).toBeNull();
  });

  it.each(['limit=2', 'status=sold'])('returns 400 for another parameter repeated: %s', async (other) => {
    const fault = `${other.split('=')[0]} must be given once`;
    expectInvalid(await list(`?id=7&${other}&id=9&${other}`), fault);
    expectInvalid(await list(`?id=x&${other}&${other}`), `${fault}; ${FAULT}`);
  });

  it('has pages of limit animals, whose links keep the ids', async () => {
    await addPets(12, ['sold', 'available']);
    const query = `?limit=2&status=sold&${named([11, 1, 12, 9, 5, 3, 77])}`;
    const { first, next = '' } = parseLinks(await list(query));
    expect(first).toBe(`/v1/pets${query}`);
    expect(next).toMatch(
      /^\/v1\/pets\?limit=2&status=sold&id=11&id=1&id=12&id=9&id=5&id=3&id=77&cursor=[\w-]+$/,
    );
    expect(await walk(query)).toEqual([[1, 3], [5, 9], [11]]);
    expect(await walk(`?limit=3&${named([2, 4, 6])}`)).toEqual([[2, 4, 6]]);
  });

  it('counts as one request, however many ids it has', async () => {
    const { key } = await store.issue({ plan: 'enterprise', perMinute: 3, perDay: 10 });
    const { status, headers } = await store.send(`/v1/pets?${named(range(1, 100))}`, { key });
    expect([status, headers.get('x-ratelimit-remaining')]).toEqual([200, '2']);
  });

  it('returns the right animals to each of many requests at once, beside reads of one animal', async () => {
    await addPets(120);
    const requests = range(1, 60).map(async (id) => {
      const [several, one] = await Promise.all([
        list(`?id=${id + 60}&id=${id}`),
        store.send(`/v1/pets/${id}`),
      ]);
      return [...listedIds(several), one.json.id];
    });
    expect(await Promise.all(requests)).toEqual(range(1, 60).map((id) => [id, id + 60, id]));
  });
});

describe('the Link header of a list', () => {
  it('has the next and the first page, with the filters in force, as paths without a host', async () => {
    await addPets(9, ['sold', null, 'pending']);
    const response = await list('?status=sold&limit=2&color=brown');
    expect(response.headers.get('link')).toMatch(
      /^<\/v1\/pets\?limit=2&status=sold&cursor=[\w-]+>; rel="next", <\/v1\/pets\?limit=2&status=sold>; rel="first"$/,
    );
    const next = await store.send(parseLinks(response)['next'] ?? '');
    expect(listedIds(response)).toEqual([1, 4]);
    expect(listedIds(next)).toEqual([7]);
    expect(parseLinks(next)).toEqual({ first: '/v1/pets?limit=2&status=sold' });
  });

  it.each([
    ['not full', 3, '?limit=4'],
    ['exactly full', 4, '?limit=4'],
    ['exactly full, at the greatest limit', 100, '?limit=100'],
    ['exactly full of its status, though others follow', 8, '?limit=4&status=sold'],
  ])('has no next page when this page is %s', async (_name, count, query) => {
    await addPets(count, query.includes('status') ? ['sold', 'pending'] : [null]);
    expect(Object.keys(parseLinks(await list(query)))).toEqual(['first']);
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

  it.each([
    ['', range(1, 12)],
    ['&status=sold', [1, 3, 5, 7, 9, 11]],
  ])(
    'returns each earlier animal exactly once while others are added, and ends with the added ones: %s',
    async (filter, expected) => {
      await addPets(10, ['sold', 'available']);
      const pages = await walk(`?limit=3${filter}`, async (page) => {
        if (page === 1) {
          await post('sold', 'available');
        }
      });
      expect(pages.flat()).toEqual(expected);
    },
  );

  it('continues at the same position when the last animal of a page was deleted', async () => {
    await addPets(6);
    const first = await list('?limit=3');
    await store.database.query('DELETE FROM pets WHERE id = 3');
    expect(listedIds(await store.send(parseLinks(first)['next'] ?? ''))).toEqual([4, 5, 6]);
  });

  it('distinguishes identifiers that are equal as doubles', async () => {
    await store.database.query(
      'INSERT INTO pets (id, name, category_id) SELECT 9007199254740991 + n, n, n FROM ' +
        'generate_series(1, 6) n',
    );
    const pages = await readPages<{ name: string }>(store.send, '/v1/pets?limit=1');
    expect(pages.flat().map(({ name }) => name)).toEqual(['1', '2', '3', '4', '5', '6']);
  });
});

describe('GET /v1/pets, with 20,000 animals', () => {
  const COUNT = 20_000;
  /**
   * One animal of fifty is sold: a search by identifier reads thousands of animals to fill a page of sold
   * ones.
   */
  const STATUSES: Status[] = [
    ...Array<Status>(25).fill('available'),
    ...Array<Status>(24).fill('pending'),
    'sold',
  ];
  const DEEP = [COUNT / 2, (COUNT * 3) / 4].map((id) => `&cursor=${encodeCursor(String(id))}`);
  const QUERIES = ['', '&status=available', '&status=pending', '&status=sold'].flatMap((filter) =>
    ['', ...DEEP].map((cursor) => `?limit=100${filter}${cursor}`),
  );

  it('reads few more animals than it returns: any page, filtered or not, alone or in a batch', async () => {
    const database = await createDatabase();
    await addPets(COUNT, STATUSES, database);
    await database.query('VACUUM ANALYZE pets');
    const before = await rowsRead(database, 'pets');
    const reader = await startApplication({ database });
    const { key: readersKey } = await reader.issue();
    const read = async (query: string) => {
      const { status, json } = await send(`${reader.url}/v1/pets${query}`, { key: readersKey });
      expect([query, status, json.length]).toEqual([query, 200, 100]);
    };
    for (const query of QUERIES) {
      await read(query);
    }
    await Promise.all(QUERIES.map(read));
    await reader.close();
    const after = await rowsRead(database, 'pets');
    expect(after.scanned - before.scanned).toBe(0);
    expect(after.byIndex - before.byIndex).toBeGreaterThan(0);
    expect((after.byIndex - before.byIndex) / (2 * QUERIES.length)).toBeLessThan(300);
    await database.drop();
  });
});
