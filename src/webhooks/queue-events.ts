import type { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/in-transaction.js';
import { readServerTimeMs } from '../database/server-time.js';
import type { EventType } from './event-types.js';
import { declareTables, EVERY_PRIVILEGE } from '../database/tables.js';

declareTables({
  webhooks: { privileges: EVERY_PRIVILEGE },
  webhook_deliveries: { privileges: EVERY_PRIVILEGE },
});

/** What happened, to what, and the data. An event of one type about one subject is queued once. */
export interface WebhookEvent {
  type: EventType;
  subject: string;
  data: object;
}

/** Queues events, unless they were queued before, for every webhook that receives their type. */
export async function queueEvents(database: Database, events: WebhookEvent[]): Promise<void> {
  const now = new Date(await readServerTimeMs(database));
  const queued = events.map(({ type, subject, data }) => ({
    type,
    key: `${type}:${subject}`,
    payload: { type, timestamp: now, data },
  }));
  // Ids are UUIDs of version 7, in the order of the database's time. The order of the rows prevents a
  // deadlock of replicas that queue the same events. The lock keeps the deletion of a webhook from failing
  // this statement.
  await database.$executeRaw`
    INSERT INTO webhook_deliveries (id, webhook_id, event, event_key, payload, created_at, next_attempt_at)
    SELECT
      (
        lpad(to_hex(${now.getTime()}::bigint), 12, '0') || '7'
          || substr(replace(gen_random_uuid()::text, '-', ''), 14)
      )::uuid,
      webhook.id, type, key, payload, ${now}, ${now}
    FROM
      json_to_recordset(${JSON.stringify(queued)}::json) AS queued (type text, key text, payload json)
      JOIN webhooks AS webhook ON type = ANY (events)
    ORDER BY key, webhook.id
    FOR KEY SHARE OF webhook
    ON CONFLICT DO NOTHING`;
}

/**
 * Queues an event on a key in the transaction that causes it: it is not lost, and not sent for a change that
 * was rolled back.
 *
 * @param facts the data of the event beside the key.
 */
export function queueKeyEvent(
  transaction: Prisma.TransactionClient,
  type: 'key.rotated' | 'key.revoked',
  { id, name, quotaId }: { id: string; name: string; quotaId: string },
  facts: Record<string, Date | string>,
): Promise<void> {
  return queueEvents(transaction, [{ type, subject: id, data: { keyId: id, name, quotaId, ...facts } }]);
}
