import {
  findNonAdditiveSteps,
  loadParser,
  parseMigration,
  readExceptions,
  ReleasedDatabase,
} from '../../dev/release/additive.js';

const RELEASED = `
  CREATE TABLE "pets" ("id" BIGINT, "label" TEXT, CONSTRAINT "pets_label_length" CHECK ("label" <> ''));
  CREATE UNIQUE INDEX "pets_label_key" ON "pets" ("label");
  CREATE UNIQUE INDEX "first_name" ON "pets" ("label");
  ALTER INDEX "first_name" RENAME TO "second_name";
  CREATE INDEX "pets_label_idx" ON "pets" ("label");
  CREATE FUNCTION old() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;`;
let released: ReleasedDatabase;

beforeAll(async () => {
  await loadParser();
  released = new ReleasedDatabase(
    { 'pets.id': 'bigint NOT NULL', 'pets.label': 'text', 'pets.state': 'pet_state' },
    parseMigration(RELEASED),
  );
});

const findSteps = (sql: string) => findNonAdditiveSteps(parseMigration(sql), released);
const steps = (sql: string) => findSteps(sql).map(({ name }) => name);

describe('findNonAdditiveSteps', () => {
  it.each([
    'CREATE TABLE "visits" ("id" BIGINT NOT NULL)',
    'ALTER TABLE "pets" ADD COLUMN "name" TEXT',
    `ALTER TABLE "pets" ADD COLUMN "name" TEXT NOT NULL DEFAULT ''`,
    'ALTER TABLE "pets" ADD COLUMN "number" BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY',
    'ALTER TABLE "pets" ADD COLUMN "number" BIGSERIAL NOT NULL',
    `ALTER TABLE "pets" ALTER COLUMN "label" SET DEFAULT ''`,
    'ALTER TABLE "pets" ADD CONSTRAINT "name_length" CHECK (length("name") < 9) NOT VALID',
    'ALTER TABLE "pets" VALIDATE CONSTRAINT "name_length"',
    'ALTER TABLE "pets" DROP CONSTRAINT "pets_label_length"',
    'ALTER TABLE "pets" ALTER COLUMN "name" TYPE VARCHAR(9), DROP COLUMN "unknown"',
    `ALTER TABLE "pets" ALTER COLUMN "name" SET DEFAULT ''; ALTER TABLE "pets" ALTER "name" SET NOT NULL`,
    `ALTER TABLE "pets" ADD COLUMN "name" TEXT DEFAULT '', ALTER COLUMN "name" SET NOT NULL`,
    'ALTER TABLE "visits" ALTER COLUMN "id" TYPE TEXT, DROP COLUMN "day"',
    'ALTER TABLE "pets" ADD COLUMN "name" TEXT DEFAULT NULL; ALTER TABLE "pets" ALTER "name" DROP DEFAULT',
    `ALTER TABLE "pets" ADD COLUMN "n" INT DEFAULT 0 CHECK ("n" IS NOT NULL)`,
    `ALTER TABLE "pets" ADD COLUMN "n" INT CHECK ("n" > 0) REFERENCES "visits" DEFAULT 1`,
    'ALTER TABLE "pets" ADD COLUMN "n" UUID NOT NULL DEFAULT gen_random_uuid() UNIQUE',
    'ALTER TABLE "pets" ADD COLUMN "n" INT UNIQUE; CREATE UNIQUE INDEX "u" ON "pets" ("n")',
    'CREATE INDEX CONCURRENTLY "pets_name_idx" ON "pets" ("label")',
    'CREATE UNIQUE INDEX "pets_name_key" ON "pets" ("name")',
    'DROP INDEX "pets_label_idx"',
    'DROP TABLE "visits"; DROP TYPE "visit_state"',
    'ALTER INDEX "pets_label_idx" RENAME TO "pets_idx"',
    'CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$',
    'CREATE OR REPLACE TRIGGER t BEFORE INSERT ON "pets" FOR EACH ROW EXECUTE FUNCTION f()',
    `UPDATE "pets" SET "name" = "label"; DELETE FROM "pets" WHERE "label" = 'DROP TABLE'`,
    `DO $$ BEGIN UPDATE "pets" SET "name" = ''; END $$`,
    `DO $$ DECLARE p record; BEGIN FOR p IN SELECT "id" FROM "pets" LOOP NULL; END LOOP; END $$`,
    'DELETE FROM "visits"; TRUNCATE "visits"',
    'ANALYZE "pets"',
    'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$; ALTER FUNCTION f() RENAME TO g',
    'CREATE VIEW "v" AS SELECT 1; CREATE SEQUENCE "s"; DROP VIEW "v"; DROP SEQUENCE "s"',
    'CREATE TRIGGER t BEFORE INSERT ON "pets" FOR EACH ROW EXECUTE FUNCTION f(); DROP TRIGGER t ON "pets"',
  ])('allows %s', (sql) => {
    expect(steps(sql)).toEqual([]);
  });

  it.each([
    ['DROP TABLE "pets"', 'DROP TABLE pets'],
    ['ALTER TABLE "pets" DROP COLUMN "label"', 'DROP COLUMN pets.label'],
    ['DROP TYPE "pet_state"', 'DROP TYPE pet_state'],
    ['DROP TRIGGER "t" ON "pets"', 'DROP TRIGGER pets.t'],
    ['DROP FUNCTION f(int)', 'DROP FUNCTION f'],
    ['DROP INDEX "pets_label_key"', 'DROP INDEX pets_label_key'],
    ['DROP INDEX "second_name"', 'DROP INDEX second_name'],
    ['ALTER TABLE "pets" DROP CONSTRAINT "pets_pkey"', 'DROP CONSTRAINT pets.pets_pkey'],
    ['ALTER TABLE "pets" RENAME COLUMN "label" TO "name"', 'RENAME COLUMN pets.label'],
    ['ALTER TABLE "pets" RENAME TO "animals"', 'RENAME TABLE pets'],
    ['ALTER TYPE "pet_state" RENAME TO "state"', 'RENAME TYPE pet_state'],
    [`ALTER TYPE "pet_state" ADD VALUE 'lost'`, 'ALTER TYPE pet_state'],
    ['ALTER TABLE "pets" SET SCHEMA "old"', 'ALTER OBJECT SCHEMA'],
    ['ALTER TABLE "pets" ALTER COLUMN "label" SET NOT NULL', 'SET NOT NULL pets.label'],
    ['ALTER TABLE "pets" ALTER COLUMN "name" SET NOT NULL', 'SET NOT NULL pets.name'],
    [
      `ALTER TABLE "pets" ALTER COLUMN "label" SET DEFAULT '', ALTER "label" SET NOT NULL`,
      'SET NOT NULL pets.label',
    ],
    ['ALTER TABLE "pets" ADD CONSTRAINT "n" NOT NULL "name"', 'ADD CONSTRAINT pets.n'],
    ['ALTER TABLE "pets" ADD CONSTRAINT "k" PRIMARY KEY ("name")', 'ADD CONSTRAINT pets.k'],
    ['ALTER TABLE "pets" ALTER COLUMN "id" DROP NOT NULL', 'DROP NOT NULL pets.id'],
    ['ALTER TABLE "pets" ALTER COLUMN "id" DROP DEFAULT', 'DROP DEFAULT pets.id'],
    ['ALTER TABLE "pets" ALTER COLUMN "label" TYPE VARCHAR(9)', 'ALTER COLUMN TYPE pets.label'],
    ['ALTER TABLE "pets" ADD COLUMN "name" TEXT NOT NULL', 'ADD COLUMN pets.name'],
    ['ALTER TABLE "pets" ADD COLUMN "name" TEXT NOT NULL DEFAULT NULL', 'ADD COLUMN pets.name'],
    ['ALTER TABLE "pets" ADD CONSTRAINT "c" CHECK ("label" > "name")', 'ADD CONSTRAINT pets.c'],
    ['ALTER TABLE "pets" ADD CONSTRAINT "u" UNIQUE ("label")', 'ADD CONSTRAINT pets.u'],
    ['ALTER TABLE "pets" ADD CONSTRAINT "f" FOREIGN KEY ("label") REFERENCES "a"', 'ADD CONSTRAINT pets.f'],
    ['CREATE UNIQUE INDEX "u" ON "pets" (lower("label"))', 'CREATE UNIQUE INDEX u'],
    ['ALTER TABLE "pets" ENABLE ROW LEVEL SECURITY', 'ENABLE ROW SECURITY pets'],
    ['BEGIN', 'TRANSACTION'],
    ['COMMIT', 'TRANSACTION'],
    ['ALTER TABLE "pets" SET UNLOGGED', 'SET UNLOGGED pets'],
    ['ALTER TABLE "pets" DISABLE TRIGGER ALL', 'DISABLE TRIGGER ALL pets'],
    ['ALTER TABLE "pets" RENAME CONSTRAINT "a" TO "b"', 'RENAME CONSTRAINT pets.a'],
    ['ALTER FUNCTION f() RENAME TO g', 'RENAME FUNCTION f'],
    ['ALTER SCHEMA "public" RENAME TO "old"', 'RENAME SCHEMA public'],
    ['CREATE OR REPLACE FUNCTION old() RETURNS int AS $$ $$; DROP FUNCTION old', 'DROP FUNCTION old'],
    [
      'ALTER TABLE "pets" ADD COLUMN "n" INT NOT NULL DEFAULT 0; ALTER TABLE "pets" ALTER "n" DROP DEFAULT',
      'DROP DEFAULT pets.n',
    ],
    [
      'ALTER TABLE "pets" ADD COLUMN "n" INT NOT NULL DEFAULT 0;' +
        'DO $$ BEGIN ALTER TABLE "pets" ALTER "n" SET DEFAULT NULL::int; END $$',
      'DROP DEFAULT pets.n',
    ],
    ['ALTER TABLE "pets" ALTER COLUMN "label" SET DEFAULT NULL', 'DROP DEFAULT pets.label'],
    [
      'ALTER TABLE "pets" ADD "n" INT; ' +
        'ALTER TABLE "pets" ADD CONSTRAINT "c" CHECK ("n" IS NOT NULL) NOT VALID',
      'ADD CONSTRAINT pets.c',
    ],
    [
      'ALTER TABLE "pets" ADD "n" INT, ADD CONSTRAINT "c" CHECK (num_nonnulls("n") = 1)',
      'ADD CONSTRAINT pets.c',
    ],
    ['ALTER TABLE "pets" ADD "n" INT, ADD CONSTRAINT "c" CHECK (NOT "n" IS NULL)', 'ADD CONSTRAINT pets.c'],
    ['ALTER TABLE "pets" ADD COLUMN "n" INT CHECK ("n" IS NOT NULL)', 'ADD COLUMN pets.n'],
    ['ALTER TABLE "pets" ADD COLUMN "n" INT CHECK ("n" < "id")', 'ADD COLUMN pets.n'],
    ['ALTER TABLE "pets" ADD COLUMN "n" INT UNIQUE DEFAULT 1', 'ADD COLUMN pets.n'],
    ['ALTER TABLE "pets" ADD COLUMN "n" INT DEFAULT 1, ADD UNIQUE ("n")', 'ADD CONSTRAINT pets.n'],
    ['ALTER TABLE "pets" ADD COLUMN "n" INT, ADD UNIQUE NULLS NOT DISTINCT ("n")', 'ADD CONSTRAINT pets.n'],
    [
      `ALTER TABLE "pets" ADD COLUMN "n" TEXT NOT NULL DEFAULT ''; CREATE UNIQUE INDEX "u" ON "pets" ("n")`,
      'CREATE UNIQUE INDEX u',
    ],
    [
      'ALTER TABLE "pets" ADD "n" TEXT GENERATED ALWAYS AS (lower("label")) STORED; ' +
        'CREATE UNIQUE INDEX "u" ON "pets" ("n")',
      'CREATE UNIQUE INDEX u',
    ],
    ['DELETE FROM "pets"', 'DELETE pets'],
    ['VACUUM "pets"', 'VACUUM'],
    ['TRUNCATE "pets"', 'TRUNCATE pets'],
    ['REVOKE SELECT ON "pets" FROM PUBLIC', 'REVOKE'],
    [
      'DO $$ BEGIN IF true THEN ALTER TABLE "pets" DROP COLUMN "label"; END IF; END $$',
      'DROP COLUMN pets.label',
    ],
    [`DO $$ BEGIN EXECUTE 'DROP TABLE pets'; END $$`, 'EXECUTE'],
    [`DO $$ DECLARE r record; BEGIN FOR r IN EXECUTE 'SELECT 1' LOOP NULL; END LOOP; END $$`, 'EXECUTE'],
    [`DO $$ DECLARE c refcursor; BEGIN OPEN c FOR EXECUTE 'SELECT 1'; END $$`, 'EXECUTE'],
    [
      'DO $$ DECLARE r record; BEGIN FOR r IN DELETE FROM "pets" RETURNING 1 LOOP NULL; END LOOP; END $$',
      'DELETE pets',
    ],
  ])('refuses %s', (sql, step) => {
    expect(steps(sql)).toEqual([step]);
  });

  it('judges a migration by those before it that are not released either', () => {
    const earlier = parseMigration(
      `ALTER TABLE "pets" ADD COLUMN "n" INT DEFAULT 0; CREATE FUNCTION f() RETURNS int AS $$ $$`,
    );
    const later = parseMigration('ALTER TABLE "pets" ALTER "n" SET NOT NULL; DROP FUNCTION f');
    expect(findNonAdditiveSteps(later, released, [...earlier, ...later])).toEqual([]);
    expect(findNonAdditiveSteps(later, released)).toHaveLength(2);
  });

  it('names the line of each statement, after comments and texts beyond ASCII', () => {
    const sql =
      `-- Grüße\nSELECT 'ä';\n\n/* Two\nlines. */\n-- One.\n` +
      'ALTER TABLE pets\n  DROP COLUMN label;\nDROP TABLE pets;';
    expect(findSteps(sql)).toEqual([
      { name: 'DROP COLUMN pets.label', line: 7 },
      { name: 'DROP TABLE pets', line: 9 },
    ]);
  });
});

describe('readExceptions', () => {
  it('returns what comments except, with the reasons', () => {
    const sql =
      '-- A comment.\n-- not-additive: DROP COLUMN pets.label: unused since 1.1.0: renamed\nSELECT 1;\n';
    expect([...readExceptions(sql)]).toEqual([['DROP COLUMN pets.label', 'unused since 1.1.0: renamed']]);
  });

  it('returns nothing without a reason', () => {
    expect([
      ...readExceptions('-- not-additive: DROP COLUMN pets.label:\n-- not-additive: DROP TABLE pets\n'),
    ]).toEqual([]);
  });
});
