import { denialsBeforeBan } from '../../../chaos/verifier/bans.js';
import type { TestDatabase } from '../database/database.js';

export { denialsBeforeBan };

/** Returns how many requests within a minute start a ban of a quota that has used nothing. */
export const requestsBeforeBan = (perMinute: number): number => perMinute + denialsBeforeBan(perMinute);

/** Bans the quota of a key until an instant, in the table of the counter store. */
export async function ban(
  database: TestDatabase,
  { quotaId }: { quotaId: string },
  until: Date,
): Promise<void> {
  await database.query(
    `INSERT INTO rate_limit_counters
       (bucket_key, minute_number, minute_used, minute_limit, day_number, day_used, day_limit, last_allowed,
         banned_until)
     SELECT $1, now_s / 60, 0, 60, now_s / 86400, 0, 1000, 0, $2
     FROM (SELECT extract(epoch FROM now())::int AS now_s) AS clock
     ON CONFLICT (bucket_key) DO UPDATE SET banned_until = EXCLUDED.banned_until`,
    [`quota:${quotaId}`, until],
  );
}

/** Returns the end of the last ban of a key's quota; null if it was never banned. */
export async function bannedUntil(
  database: TestDatabase,
  { quotaId }: { quotaId: string },
): Promise<Date | null> {
  const [row] = await database.query<{ until: Date | null }>(
    'SELECT banned_until AS until FROM rate_limit_counters WHERE bucket_key = $1',
    [`quota:${quotaId}`],
  );
  return row?.until ?? null;
}
