import { readFile } from 'node:fs/promises';
import { openSchemaEngine } from '../../prisma/wasm-schema-engine.mjs';
import { createDatabase, type TestDatabase } from '../support/database/database.js';

const SCHEMA = 'prisma/schema.prisma';

describe('prisma/migrations', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it('make the tables of prisma/schema.prisma (else npx prisma migrate dev --name what_it_is)', async () => {
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
});
