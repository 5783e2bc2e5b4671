import { setTimeout as pause } from 'node:timers/promises';
import { isDatabaseUnavailable } from './availability.js';
import { applyPendingMigrations } from './migrations.js';

const RETRY_INTERVAL_MS = 500;

/** Applies the pending migrations; returns false if the database is unavailable. */
export async function migrateIfThere(connectionString: string): Promise<boolean> {
  try {
    await applyPendingMigrations(connectionString);
    return true;
  } catch (error) {
    if (isDatabaseUnavailable(error)) {
      return false;
    }
    throw error;
  }
}

/** Applies the pending migrations once the database is available, unless `stop` is aborted before. */
export async function migrateOnceThere(connectionString: string, stop: AbortSignal): Promise<void> {
  while (!stop.aborted && !(await migrateIfThere(connectionString))) {
    await pause(RETRY_INTERVAL_MS, undefined, { signal: stop }).catch(() => {});
  }
}
