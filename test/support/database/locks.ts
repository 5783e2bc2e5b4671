import type { TestDatabase } from './database.js';

/** Expects so many statements in this database to wait for a lock. */
export async function expectLocksWaitedFor(database: TestDatabase, count: number): Promise<void> {
  const waiting = await database.query(
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
  );
  expect(waiting).toHaveLength(count);
}
