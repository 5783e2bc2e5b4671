import type { TestDatabase } from './database.js';

/** Expects at least so many statements in this database to wait for a lock: a slow machine may start more. */
export async function expectLocksWaitedFor(database: TestDatabase, count: number): Promise<void> {
  const waiting = await database.query(
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
  );
  expect(waiting.length).toBeGreaterThanOrEqual(count);
}
