import { randomUUID } from 'node:crypto';
import type { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/in-transaction.js';
import { readServerTimeMs } from '../database/server-time.js';
import { type EventType, TEST_EVENT } from './event-types.js';
import { declareTables, EVERY_PRIVILEGE } from '../database/tables.js';

declareTables({
  webhooks: { privileges: EVERY_PRIVILEGE },
  webhook_deliveries: { privileges: EVERY_PRIVILEGE },
});

/** What happened, to what, and the data. An event of one type about one subject is queued once. */
export interface WebhookEvent {
  type: EventType | typeof TEST_EVENT;
  subject: string;
  /** The only webhook that receives it; by default, every one that receives its type. */
  webhookId?: string;
  data: object;
}

/** Identifies an event. */
const keyOf = ({ type, subject }: Pick<WebhookEvent, 'type' | 'subject'>) => `${type}:${subject}`;

/** Queues events, unless they were queued before, for the webhooks that receive them. */
export async function queueEvents(database: Database, events: WebhookEvent[]): Promise<void> {
  const now = new Date(await readServerTimeMs(database));
  const queued = events.map((event) => ({
    event_id: randomUUID(),
    type: event.type,
    key: keyOf(event),
    webhook_id: event.webhookId,
    payload: { type: event.type, timestamp: now, data: event.data },
  }));
  // Ids are UUIDs of version 7, in the order of the database's time. The order of the rows prevents a
  // deadlock of replicas that queue the same events. The lock keeps the deletion of a webhook from failing
  // this statement.
  await database.$executeRaw`
    INSERT INTO webhook_deliveries (
      id, webhook_id, event_id, event_type, dedupe_key, payload, created_at, next_attempt_at
    )
    SELECT
      (
        lpad(to_hex(${now.getTime()}::bigint), 12, '0') || '7'
          || substr(replace(gen_random_uuid()::text, '-', ''), 14)
      )::uuid,
      webhook.id, event_id, type, key, payload, ${now}, ${now}
    FROM
      json_to_recordset(${JSON.stringify(queued)}::json)
        AS queued (event_id uuid, type text, key text, webhook_id uuid, payload json)
      JOIN webhooks AS webhook
        ON paused_at IS NULL AND (webhook.id = webhook_id OR webhook_id IS NULL AND type = ANY (events))
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

/** Queues a test event for a webhook, and returns the key of the event. */
export async function queueTestEvent(
  transaction: Prisma.TransactionClient,
  webhookId: string,
): Promise<string> {
  const event: WebhookEvent = { type: TEST_EVENT, subject: randomUUID(), webhookId, data: { webhookId } };
  await queueEvents(transaction, [event]);
  return keyOf(event);
}
