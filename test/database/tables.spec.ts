import { readdirSync, readFileSync } from 'node:fs';
import { declaredTables } from '../../src/database/access/tables.js';

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

// A file declares its tables when it is loaded.
beforeAll(async () => {
  const names = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const declaring = names.filter((name) => /^declareTables\(/m.test(readFileSync(`src/${name}`, 'utf8')));
  expect(declaring.length).toBeGreaterThan(5);
  await Promise.all(declaring.map((name) => import(`../../src/${name.replace(/\.ts$/, '.js')}`)));
});

describe('declareTables', () => {
  it('is called for the table of each model, with its sequence if it has one', () => {
    const declared = new Map(declaredTables().map(([table, { sequence }]) => [table, sequence]));
    const models = tablesOfModels().filter(([table]) => table !== COUNTERS);
    const toAdd = models
      .filter(([table, sequence]) => !declared.has(table) || declared.get(table) !== sequence)
      .map(([table, sequence]) => {
        const use = sequence === undefined ? '' : `, sequence: '${sequence}'`;
        return (
          `declareTables({ ${table}: { privileges: 'SELECT, INSERT'${use} } }); ` +
          'in the module that uses it'
        );
      });
    expect(toAdd).toStrictEqual([]);
    expect([...declared.keys()]).toEqual(models.map(([table]) => table).toSorted());
  });
});
