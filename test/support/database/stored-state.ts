import type { TestDatabase } from './database.js';

const TABLES = ['api_keys', 'quotas', 'plans', 'audit_events', 'pets', 'orders'];

/** Returns every row that requests and administration change, without counts. */
async function storedState(database: TestDatabase): Promise<unknown> {
  return Promise.all(TABLES.map((table) => database.query(`SELECT t::text FROM ${table} t ORDER BY 1`)));
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
