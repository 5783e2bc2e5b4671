import { readFile } from 'node:fs/promises';
import { lastRelease } from '../../dev/release/record.js';
import { openSchemaEngine } from '../../prisma/wasm-schema-engine.mjs';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { ApiDocument } from '../support/http/document.js';

const SCHEMA = 'prisma/schema.prisma';

describe('prisma/migrations', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it('make the tables of prisma/schema.prisma (else see docs/adding-an-endpoint.md)', async () => {
    const files = [{ path: SCHEMA, content: await readFile(SCHEMA, 'utf8') }];
    const { engine, close } = await openSchemaEngine({ connectionString: database.url });
    try {
      const { exitCode, stdout } = await engine.diff({
        from: { tag: 'schemaDatasource', files, configDir: 'prisma' },
        to: { tag: 'schemaDatamodel', files },
        script: true,
        exitCode: true,
        filters: { externalTables: [], externalEnums: [] },
      });
      expect(exitCode === 0 ? '' : `a migration lacks: ${stdout}`).toBe('');
    } finally {
      await close();
    }
  });

  it('sort after those of the last release, which databases already have', () => {
    const released = Object.keys(lastRelease().migrations);
    const newest = released.toSorted().at(-1) ?? '';
    const early = OWN_MIGRATIONS.filter((name) => name < newest && !released.includes(name));
    expect(early.map((name) => `prisma/migrations/${name}: a later time than ${newest}`)).toStrictEqual([]);
  });

  it('check that each date has a year that the API can return', async () => {
    const findUnchecked = async () => {
      const dates = await database.query<{ table: string; column: string; definition: string | null }>(`
        SELECT attrelid::regclass::text AS table, quote_ident(attname) AS column, (
          SELECT string_agg(pg_get_constraintdef(oid), ' ') FROM pg_constraint
          WHERE conrelid = attrelid AND contype = 'c'
        ) AS definition
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE atttypid = 'date'::regtype AND relkind = 'r' AND relnamespace = 'public'::regnamespace`);
      return dates
        .filter(
          ({ column, definition }) =>
            definition?.includes(`(${column} >= '0001-01-01'::date)`) !== true ||
            !definition.includes(`(${column} <= '9999-12-31'::date)`),
        )
        .map(({ table, column }) => `CHECK ("${column}" BETWEEN '0001-01-01' AND '9999-12-31') of ${table}`);
    };
    expect(await findUnchecked()).toStrictEqual([]);
    const check = `CHECK ("day" BETWEEN '0001-01-01' AND '9999-12-31')`;
    await database.query('CREATE TABLE example (day DATE)');
    expect(await findUnchecked()).toEqual([`${check} of example`]);
    await database.query(`ALTER TABLE example ADD CONSTRAINT example_day ${check}`);
    expect(await findUnchecked()).toStrictEqual([]);
    await database.query('DROP TABLE example');
  });

  it('make an index that begins with the columns of each foreign key, to delete its target', async () => {
    const missing = await database.query<{ table: string; columns: string[] }>(`
      SELECT conrelid::regclass::text AS table, (
        SELECT array_agg(attname::text ORDER BY number)
        FROM unnest(conkey) WITH ORDINALITY AS of_key (attnum, number)
        JOIN pg_attribute USING (attnum) WHERE attrelid = conrelid
      ) AS columns
      FROM pg_constraint
      WHERE contype = 'f' AND NOT EXISTS (
        SELECT FROM pg_index
        WHERE indrelid = conrelid AND conkey @> (indkey::int2[])[0:cardinality(conkey) - 1]
      )`);
    const lines = missing.map(({ table, columns }) => {
      const fields = columns.map((column) => column.replaceAll(/_(.)/g, (_, first) => first.toUpperCase()));
      return `@@index([${fields.join(', ')}]), in the model of ${table} in ${SCHEMA}, and its migration`;
    });
    expect(lines).toStrictEqual([]);
  });

  it('check the length of each text of a record that clients create, as its schema does', async () => {
    const checks = await database.query<{ definition: string }>(`
      SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) AS definition
      FROM pg_constraint WHERE contype = 'c'`);
    const { creations } = new ApiDocument();
    expect(creations.length).toBeGreaterThan(1);
    const lines = creations.flatMap(({ path, body }) => {
      const table = path.split('/').at(-1) ?? '';
      return Object.entries(body?.properties ?? {}).flatMap(
        ([field, { type, format, minLength, maxLength }]) => {
          const column = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
          const isChecked = checks.some(
            ({ definition }) =>
              definition.startsWith(`${table} `) &&
              definition.includes(`char_length(${column}) >= ${minLength ?? 0}`) &&
              definition.includes(`char_length(${column}) <= ${maxLength}`),
          );
          return type !== 'string' || format !== undefined || maxLength === undefined || isChecked
            ? []
            : `CHECK (char_length(${column}) BETWEEN ${minLength ?? 0} AND ${maxLength}) of ${table}`;
        },
      );
    });
    expect(lines).toStrictEqual([]);
  });
});
