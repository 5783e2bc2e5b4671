import { hash, randomUUID } from 'node:crypto';
import type { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/access/in-transaction.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import { ALL_EVENTS, type EventData, type EventType, type KeyEventFacts } from './events.js';

/** What happened, to what, and the data. An event of one type about one subject is queued once. */
export interface WebhookEvent<Type extends EventType = EventType> {
  type: Type;
  subject: string;
  /** The only webhook that receives it; by default, every one that receives its type. */
  webhookId?: string;
  data: Written<EventData<Type>>;
}

/** A date is written to JSON as a text. */
type Written<Fields> = { [Name in keyof Fields]: Fields[Name] | Date };

/** Returns what identifies an event that is queued once. */
export const dedupeKeyOf = ({ type, subject }: Pick<WebhookEvent, 'type' | 'subject'>) =>
  `${type}:${subject}`;

/**
 * Returns the id of an event, a UUID of version 8 that is a hash, so that every replica, and every webhook
 * that is created meanwhile, has the same.
 */
function eventIdFor(dedupeKey: string): string {
  const digits = hash('sha256', dedupeKey);
  return digits.replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}

/** Queues events, unless they were queued before, for the webhooks that receive them. */
export async function queueEvents(database: Database, events: WebhookEvent[]): Promise<void> {
  const now = new Date(await readServerTimeMs(database));
  const queued = events.map((event) => ({
    event_id: eventIdFor(dedupeKeyOf(event)),
    type: event.type,
    key: dedupeKeyOf(event),
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
        ON paused_at IS NULL
          AND CASE
            WHEN webhook_id IS NOT NULL THEN webhook.id = webhook_id
            ELSE
              events && ARRAY[type, ${ALL_EVENTS}]
              AND (quota_id IS NULL OR quota_id::text = payload -> 'data' ->> 'quotaId')
          END
    ORDER BY key, webhook.id
    FOR KEY SHARE OF webhook
    ON CONFLICT DO NOTHING`;
}

/** The events on a key that a transaction causes, and whether one may occur more than once. */
const REPEATED = {
  'key.rotated': false,
  'key.revoked': false,
  'key.suspended': true,
  'key.resumed': true,
} satisfies Partial<Record<EventType, boolean>>;

interface KeyOfEvent {
  id: string;
  name: string;
  quotaId: string;
  quota: { externalId: string | null };
}

/**
 * Queues an event on a key in the transaction that causes it: it is not lost, and not sent for a change that
 * was rolled back.
 *
 * @param facts the data of the event beside the key.
 * @param subject what the event is queued once for: by default the key, or this time if it may happen again.
 */
export function queueKeyEvent<Type extends keyof typeof REPEATED>(
  transaction: Prisma.TransactionClient,
  type: Type,
  { id, name, quotaId, quota }: KeyOfEvent,
  facts: Written<KeyEventFacts<Type>>,
  subject = REPEATED[type] ? `${id}:${randomUUID()}` : id,
): Promise<void> {
  const ofKey = { keyId: id, keyName: name, quotaId, externalId: quota.externalId };
  const data = { ...ofKey, ...facts } as Written<EventData<Type>>;
  return queueEvents(transaction, [{ type, subject, data }]);
}
