import type { Prisma } from '../database/generated/client.js';
import { readServerTimeMs } from '../database/server-time.js';
import type { Clock } from '../settings/clock.js';
import type { EventType } from './event-types.js';

/** What happened, to what, and the data. An event of one type about one subject is queued once. */
export type WebhookEvent = [type: EventType, subject: string, data: Prisma.InputJsonObject];

/** Queues events, unless they were queued before, for every webhook that receives their type. */
export async function queueEvents(
  transaction: Prisma.TransactionClient,
  clock: Clock,
  events: WebhookEvent[],
): Promise<void> {
  // Locked, because the deletion of a webhook must not fail this transaction.
  const endpoints = await transaction.$queryRaw<{ id: string; events: string[] }[]>`
    SELECT id, events FROM webhook_endpoints FOR KEY SHARE`;
  const now = new Date(await readServerTimeMs(transaction, clock));
  await transaction.webhookDelivery.createMany({
    data: events.flatMap(([event, subject, data]) =>
      endpoints
        .filter((endpoint) => endpoint.events.includes(event))
        .map(({ id: endpointId }) => ({
          endpointId,
          event,
          eventKey: `${event}:${subject}`,
          payload: { type: event, timestamp: now, data },
          createdAt: now,
          nextAttemptAt: now,
        })),
    ),
    skipDuplicates: true,
  });
}

/**
 * Queues an event on a key in the transaction that causes it: none is lost, and none is sent of a change that did not happen.
 *
 * @param facts the data of the event beside the key.
 */
export function queueKeyEvent(
  transaction: Prisma.TransactionClient,
  clock: Clock,
  type: 'key.rotated' | 'key.revoked',
  { id, name, quotaId }: { id: string; name: string; quotaId: string },
  facts: Record<string, Date | string>,
): Promise<void> {
  return queueEvents(transaction, clock, [[type, id, { keyId: id, name, quotaId, ...facts }]]);
}
