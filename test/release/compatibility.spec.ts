import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Json } from '../../dev/release/compare-schemas.js';
import { findFaults } from '../../dev/release/find-faults.js';
import { lastRelease, readMigrations, recordRelease, type Release } from '../../dev/release/record.js';

const FACTS = { version: '1.10.0', date: '2026-12-05', commit: 'c0ffee' };
const TODAY = '2027-06-15';
let folder: string;
let release: Release;
let migrations: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'animal-store-releases-'));
  await recordRelease(FACTS, folder);
  // A lower version, though not by its letters.
  await cp(path.join(folder, FACTS.version), path.join(folder, '1.9.0'), { recursive: true });
  release = lastRelease(folder);
  const files = Object.entries(readMigrations()).map(([name, sql]) => [name, sql.toString()]);
  migrations = Object.fromEntries(files);
});
afterAll(() => rm(folder, { recursive: true }));

/** `structuredClone` would return objects of another realm, which differ to Node. */
const copy = (of: Release) => JSON.parse(JSON.stringify(of)) as Release;

/** Returns the faults of this tree, or of another, after a change of it. */
async function faultsOf(
  change: (tree: Release, sql: Record<string, string>) => void,
  of = release,
): Promise<string[]> {
  const tree = copy(of);
  const sql = { ...migrations };
  change(tree, sql);
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  tree.migrations = Object.fromEntries(Object.entries(sql).map(([name, text]) => [name, hash(text)]));
  const faults = await findFaults([of], tree, sql, TODAY);
  return faults.map(({ place, problem }) => `${place}: ${problem}`);
}

/** Returns a part of a document or of the names, by its keys. */
function part(tree: Release, file: 'openapi.json' | 'names', ...keys: string[]): Json {
  const root: Json = file === 'names' ? tree.names : tree.documents[file];
  return keys.reduce((parent, key) => parent[key] as Json, root);
}

const schema = (tree: Release, name: string) =>
  part(tree, 'openapi.json', 'components', 'schemas', name, 'properties');
const NEXT = '20991231000000_next';

describe('recordRelease', () => {
  it('keeps both documents, the names, and the checksums of the migrations', async () => {
    expect((await readdir(path.join(folder, FACTS.version))).toSorted()).toEqual([
      'admin-openapi.json',
      'migrations.json',
      'names.json',
      'openapi.json',
      'release.json',
    ]);
    expect(release).toMatchObject({
      ...FACTS,
      names: {
        settings: {
          forms: { PORT: 'value', POSTGRES_PASSWORD: 'value' },
          choices: { LOG_LEVEL: expect.arrayContaining(['info']) },
          required: [],
        },
        commands: {
          'animal-store keys issue': {
            forms: { '--name': 'value', '--json': 'no value' },
            required: ['--name'],
          },
        },
        metrics: {
          animal_store_query_duration_seconds: { type: 'histogram', labels: ['query'] },
          animal_store_rate_limit_denied_total: { type: 'counter', labels: ['plan', 'reason'] },
        },
        errorCodes: { not_found: 404 },
        columns: { 'pets.id': 'bigint NOT NULL', 'pets.status': 'pet_status' },
        events: expect.arrayContaining(['key.revoked']),
        auditActions: expect.arrayContaining(['key.issued']),
        client: {
          values: expect.arrayContaining(['AnimalStore']),
          types: expect.arrayContaining(['ApiResponse']),
          methods: expect.arrayContaining(['store.pets.list']),
        },
      },
    });
    expect(release.migrations).toMatchObject({
      '20261123000000_init': createHash('sha256').update(migrations['20261123000000_init']!).digest('hex'),
    });
  });

  it('refuses to record a release again', async () => {
    await expect(recordRelease(FACTS, folder)).rejects.toThrow('releases/1.10.0 exists');
  });
});

describe('findFaults', () => {
  it('returns nothing for a tree that is as it was recorded', async () => {
    expect(await faultsOf(() => {})).toEqual([]);
  });

  it('returns nothing for a tree that only adds', async () => {
    const faults = await faultsOf((tree, sql) => {
      schema(tree, 'Pet')['birthday'] = { type: 'string' };
      schema(tree, 'NewPet')['birthday'] = { type: 'string' };
      part(tree, 'openapi.json', 'paths')['/another-path'] = {};
      part(tree, 'names', 'settings', 'forms')['ANOTHER_SETTING'] = 'value';
      part(tree, 'names', 'columns')['pets.birthday'] = 'date';
      sql[NEXT] = 'ALTER TABLE "pets" ADD COLUMN "birthday" DATE;';
    });
    expect(faults).toEqual([]);
  });

  it.each<[string, string, (tree: Release, sql: Record<string, string>) => void]>([
    [
      'a field of a response is gone',
      'Pet.categoryId, of ',
      (tree) => delete schema(tree, 'Pet')['categoryId'],
    ],
    [
      'a value is gone',
      'PetStatus',
      (tree) => (part(tree, 'openapi.json', 'components', 'schemas', 'PetStatus')['enum'] = ['sold']),
    ],
    [
      'a request needs a field',
      'NewPet.status, of POST /v1/pets: It is required now',
      (tree) =>
        (part(tree, 'openapi.json', 'components', 'schemas', 'NewPet')['required'] = [
          'name',
          'categoryId',
          'status',
        ]),
    ],
    [
      'a bound is tightened',
      'NewPet.name, of POST /v1/pets: Its maxLength was 255, and is 9',
      (tree) =>
        (part(tree, 'openapi.json', 'components', 'schemas', 'NewPet', 'properties', 'name')['maxLength'] =
          9),
    ],
    [
      'a setting is gone',
      'settings → forms → PORT: It is gone',
      (tree) => delete part(tree, 'names', 'settings', 'forms')['PORT'],
    ],
    [
      'an option is gone',
      'commands → animal-store keys issue → forms → --plan',
      (tree) => delete part(tree, 'names', 'commands', 'animal-store keys issue', 'forms')['--plan'],
    ],
    [
      'a metric is gone',
      'metrics → animal_store_build_info: It is gone',
      (tree) => delete part(tree, 'names', 'metrics')['animal_store_build_info'],
    ],
    [
      'an error code is gone',
      'errorCodes → not_found: It is gone',
      (tree) => delete part(tree, 'names', 'errorCodes')['not_found'],
    ],
    [
      'a type of a column changes',
      'columns → pets.name: It was "text NOT NULL"',
      (tree) => (part(tree, 'names', 'columns')['pets.name'] = 'integer'),
    ],
    [
      'a released migration is edited',
      'prisma/migrations/20261123000000_init: It was released, and is another',
      (_tree, sql) => (sql['20261123000000_init'] += ' '),
    ],
    [
      'a new migration takes something away',
      `${NEXT}/migration.sql:1: DROP COLUMN pets.name: 1.10.0 still serves`,
      (_tree, sql) => (sql[NEXT] = 'ALTER TABLE "pets" DROP COLUMN "name";'),
    ],
    [
      'a new migration is no SQL',
      `${NEXT}/migration.sql: It is no SQL of PostgreSQL`,
      (_tree, sql) => (sql[NEXT] = 'ALTER TABEL "pets";'),
    ],
    [
      'an exception excepts nothing',
      'Its comment excepts DROP COLUMN pets.nmae',
      (_tree, sql) => (sql[NEXT] = '-- not-additive: DROP COLUMN pets.nmae: a typing error\nSELECT 1;'),
    ],
  ])('refuses that %s', async (_change, fault, change) => {
    const [first = '', ...others] = await faultsOf(change);
    expect(first).toContain(fault);
    // Operations of another stability have another notice.
    const [place = ''] = first.split(', of ');
    expect(others.filter((other) => !other.startsWith(place))).toEqual([]);
  });

  it('allows that the service gives up a column for a reason, and drops it a release later', async () => {
    const give = (tree: Release) => delete part(tree, 'names', 'columns')['pets.name'];
    expect(await faultsOf(give)).toEqual([expect.stringContaining('columns → pets.name: It is gone')]);
    const sql =
      '-- not-additive: DROP COLUMN pets.name: 1.11.0 uses title, and a trigger fills it for 1.10.0';
    expect(await faultsOf((tree, all) => give(tree) && (all[NEXT] = `${sql}\nSELECT 1;`))).toEqual([]);

    const later = copy(release);
    give(later);
    const drop = { ...migrations, [NEXT]: 'ALTER TABLE "pets" DROP COLUMN "name";' };
    expect(await findFaults([later], later, drop, TODAY)).toEqual([]);
  });

  it.each<[string, string, string | undefined]>([
    ['a column is gone', 'DROP COLUMN pets.name', undefined],
    ['a column is gone', 'RENAME COLUMN pets.name', undefined],
    ['a type changes', 'ALTER COLUMN TYPE pets.name', 'integer NOT NULL'],
    ['a column may be null', 'DROP NOT NULL pets.name', 'text'],
  ])('allows that %s only by its own exception: %s', async (_change, step, type) => {
    const kinds = ['DROP COLUMN', 'RENAME COLUMN', 'ALTER COLUMN TYPE', 'DROP NOT NULL', 'SET NOT NULL'];
    // Without the documents, which take longest to compare.
    const nothing = { paths: {} };
    const tables = { ...release, documents: { 'openapi.json': nothing, 'admin-openapi.json': nothing } };
    const excepting = [];
    for (const name of kinds.map((kind) => `${kind} pets.name`)) {
      const faults = await faultsOf((tree, sql) => {
        Object.assign(part(tree, 'names', 'columns'), { 'pets.name': type });
        sql[NEXT] = `-- not-additive: ${name}: nobody reads it\nSELECT 1;`;
      }, tables);
      excepting.push(...(faults.length === 0 ? [name] : []));
    }
    expect(excepting).toContain(step);
    expect(excepting).toHaveLength(type === undefined ? 2 : 1);
  });
});
