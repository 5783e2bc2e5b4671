import type { Prisma } from '../database/generated/client.js';
import type { Database } from '../database/access/in-transaction.js';
import { TEST_EVENT } from './events.js';
import { FAILING_MAX, LAST_DELIVERY_FIELDS } from './webhook.schemas.js';

type LastDelivery = Prisma.WebhookDeliveryGetPayload<{ select: typeof LAST_DELIVERY_FIELDS }>;

/** What a list of webhooks shows of the deliveries of each. */
export interface DeliveryStatus {
  /** The delivery whose attempt ended last; null if there is none. */
  lastDelivery: LastDelivery | null;
  /** The pending deliveries whose last attempt failed, up to `FAILING_MAX`. */
  failingDeliveryCount: number;
  /** When a pending delivery is sent next; null if none is pending, or the webhook is paused. */
  nextAttemptAt: Date | null;
}

type Waits = Pick<Prisma.WebhookGetPayload<object>, 'pausedAt' | 'retryAfterAt'>;

/**
 * Returns a delivery as it is shown: a pending one waits while its webhook is paused, and for what its
 * receiver asked for, except a test event, which is sent at once.
 */
export function toShownDelivery<Delivery extends Pick<LastDelivery, 'eventType' | 'nextAttemptAt'>>(
  { pausedAt, retryAfterAt }: Waits,
  delivery: Delivery,
): Delivery {
  if (pausedAt !== null) {
    return { ...delivery, nextAttemptAt: null };
  }
  const { eventType, nextAttemptAt } = delivery;
  const waits = nextAttemptAt !== null && retryAfterAt !== null && nextAttemptAt < retryAfterAt;
  return waits && eventType !== TEST_EVENT ? { ...delivery, nextAttemptAt: retryAfterAt } : delivery;
}

interface Found extends Omit<DeliveryStatus, 'lastDelivery'> {
  id: string;
  lastId: string | null;
}

/** Of a webhook that was deleted. */
const NONE = { lastId: null, failingDeliveryCount: 0, nextAttemptAt: null };

/** Returns webhooks with the status of their deliveries. */
export async function withDeliveryStatus<Webhook extends Waits & { id: string }>(
  database: Database,
  webhooks: Webhook[],
): Promise<(Webhook & DeliveryStatus)[]> {
  const ids = webhooks.map(({ id }) => id);
  const found = await database.$queryRaw<Found[]>`
    SELECT
      webhook.id, last.id AS "lastId",
      (
        SELECT count(*)::int FROM (
          SELECT FROM webhook_deliveries
          WHERE webhook_id = webhook.id AND state = 'pending' AND last_failure IS NOT NULL
          LIMIT ${FAILING_MAX}
        ) AS failing
      ) AS "failingDeliveryCount",
      CASE WHEN paused_at IS NULL AND next_attempt_at IS NOT NULL
        THEN CASE WHEN event_type = ${TEST_EVENT} THEN next_attempt_at
          ELSE greatest(next_attempt_at, retry_after_at) END
      END AS "nextAttemptAt"
    FROM
      webhooks AS webhook
      LEFT JOIN LATERAL (
        SELECT id FROM webhook_deliveries
        WHERE
          webhook_id = webhook.id AND last_attempt_at IS NOT NULL
          AND (state <> 'pending' OR last_failure IS NOT NULL)
        ORDER BY last_attempt_at DESC
        LIMIT 1
      ) AS last ON true
      LEFT JOIN LATERAL (
        SELECT next_attempt_at, event_type FROM webhook_deliveries
        WHERE webhook_id = webhook.id AND state = 'pending'
        ORDER BY next_attempt_at
        LIMIT 1
      ) AS next ON true
    WHERE webhook.id = ANY (${ids}::uuid[])`;
  const lastIds = found.flatMap(({ lastId }) => lastId ?? []);
  const deliveries = await database.webhookDelivery.findMany({
    where: { id: { in: lastIds } },
    select: LAST_DELIVERY_FIELDS,
  });
  return webhooks.map((webhook) => {
    const row = found.find(({ id }) => id === webhook.id) ?? NONE;
    const { lastId, failingDeliveryCount, nextAttemptAt } = row;
    const last = deliveries.find(({ id }) => id === lastId);
    const lastDelivery = last === undefined ? null : toShownDelivery(webhook, last);
    return { ...webhook, lastDelivery, failingDeliveryCount, nextAttemptAt };
  });
}
