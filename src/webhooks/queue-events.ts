import type { Prisma } from '../database/generated/client.js';
import type { EventType } from './event-types.js';

/** Something that happened. */
interface WebhookEvent {
  type: EventType;
  /** What it is about: an event of one type about one subject is queued once. */
  subject: string;
  data: Prisma.InputJsonObject;
}

/** Queues events, unless they were queued before, for every webhook that receives their type. */
export async function queueEvents(
  transaction: Prisma.TransactionClient,
  events: WebhookEvent[],
): Promise<void> {
  // Locked, because the deletion of a webhook must not fail this transaction.
  const endpoints = await transaction.$queryRaw<{ id: string; events: string[] }[]>`
    SELECT id, events FROM webhook_endpoints FOR KEY SHARE`;
  await transaction.webhookDelivery.createMany({
    data: events.flatMap(({ type, subject, data }) =>
      endpoints
        .filter((endpoint) => endpoint.events.includes(type))
        .map(({ id }) => ({
          endpointId: id,
          event: type,
          eventKey: `${type}:${subject}`,
          payload: { type, timestamp: new Date(), data },
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
  type: 'key.rotated' | 'key.revoked',
  { id, name, quotaId }: { id: string; name: string; quotaId: string },
  facts: Record<string, Date | string>,
): Promise<void> {
  const data = { keyId: id, name, quotaId, ...facts };
  return queueEvents(transaction, [{ type, subject: id, data }]);
}
