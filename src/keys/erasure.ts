import type { Actor } from '../audit/audit.js';
import type { Prisma } from '../database/generated/client.js';
import { pauseWebhook } from '../webhooks/pause-webhook.js';

/** The name of a key whose customer was erased. */
const ERASED = 'Erased';
/** The fields of audit events on a quota and its keys that may describe the customer. */
const AUDIT_FIELDS = ['name', 'note', 'allowedNetworks', 'externalId'];

/**
 * Removes what describes the customer of a quota: its external id, names, notes and networks of its keys, the
 * same in the audit and in events for webhooks, its failed requests, and stored responses. Ids and counts
 * stay. The webhooks that receive only its events are paused, because they may lead to the customer.
 *
 * Returns whether anything described the customer until now, so that something was removed or deleted.
 */
export async function erasePersonalData(
  transaction: Prisma.TransactionClient,
  quotaId: string,
  actor: Actor,
): Promise<boolean> {
  const webhooks = await transaction.webhook.findMany({
    where: { quotaId },
    orderBy: { id: 'asc' },
    select: { id: true, url: true },
  });
  for (const webhook of webhooks) {
    await pauseWebhook(transaction, webhook, 'administrator', actor);
  }
  const ofKeys = await transaction.$executeRaw`
    UPDATE api_keys
    SET name = ${ERASED}, note = NULL, allowed_networks = allowed_networks[1:0]
    WHERE
      quota_id = ${quotaId}::uuid
      AND (name <> ${ERASED} OR note IS NOT NULL OR cardinality(allowed_networks) > 0)`;
  const ofQuota = await transaction.$executeRaw`
    UPDATE quotas SET external_id = NULL WHERE id = ${quotaId}::uuid AND external_id IS NOT NULL`;
  await transaction.$executeRaw`SELECT set_config('animal_store.audit_change', 'UPDATE', true)`;
  const ofAudit = await transaction.$executeRaw`
    UPDATE audit_events
    SET before = before - ${AUDIT_FIELDS}::text[], after = after - ${AUDIT_FIELDS}::text[]
    WHERE
      (
        subject = 'quota:' || ${quotaId}
        OR subject IN (SELECT 'key:' || id FROM api_keys WHERE quota_id = ${quotaId}::uuid)
      )
      AND (before ?| ${AUDIT_FIELDS}::text[] OR after ?| ${AUDIT_FIELDS}::text[])`;
  await transaction.$executeRaw`SELECT set_config('animal_store.audit_change', '', true)`;
  const ofEvents = await transaction.$executeRaw`
    UPDATE webhook_deliveries
    SET
      payload = jsonb_set(payload::jsonb, '{data,keyName}', to_jsonb(${ERASED}::text), false)
        #- '{data,externalId}',
      response_body = NULL
    WHERE
      payload->'data'->>'quotaId' = ${quotaId}
      AND (
        payload->'data'->>'keyName' <> ${ERASED}
        OR payload->'data'->>'externalId' IS NOT NULL
        OR response_body IS NOT NULL
      )`;
  const failures = await transaction.$executeRaw`
    DELETE FROM failed_requests WHERE quota_id = ${quotaId}::uuid`;
  const responses = await transaction.$executeRaw`
    DELETE FROM stored_responses WHERE quota_id = ${quotaId}::uuid`;
  return ofKeys + ofQuota + ofAudit + ofEvents + failures + responses > 0;
}
