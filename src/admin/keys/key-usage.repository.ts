import type { Database } from '../../database/in-transaction.js';
import { HOURS_SHOWN } from './key.schemas.js';
import { LAST_USED } from './key-page.repository.js';
import type { RecentUsage } from './key.view.js';

const HOUR_MS = 3_600_000;

/** Returns the usage of each of these keys, by id, by one statement. Usage that is still in the journal is not included. */
export async function usageOfKeys(
  database: Database,
  ids: readonly string[],
  nowMs: number,
): Promise<Map<string, RecentUsage>> {
  const oldest = new Date((Math.floor(nowMs / HOUR_MS) - HOURS_SHOWN + 1) * HOUR_MS);
  const rows = await database.$queryRaw<(RecentUsage & { id: string })[]>`
    SELECT
      k.id,
      ${LAST_USED} AS "lastUsedAt",
      ARRAY(
        SELECT coalesce(sum(u.succeeded + u.redirected + u.client_errors + u.server_errors), 0)::float8
        FROM generate_series(0, ${HOURS_SHOWN - 1}::int) AS hour (number)
        LEFT JOIN usage u ON
          u.key_id = k.id AND u.period = 'hour'
          AND u.starts_at = ${oldest}::timestamptz + make_interval(hours => hour.number)
        GROUP BY hour.number
        ORDER BY hour.number
      ) AS "requestsByHour"
    FROM unnest(${[...ids]}::uuid[]) AS k (id)`;
  return new Map(rows.map(({ id, ...usage }) => [id, usage]));
}
