import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiKeyCache } from '../src/auth/api-key-cache.js';
import { namedStatement, QueryRunner } from '../src/database/query-runner.js';
import { OrderRepository } from '../src/orders/order.repository.js';
import { type PageRequest, type PetPage, PetRepository } from '../src/pets/pet.repository.js';
import type { NewPet, Pet } from '../src/pets/pet.schemas.js';
import { startApplication, type TestApplication } from './support/application.js';
import { until } from './support/eventually.js';
import { hold } from './support/holding.js';

let store: TestApplication;
let pets: PetRepository;

beforeAll(async () => {
  store = await startApplication();
  pets = store.app.get(PetRepository);
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.database.query('TRUNCATE pets, orders RESTART IDENTITY');
});

type Named = { name: string };
const named = (name: string) => ({ name, categoryId: 1n });
const add = async (pet: NewPet): Promise<Pet> => ({ id: (await pets.create(pet)) as bigint, ...pet });

describe('animals that are added at the same time', () => {
  it('are one statement, and each is told its own identifier, in the order in which they came', async () => {
    const names = Array.from({ length: 200 }, (_, number) => `animal ${number}`);
    const added = await Promise.all(names.map((name) => add(named(name))));
    expect(added.map(({ id, name }) => [id, name])).toEqual(
      names.map((name, index) => [BigInt(index + 1), name]),
    );
    const stored = await store.database.query<{ name: string }>(
      'SELECT id, name, xmin::text AS transaction FROM pets ORDER BY id',
    );
    expect(stored.map(({ name }) => name)).toEqual(names);
    expect(new Set(stored.map((row) => (row as unknown as { transaction: string }).transaction)).size).toBe(
      1,
    );
  });

  it('do not fail with one that the database refuses, and are added once', async () => {
    const outcomes = await Promise.allSettled(
      ['first', 'x'.repeat(256), 'third', 'has \0 in it', 'fifth'].map((name) => add(named(name))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    const stored = await store.database.query<{ id: string; name: string }>(
      'SELECT id, name FROM pets ORDER BY id',
    );
    expect(stored.map(({ name }) => name)).toEqual(['first', 'third', 'fifth']);
    expect(
      outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [String(outcome.value.id)] : [])),
    ).toEqual(stored.map(({ id }) => id));
  });

  it('are hardly more statements for one that the database refuses', async () => {
    const statements = jest.spyOn(store.app.get(QueryRunner), 'run');
    const names = Array.from({ length: 64 }, (_, number) => (number === 40 ? '' : `animal ${number}`));
    const outcomes = await Promise.allSettled(names.map((name) => add(named(name))));
    const added = statements.mock.calls.filter(([{ name }]) => name === 'add-pets');
    statements.mockRestore();
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(63);
    // Two for each time that 64 can be halved, and the first.
    expect(added.length).toBeLessThanOrEqual(13);
  });

  it('keep what each of them is, though some have no status', async () => {
    const given = [
      { name: 'a', categoryId: -(2n ** 63n) },
      { name: 'b', categoryId: 2n ** 63n - 1n, status: 'sold' as const },
      { name: 'c', categoryId: 9_007_199_254_740_993n, status: 'available' as const },
    ];
    const added = await Promise.all(given.map((pet) => add(pet)));
    expect(added).toEqual(given.map((pet, index) => ({ id: BigInt(index + 1), ...pet })));
    expect(await Promise.all(added.map(({ id }) => pets.find(id)))).toEqual([
      '{"id":1,"name":"a","categoryId":-9223372036854775808}',
      '{"id":2,"name":"b","categoryId":9223372036854775807,"status":"sold"}',
      '{"id":3,"name":"c","categoryId":9007199254740993,"status":"available"}',
    ]);
  });
});

describe('animals that are looked for at the same time', () => {
  it('are each found or not, the same one by all who look for it', async () => {
    await Promise.all(['a', 'b', 'c'].map((name) => add(named(name))));
    const found = await Promise.all([3n, 1n, 99n, 3n, -(2n ** 63n), 2n].map((id) => pets.find(id)));
    expect(found.map((pet) => pet && (JSON.parse(pet) as Named).name)).toEqual([
      'c',
      'a',
      null,
      'c',
      null,
      'b',
    ]);
  });
});

it('a change of the schema fails nobody whose statement was prepared before', async () => {
  const { id } = await add(named('a'));
  await pets.find(id);
  try {
    await store.database.query('ALTER TABLE pets ALTER COLUMN category_id TYPE numeric');
    expect(await pets.find(id)).toBe('{"id":1,"name":"a","categoryId":1}');
  } finally {
    await store.database.query('ALTER TABLE pets ALTER COLUMN category_id TYPE bigint');
  }
});

describe('a question that is slow', () => {
  it('holds up no page that is asked for after it', async () => {
    await add(named('a'));
    const holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const waiting = `SELECT count(*)::int FROM pg_locks WHERE relation = 'pets'::regclass AND NOT granted`;
    const questions = async () => (await store.database.query<{ count: number }>(waiting))[0]?.count;
    const pages: Promise<PetPage>[] = [];
    try {
      pages.push(pets.page({ limit: 1 }));
      await until(async () => (await questions()) === 1);
      pages.push(pets.page({ limit: 2 }));
      await until(async () => (await questions()) === 2);
    } finally {
      await holder.letGo();
    }
    expect((await Promise.all(pages)).map(({ body }) => (JSON.parse(body) as unknown[]).length)).toEqual([
      1, 1,
    ]);
  });

  it('leaves connections to who asks for anything else, however many animals are asked for after it', async () => {
    await add(named('a'));
    const { quotaId } = await store.issue();
    const orders = store.app.get(OrderRepository);
    const holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const asked: Promise<unknown>[] = [];
    try {
      for (let limit = 1; limit <= 5; limit += 1) {
        asked.push(pets.page({ limit }), pets.find(1n), add(named('b')));
        asked.push(orders.create(quotaId, { petId: 1n, quantity: 1 }));
        // Until the question before counts as slow.
        await pause(30);
      }
      expect(await store.app.get(ApiKeyCache).find(randomBytes(32))).toBeNull();
    } finally {
      await holder.letGo();
    }
    await Promise.all(asked);
  });
});

describe('PetRepository.page', () => {
  it('returns the same text whether it is read alone, beside others, or as the animals it has', async () => {
    const names = ['plain', '"quoted" \\ / \b\f\n\r\t\u0001\u007f', '\u2028 é 🐶 </script>'];
    const statuses = [undefined, 'sold', 'available'] as const;
    const added = await Promise.all(
      names.map((name, index) => add({ ...named(name), status: statuses[index] })),
    );
    const requests: PageRequest[] = [
      { limit: 1 },
      { limit: 3 },
      { limit: 33 },
      { limit: 2, after: 1n },
      { limit: 100, after: 3n },
      { limit: 1, status: 'sold' },
      { limit: 1, status: 'sold', after: 2n },
    ];
    const alone: PetPage[] = [];
    for (const request of requests) {
      alone.push(await pets.page(request));
    }
    expect(await Promise.all(requests.map((request) => pets.page(request)))).toEqual(alone);
    const json = await Promise.all(added.map(({ id }) => pets.find(id)));
    expect(json.map((text) => JSON.parse(String(text)) as Named)).toEqual(
      added.map(({ name, status }, index) => ({
        id: index + 1,
        name,
        categoryId: 1,
        ...(status && { status }),
      })),
    );
    expect(alone).toEqual([
      { body: `[${json[0]}]`, lastId: '1' },
      { body: `[${json.join(',')}]`, lastId: null },
      { body: `[${json.join(',')}]`, lastId: null },
      { body: `[${json[1]},${json[2]}]`, lastId: null },
      { body: '[]', lastId: null },
      { body: `[${json[1]}]`, lastId: null },
      { body: '[]', lastId: null },
    ]);
  });

  it('shares one page among all that ask for it at the same time', async () => {
    await add(named('a'));
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => pets.page({ limit: 5 })));
    others.forEach((page) => expect(page).toBe(first));
  });
});

describe('a statement of the repository', () => {
  it('is planned by PostgreSQL a few times at first, and then never again', async () => {
    const lone = await startApplication({ environment: { DATABASE_POOL_SIZE: 2 } });
    await lone.database.query(
      `INSERT INTO pets (name, category_id, status)
       SELECT n, n, (ARRAY['available', 'pending', 'sold'])[n % 3 + 1]::pet_status FROM generate_series(1, 20000) n`,
    );
    await lone.database.query('ANALYZE pets');
    const itsPets = lone.app.get(PetRepository);
    for (let asked = 0; asked < 20; asked += 1) {
      await itsPets.page({ limit: 20 });
      await itsPets.page({ limit: 20, status: 'sold' });
      await Promise.all([itsPets.page({ limit: 20 }), itsPets.page({ limit: 20, status: 'sold' })]);
      await itsPets.find(7n);
    }
    const planned = await lone.app.get(QueryRunner).run(
      namedStatement(
        'plans',
        `SELECT left(name, -13), custom_plans::int, generic_plans::int FROM pg_prepared_statements
           WHERE name LIKE '%pets%' ORDER BY name`,
      ),
      [],
    );
    await lone.close();
    expect(planned).toEqual([
      ['find-pets', 5, 15],
      ['page-of-pets', 5, 15],
      ['page-of-pets-of-status', 5, 15],
      ['pages-of-pets', 5, 15],
    ]);
  });
});
