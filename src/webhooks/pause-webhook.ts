import { type Actor, recordAuditEvent, SERVICE } from '../audit/audit.js';
import type { Prisma } from '../database/generated/client.js';
import { type Database, inTransaction } from '../database/access/in-transaction.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import type { PauseReason } from './events.js';
import { queueEvents } from './queue-events.js';

/** Runs a change of webhooks after other changes of them, so that it misses none. */
export function changeWebhooks<Result>(
  database: Parameters<typeof inTransaction>[0],
  work: (transaction: Prisma.TransactionClient) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (transaction) => {
    await transaction.$executeRaw`LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE`;
    return work(transaction);
  });
}

/** Queues the event of a pause for the other webhooks. */
export function queuePause(
  database: Database,
  webhookId: string,
  pausedAt: Date,
  pauseReason: PauseReason,
): Promise<void> {
  const subject = `${webhookId}:${pausedAt.toISOString()}`;
  return queueEvents(database, [
    { type: 'webhook.paused', subject, data: { webhookId, pausedAt, pauseReason } },
  ]);
}

/**
 * Pauses a webhook, unless it is paused already, or has another URL by now. Returns whether it did.
 *
 * @param actor by default the service, because of what the receiver did.
 */
export async function pauseWebhook(
  transaction: Prisma.TransactionClient,
  { id, url }: { id: string; url: string },
  pauseReason: PauseReason,
  actor: Actor = SERVICE,
): Promise<boolean> {
  const pausedAt = new Date(await readServerTimeMs(transaction));
  const where = { id, url, pausedAt: null };
  const { count } = await transaction.webhook.updateMany({ where, data: { pausedAt, pauseReason } });
  if (count === 0) {
    return false;
  }
  const after = { paused: true, pauseReason };
  await recordAuditEvent(transaction, actor, 'webhook.paused', { id }, { paused: false }, after);
  await queuePause(transaction, id, pausedAt, pauseReason);
  return true;
}
