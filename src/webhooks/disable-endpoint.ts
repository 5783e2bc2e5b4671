import type { Prisma } from '../database/generated/client.js';

/** Disables an endpoint in a transaction, and gives up its pending deliveries for this reason. */
export async function disableEndpoint(
  transaction: Prisma.TransactionClient,
  id: string,
  at: Date,
  reason: string,
): Promise<void> {
  // First, because a new delivery locks the endpoint.
  await transaction.webhookEndpoint.updateMany({ where: { id, disabledAt: null }, data: { disabledAt: at } });
  await transaction.webhookDelivery.updateMany({
    where: { endpointId: id, state: 'pending' },
    data: { state: 'failed', lastFailure: reason, nextAttemptAt: null },
  });
}
