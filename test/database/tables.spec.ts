import { readFileSync } from 'node:fs';
import { TABLES } from '../../src/database/access/tables.js';

/** The health check compares its privileges with those of the role that counts. */
const COUNTERS = 'rate_limit_counters';

/** Returns the tables of Prisma's models, with the sequence of those whose identifiers count up. */
function tablesOfModels(): [table: string, sequence: string | undefined][] {
  const schema = readFileSync('prisma/schema.prisma', 'utf8');
  return [...schema.matchAll(/^model \w+ \{\n(.*?)^\}/gms)].map(([, model = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(model)?.[1] ?? '';
    return [table, model.includes('autoincrement()') ? `${table}_id_seq` : undefined];
  });
}

describe('TABLES', () => {
  it('has the table of each model, with its sequence if it has one', () => {
    const models = tablesOfModels().filter(([table]) => table !== COUNTERS);
    const toAdd = models
      .filter(([table, sequence]) => !(table in TABLES) || TABLES[table]?.sequence !== sequence)
      .map(([table, sequence]) => {
        const use = sequence === undefined ? '' : `, sequence: '${sequence}'`;
        return `${table}: { privileges: 'SELECT, INSERT'${use} }, in src/database/access/tables.ts`;
      });
    expect(toAdd).toStrictEqual([]);
    expect(Object.keys(TABLES)).toEqual(models.map(([table]) => table).toSorted());
  });
});
