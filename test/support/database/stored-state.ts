import type { TestDatabase } from './database.js';

/** The tables of what is recorded of every request, and of migrations. */
const LEFT_OUT = [
  'rate_limit_counters',
  'replicas',
  'usage',
  'usage_batches',
  'failed_requests',
  'failed_request_minutes',
  '_prisma_migrations',
];

/** Returns every row that requests and administration change, without counts. */
async function storedState(database: TestDatabase): Promise<Record<string, unknown>[]> {
  const tables = await database.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename <> ALL ($1)',
    [LEFT_OUT],
  );
  const lists = tables.map(({ name }) => `SELECT '${name}' AS name, t::text AS row FROM "${name}" t`);
  // One statement, because most tests that compare states spend their time on this.
  return database.query(`${lists.join(' UNION ALL ')} ORDER BY 1, 2`);
}

/** Expects `work` to change nothing that is stored, and returns its result. */
export async function changingNothing<Result>(
  database: TestDatabase,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = await storedState(database);
  const result = await work();
  expect(await storedState(database)).toEqual(before);
  return result;
}
