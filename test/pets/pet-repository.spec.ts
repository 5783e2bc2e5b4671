import { plansMade } from '../support/database/queries.js';
import { type PageRequest, PetRepository } from '../../src/pets/pet.repository.js';
import type { NewPet, Pet } from '../../src/pets/pet.schemas.js';
import type { Page } from '../../src/schemas/pagination.js';
import { startApplication, useApplication } from '../support/service/application.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually } from '../support/eventually.js';
import { hold } from '../support/database/holding.js';

const store = useApplication();
let pets: PetRepository;

beforeAll(async () => {
  pets = store.app.get(PetRepository);
});
beforeEach(async () => {
  await store.database.query('TRUNCATE pets RESTART IDENTITY CASCADE');
});

const named = (name: string) => ({ name, categoryId: 1n });
const add = async (pet: NewPet): Promise<Pet> => (await pets.create(pet)) as Pet;

it('PetRepository returns every field of an animal: created, by its id, in a page, in a batch', async () => {
  const pet: Required<NewPet> = { name: 'Rex', categoryId: 7n, status: 'sold' };
  const expected = { id: 1n, ...pet };
  expect(await pets.create(pet)).toEqual(expected);
  expect(await pets.find(1n)).toEqual(expected);
  const requests: PageRequest[] = [{ limit: 1 }, { limit: 1, status: 'sold' }];
  const alone = [await pets.page(requests[0]!), await pets.page(requests[1]!)];
  const batch = await Promise.all(requests.map((request) => pets.page(request)));
  for (const { entries } of [...alone, ...batch]) {
    expect(entries).toEqual([expected]);
  }
});

describe('PetRepository.find, with concurrent calls', () => {
  it('returns each animal or null, and the same animal to all callers', async () => {
    await Promise.all(['a', 'b', 'c'].map((name) => add(named(name))));
    const found = await Promise.all([3n, 1n, 99n, 3n, -(2n ** 63n), 2n].map((id) => pets.find(id)));
    expect(found.map((pet) => pet?.name)).toEqual(['c', 'a', undefined, 'c', undefined, 'b']);
  });
});

it('PetRepository.find returns an animal if the schema changed after it prepared its statement', async () => {
  const { id } = await add(named('a'));
  await pets.find(id);
  try {
    await store.database.query('ALTER TABLE pets ALTER COLUMN name TYPE varchar');
    expect(await pets.find(id)).toMatchObject({ id: 1n, name: 'a' });
  } finally {
    await store.database.query('ALTER TABLE pets ALTER COLUMN name TYPE text');
  }
});

describe('PetRepository, behind a slow query', () => {
  it('reads a page without waiting for the slow query', async () => {
    await add(named('a'));
    const holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const pages: Promise<Page<Pet>>[] = [];
    try {
      for (const limit of [1, 2]) {
        pages.push(pets.page({ limit }));
        await eventually(() => expectLocksWaitedFor(store.database, limit));
      }
    } finally {
      await holder.letGo();
    }
    const entries = [{ id: 1n, name: 'a', categoryId: 1n }];
    expect(await Promise.all(pages)).toEqual([
      { entries, last: null },
      { entries, last: null },
    ]);
  });
});

describe('PetRepository.page', () => {
  it('returns the same animals for a page read alone, beside others, or as single animals', async () => {
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
    const alone: Page<Pet>[] = [];
    for (const request of requests) {
      alone.push(await pets.page(request));
    }
    expect(await Promise.all(requests.map((request) => pets.page(request)))).toEqual(alone);
    const found = await Promise.all(added.map(({ id }) => pets.find(id)));
    expect(alone).toEqual([
      { entries: [found[0]], last: found[0] },
      { entries: found, last: null },
      { entries: found, last: null },
      { entries: found.slice(1), last: null },
      { entries: [], last: null },
      { entries: [found[1]], last: null },
      { entries: [], last: null },
    ]);
  });

  it('returns one shared page to all concurrent callers', async () => {
    await add(named('a'));
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => pets.page({ limit: 5 })));
    others.forEach((page) => expect(page).toBe(first));
  });
});

describe('a statement of PetRepository', () => {
  it('is planned by PostgreSQL a few times at first, and then no more, but for a page of all', async () => {
    const lone = await startApplication({ environment: { DATABASE_POOL_SIZE: 2 } });
    await lone.database.query(
      `INSERT INTO pets (name, category_id, status)
       SELECT n, n, (ARRAY['available', 'pending', 'sold'])[n % 3 + 1]::pet_status
       FROM generate_series(1, 20000) n`,
    );
    await lone.database.query('ANALYZE pets');
    const itsPets = lone.app.get(PetRepository);
    for (let round = 0; round < 20; round += 1) {
      await itsPets.page({ limit: 20 });
      await itsPets.page({ limit: 20, status: 'sold' });
      await Promise.all([itsPets.page({ limit: 20 }), itsPets.page({ limit: 20, status: 'sold' })]);
      await itsPets.find(7n);
    }
    const made = await plansMade(lone, 'FROM .*"?pets"?\\s+WHERE.*');
    await lone.close();
    // Not the statements that run once.
    const planned = made.filter(([, one, few]) => one + few > 1);
    // An animal by its id; pages of a status, and several pages; and a page of all, which looks cheaper if it
    // is planned by its values.
    expect(planned.toSorted(([, one, few], [, other, many]) => one - other || few - many)).toEqual([
      ['prisma', 5, 15],
      ['prisma', 5, 35],
      ['prisma', 20, 0],
    ]);
  });
});
