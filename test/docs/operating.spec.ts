import { readFileSync } from 'node:fs';
import { until } from '../support/eventually.js';
import { hold } from '../support/database/holding.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { documented } from '../support/documented-commands.js';

describe('docs/operating.md', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it('rebuilds every index whose order depends on the collation', async () => {
    const indexes = () =>
      database.query<{ name: string; file: number }>(
        `SELECT DISTINCT relname AS name, pg_relation_filenode(pg_class.oid) AS file
         FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_attribute ON attrelid = indexrelid
         WHERE attcollation <> 0 AND relnamespace = 'public'::regnamespace ORDER BY name`,
      );
    const before = await indexes();
    const name = new URL(database.url).pathname.slice(1);
    const commands = documented('upgrading.md', 'Upgrading PostgreSQL').replaceAll('animal_store', name);
    for (const command of commands.trim().split('\n')) {
      await database.query(command);
    }
    const after = await indexes();
    expect(after.map((index) => index.name)).toEqual(before.map((index) => index.name));
    const files = new Set(before.map(({ file }) => file));
    expect(after.filter(({ file }) => files.has(file))).toStrictEqual([]);
  });

  it('lists queries to watch the database, one of which names the session that others wait for', async () => {
    const [, file = ''] = /--file=(\S+)/.exec(documented('operating.md', 'What to watch')) ?? [];
    const queries = readFileSync(file, 'utf8').trim().split(/;\n/);
    expect(queries).toHaveLength(8);
    for (const query of queries) {
      await database.query(query);
    }
    const blockers = queries.find((query) => query.includes('pg_blocking_pids')) ?? '';
    const holder = await hold(database.url, 'LOCK TABLE pets');
    const waiting = database.query('TABLE pets');
    await until(async () => (await database.query(blockers)).length === 1);
    expect(await database.query(blockers)).toMatchObject([{ query: 'LOCK TABLE pets' }]);
    await holder.letGo();
    await waiting;
  });
});
