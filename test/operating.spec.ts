import { createDatabase, type TestDatabase } from './support/database.js';
import { documented } from './support/documented-commands.js';

describe('docs/operating.md', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it('names every index whose order depends on the collation', async () => {
    const indexes = await database.query<{ name: string }>(
      `SELECT DISTINCT relname AS name
       FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_attribute ON attrelid = indexrelid
       WHERE attcollation <> 0 AND relnamespace = 'public'::regnamespace`,
    );
    const rebuilt = Array.from(
      documented('operating.md', 'Upgrading PostgreSQL').matchAll(/^REINDEX INDEX CONCURRENTLY (\w+);$/gm),
      ([, name]) => name,
    );
    expect(new Set(rebuilt)).toEqual(new Set(indexes.map(({ name }) => name)));
  });

  it('tells what to watch by questions that PostgreSQL answers', async () => {
    const questions = documented('operating.md', 'What to watch').trim().split(/;\n/);
    expect(questions).toHaveLength(7);
    for (const question of questions) {
      await database.query(question);
    }
  });
});
