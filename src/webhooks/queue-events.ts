import { Prisma } from '../database/generated/client.js';
import type { EventType } from './event-types.js';

/** The days for which deliveries are shown. */
export const KEPT_DAYS = 30;
/** Few enough for one statement. */
export const EVENTS_MAX = 2000;

/** Returns the SQL that writes an instant as `Date.toISOString()` does. */
export const isoText = (instant: Prisma.Sql) =>
  Prisma.sql`to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Returns the SQL of the database's time, which all replicas share. */
export const serverNow = (offsetMs: number) =>
  Prisma.sql`(statement_timestamp() + make_interval(secs => ${offsetMs}::float8 / 1000))`;

/**
 * Queues an event in the transaction that causes it: none is lost, and none is sent of a change that did not happen.
 *
 * @param subject what it is about: an event of one type about one subject happens once.
 * @param offsetMs to add to the database's clock.
 */
export function queueEvent(
  transaction: Prisma.TransactionClient,
  type: EventType,
  subject: string,
  data: Record<string, unknown>,
  offsetMs: number,
): Promise<number> {
  const event = Prisma.sql`SELECT ${type}::text, ${subject}::text, ${JSON.stringify(data)}::json, NULL::timestamptz`;
  return queueEvents(transaction, event, offsetMs);
}

/**
 * Queues events that were not queued before, at most `EVENTS_MAX`, for every endpoint that receives their type, and returns the number
 * of deliveries.
 *
 * @param events a query of rows: type; subject; data as JSON; and until when the event must not be queued again, if longer than
 *   `KEPT_DAYS`.
 * @param offsetMs to add to the database's clock.
 */
export function queueEvents(
  transaction: Prisma.TransactionClient,
  events: Prisma.Sql,
  offsetMs: number,
): Promise<number> {
  const now = serverNow(offsetMs);
  // The lock makes an endpoint that is being removed or disabled get none, instead of failing the transaction.
  return transaction.$executeRaw`
    WITH endpoint AS MATERIALIZED (
      SELECT id, events FROM webhook_endpoints WHERE disabled_at IS NULL FOR SHARE
    ),
    event AS (
      SELECT type, type || ':' || subject AS key, data, kept_until
      FROM (${events}) AS found (type, subject, data, kept_until)
      WHERE
        EXISTS (SELECT FROM endpoint WHERE type = ANY (endpoint.events))
        AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE event_key = type || ':' || subject)
      LIMIT ${EVENTS_MAX}
    )
    INSERT INTO webhook_deliveries (id, endpoint_id, event, event_key, payload, next_attempt_at, kept_until)
    SELECT
      gen_random_uuid(), endpoint.id, type, key,
      json_build_object('type', type, 'timestamp', ${isoText(now)}, 'data', data),
      ${now}, greatest(kept_until, ${now} + make_interval(days => ${KEPT_DAYS}::int))
    FROM event JOIN endpoint ON type = ANY (endpoint.events)
    ON CONFLICT DO NOTHING`;
}
