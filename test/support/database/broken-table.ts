import type { TestDatabase } from './database.js';

/** Runs `work` while every statement on a table fails, by an error that a defect may cause. */
export async function whileBroken<Result>(
  database: TestDatabase,
  table: 'api_keys' | 'pets',
  work: () => Promise<Result>,
): Promise<Result> {
  await database.query(`ALTER TABLE ${table} RENAME TO sound`);
  await database.query(
    `CREATE VIEW ${table} AS SELECT * FROM sound WHERE 1 / (SELECT 0) = 1 WITH CHECK OPTION`,
  );
  try {
    return await work();
  } finally {
    await database.query(`DROP VIEW ${table}`);
    await database.query(`ALTER TABLE sound RENAME TO ${table}`);
  }
}
