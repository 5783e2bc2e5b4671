import { readFileSync } from 'node:fs';
import {
  findNonAdditiveSteps,
  loadParser,
  parseMigration,
  readExceptions,
  ReleasedDatabase,
} from '../../dev/release/additive.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';

const PAGE = readFileSync('docs/adding-an-endpoint.md', 'utf8');
const [expand = '', contract = ''] = Array.from(PAGE.matchAll(/```sql\n([^]*?)```/g), ([, sql = '']) =>
  sql.replaceAll(/^ +/gm, ''),
);

describe('"Rename a column" of docs/adding-an-endpoint.md', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    await loadParser();
    database = await createDatabase();
    await database.query(
      'ALTER TABLE pets RENAME COLUMN name TO label; ALTER TABLE pets ALTER label DROP NOT NULL',
    );
    await database.query(`INSERT INTO pets (label, category_id) VALUES ('before', 1)`);
  });
  afterAll(() => database.drop());

  it('keeps both columns alike whichever release writes, and then drops the old one', async () => {
    const rows = () => database.query('SELECT label, title FROM pets ORDER BY id');
    const both = (...names: string[]) => names.map((name) => ({ label: name, title: name }));
    await database.query(expand);
    await database.query(`INSERT INTO pets (label, category_id) VALUES ('by the last release', 1)`);
    await database.query(`INSERT INTO pets (title, category_id) VALUES ('by the new one', 1)`);
    expect(await rows()).toEqual(both('before', 'by the last release', 'by the new one'));
    await database.query(`UPDATE pets SET label = 'old ' || label`);
    expect(await rows()).toEqual(both('old before', 'old by the last release', 'old by the new one'));
    await database.query(`UPDATE pets SET title = 'new', category_id = 2`);
    expect(await rows()).toEqual(both('new', 'new', 'new'));
    await database.query(contract);
    await database.query(`INSERT INTO pets (title, category_id) VALUES ('after', 1)`);
    await expect(rows()).rejects.toThrow('column "label" does not exist');
  });

  it('excepts each step that takes something from the release before', () => {
    const steps = (sql: string, columns: Record<string, string>) =>
      findNonAdditiveSteps(parseMigration(sql), new ReleasedDatabase(columns, [])).map(({ name }) => name);
    expect(steps(expand, { 'pets.id': 'bigint', 'pets.label': 'text' })).toEqual([]);
    const excepted = [...readExceptions(contract).keys()];
    expect(steps(contract, { 'pets.id': 'bigint', 'pets.title': 'text' })).toEqual(excepted);
  });
});
