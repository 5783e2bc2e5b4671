import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { KeyDirectory } from '../src/auth/key-directory.js';
import { Statements } from '../src/database/statements.js';
import { type PetPage, PetRepository } from '../src/pets/pet.repository.js';
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

const named = (name: string) => ({ name, categoryId: 1n });

describe('animals that are added at the same time', () => {
  it('are one statement, and each is told its own identifier, in the order in which they came', async () => {
    const names = Array.from({ length: 200 }, (_, number) => `animal ${number}`);
    const added = await Promise.all(names.map((name) => pets.add(named(name))));
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
      ['first', 'x'.repeat(256), 'third', 'has \0 in it', 'fifth'].map((name) => pets.add(named(name))),
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
    const statements = jest.spyOn(store.app.get(Statements), 'run');
    const names = Array.from({ length: 64 }, (_, number) => (number === 40 ? '' : `animal ${number}`));
    const outcomes = await Promise.allSettled(names.map((name) => pets.add(named(name))));
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
    const added = await Promise.all(given.map((pet) => pets.add(pet)));
    expect(added).toEqual(given.map((pet, index) => ({ id: BigInt(index + 1), ...pet })));
    expect(await Promise.all(added.map(({ id }) => pets.find(id)))).toEqual(added);
  });
});

describe('animals that are looked for at the same time', () => {
  it('are each found or not, the same one by all who look for it', async () => {
    await Promise.all(['a', 'b', 'c'].map((name) => pets.add(named(name))));
    const found = await Promise.all([3n, 1n, 99n, 3n, -(2n ** 63n), 2n].map((id) => pets.find(id)));
    expect(found.map((pet) => pet?.name ?? null)).toEqual(['c', 'a', null, 'c', null, 'b']);
  });
});

it('a change of the schema fails nobody whose statement was prepared before', async () => {
  const { id } = await pets.add(named('a'));
  await pets.find(id);
  try {
    await store.database.query('ALTER TABLE pets ALTER COLUMN category_id TYPE numeric');
    expect(await pets.find(id)).toEqual({ id, ...named('a') });
  } finally {
    await store.database.query('ALTER TABLE pets ALTER COLUMN category_id TYPE bigint');
  }
});

describe('a question that is slow', () => {
  it('holds up no page that is asked for after it', async () => {
    await pets.add(named('a'));
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
    await pets.add(named('a'));
    const holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const asked: Promise<unknown>[] = [];
    try {
      for (let limit = 1; limit <= 5; limit += 1) {
        asked.push(pets.page({ limit }), pets.find(1n), pets.add(named('b')));
        // Until the question before counts as slow.
        await pause(30);
      }
      expect(await store.app.get(KeyDirectory).find(randomBytes(32))).toBeNull();
    } finally {
      await holder.letGo();
    }
    await Promise.all(asked);
  });
});

describe('a page', () => {
  it('is planned by PostgreSQL a few times at first, and then never again', async () => {
    const lone = await startApplication({ environment: { DATABASE_POOL_SIZE: 2 } });
    await lone.database.query(
      'INSERT INTO pets (name, category_id) SELECT n, n FROM generate_series(1, 20000) n',
    );
    await lone.database.query('ANALYZE pets');
    for (let asked = 0; asked < 20; asked += 1) {
      await lone.app.get(PetRepository).page({ limit: 20 });
    }
    const planned = await lone.app.get(Statements).run(
      {
        name: 'plans',
        text: `SELECT custom_plans::int, generic_plans::int FROM pg_prepared_statements WHERE name = 'page-of-pets'`,
      },
      [],
    );
    await lone.close();
    expect(planned).toEqual([[5, 15]]);
  });
});
