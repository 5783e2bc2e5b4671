-- The names that stay from the first release on, with the data of earlier states. No release runs beside it yet,
-- so columns are renamed in place.

-- In the order of the service's transactions, so that one that is still running cannot deadlock with this.
LOCK TABLE
    "plans", "quotas", "api_keys", "webhooks", "audit_events", "webhook_deliveries", "usage_batches", "usage",
    "pets", "orders", "stored_responses", "rate_limit_counters"
IN ACCESS EXCLUSIVE MODE;

-- Enumerations that may grow are texts: a release cannot read a new value of a type that it does not have.
ALTER TABLE "orders"
    ALTER COLUMN "status" DROP DEFAULT,
    ALTER COLUMN "status" TYPE TEXT USING "status"::text,
    ALTER COLUMN "status" SET DEFAULT 'placed',
    ADD CONSTRAINT "orders_status_known" CHECK ("status" IN ('placed', 'approved', 'delivered'));
DROP TYPE "order_status";

ALTER TABLE "api_keys"
    ALTER COLUMN "role" DROP DEFAULT,
    ALTER COLUMN "role" TYPE TEXT USING "role"::text,
    ALTER COLUMN "role" SET DEFAULT 'client',
    ADD CONSTRAINT "api_keys_role_known" CHECK ("role" IN ('client', 'admin'));
DROP TYPE "key_role";

DROP INDEX "usage_deprecated_idx";
ALTER TABLE "usage"
    ALTER COLUMN "period" TYPE TEXT USING "period"::text,
    ADD CONSTRAINT "usage_period_known" CHECK ("period" IN ('minute', 'hour', 'day'));
CREATE INDEX "usage_deprecated_idx" ON "usage" ("operation", "key_id")
    WHERE "deprecated" AND "period" = 'day';
DROP TYPE "usage_period";

DROP INDEX "webhook_deliveries_due_idx";
ALTER TABLE "webhook_deliveries"
    ALTER COLUMN "state" DROP DEFAULT,
    ALTER COLUMN "state" TYPE TEXT USING "state"::text,
    ALTER COLUMN "state" SET DEFAULT 'pending',
    ADD CONSTRAINT "webhook_deliveries_state_known" CHECK ("state" IN ('pending', 'delivered', 'failed'));
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries" ("webhook_id", "next_attempt_at")
    WHERE "state" = 'pending';
DROP TYPE "webhook_delivery_state";

-- Stored responses.
ALTER TABLE "stored_responses" RENAME COLUMN "key" TO "idempotency_key";

-- Keys. NULL stands for all scopes and for any address, and an empty list for none: a list that is emptied by
-- mistake grants nothing. Until now an empty list meant all.
ALTER TABLE "api_keys" RENAME COLUMN "issued_by" TO "issuer_id";
ALTER TABLE "api_keys" RENAME CONSTRAINT "api_keys_issued_by_fkey" TO "api_keys_issuer_id_fkey";
ALTER INDEX "api_keys_issued_by_idx" RENAME TO "api_keys_issuer_id_idx";
ALTER TABLE "api_keys"
    ALTER COLUMN "scopes" DROP NOT NULL,
    ALTER COLUMN "scopes" DROP DEFAULT,
    ALTER COLUMN "allowed_networks" DROP NOT NULL,
    ALTER COLUMN "allowed_networks" DROP DEFAULT,
    DROP CONSTRAINT "api_keys_scopes_form",
    -- The service knows which scopes there are.
    ADD CONSTRAINT "api_keys_scopes_form"
        CHECK (array_to_string("scopes", ',') ~ '^([a-z-]+:[a-z]+(,[a-z-]+:[a-z]+)*)?$');
UPDATE "api_keys" SET "scopes" = NULL WHERE "scopes" = '{}';
UPDATE "api_keys" SET "allowed_networks" = NULL WHERE "allowed_networks" = '{}';

-- Counters. A window is its number since the Unix epoch.
ALTER TABLE "rate_limit_counters" RENAME COLUMN "minute" TO "minute_number";
ALTER TABLE "rate_limit_counters" RENAME COLUMN "day" TO "day_number";
ALTER TABLE "rate_limit_counters" RENAME COLUMN "refusals" TO "minute_denied";
ALTER TABLE "rate_limit_counters" RENAME COLUMN "requests" TO "last_requests";
ALTER TABLE "rate_limit_counters" RENAME COLUMN "allowed" TO "last_allowed";
ALTER TABLE "rate_limit_counters" RENAME COLUMN "denied" TO "last_denied";

-- Usage.
ALTER TABLE "usage" RENAME COLUMN "refusals" TO "denied";
ALTER TABLE "usage" RENAME COLUMN "last_at" TO "last_request_at";

-- Names of operations are data. Two names become one, and some old names are new ones of other operations, so
-- the rows are deleted, added up and inserted again. The table of names is no temporary one, because not every
-- role may create those.
CREATE TABLE "renamed_operations" ("old_name" TEXT NOT NULL, "new_name" TEXT NOT NULL);
INSERT INTO "renamed_operations" VALUES
    ('getOwnKey', 'getCurrentKey'),
    ('rotateOwnKey', 'rotateCurrentKey'),
    ('listOwnUsage', 'listUsage'),
    ('listOwnDeprecatedCalls', 'listDeprecatedCalls'),
    ('listTeamKeys', 'listFurtherKeys'),
    ('issueTeamKey', 'issueFurtherKey'),
    ('revokeTeamKey', 'revokeFurtherKey'),
    ('listUsage', 'listUsageByKey'),
    ('listUsageOfKey', 'listKeyUsage'),
    ('listTopKeys', 'listTopUsage'),
    ('listDeprecatedCalls', 'listDeprecatedCallers'),
    ('suggestScopes', 'getScopeSuggestion'),
    ('changePlan', 'updateQuota'),
    ('labelKey', 'updateKey'),
    ('restrictKey', 'updateKey'),
    ('unbanKey', 'unbanQuota'),
    ('getKeyRateLimit', 'getQuotaRateLimit'),
    ('listAudit', 'listAuditEvents');
WITH renamed AS (
    DELETE FROM "usage" USING "renamed_operations" WHERE "operation" = "old_name"
    RETURNING "usage".*, "new_name"
)
INSERT INTO "usage" (
    "key_id", "quota_id", "period", "starts_at", "operation", "deprecated",
    "succeeded", "redirected", "client_errors", "server_errors", "denied", "last_request_at"
)
SELECT
    "key_id", min("quota_id"::text)::uuid, "period", "starts_at", "new_name", "deprecated",
    sum("succeeded"), sum("redirected"), sum("client_errors"), sum("server_errors"), sum("denied"),
    max("last_request_at")
FROM renamed
GROUP BY "key_id", "period", "starts_at", "new_name", "deprecated";

-- Requests that were journaled, and are not in these rows yet.
UPDATE "usage_batches" SET "entries" = (
    SELECT coalesce(json_agg(
        entry::jsonb - 'refusals' - 'lastAtMs' || jsonb_build_object(
            'operation', coalesce("new_name", entry ->> 'operation'),
            'denied', entry -> 'refusals',
            'lastRequestAtMs', entry -> 'lastAtMs'
        )
    ), '[]')
    FROM json_array_elements("entries") AS entry
        LEFT JOIN "renamed_operations" ON "old_name" = entry ->> 'operation'
)
WHERE "size" > 0;
DROP TABLE "renamed_operations";

-- Audit. It is append only, so its trigger is off for the conversion.
ALTER TABLE "audit_events" RENAME COLUMN "at" TO "created_at";
ALTER TABLE "audit_events" DISABLE TRIGGER "audit_events_append_only";

UPDATE "audit_events"
SET "actor" = CASE WHEN "actor" = 'terminal' THEN 'service' ELSE 'key:' || "actor" END
WHERE "actor" NOT LIKE 'terminal:%';

-- A change of a plan and the end of a ban are actions on the quota. A key that was deleted stays the subject.
UPDATE "audit_events"
SET "subject" = 'quota:' || "quota_id"
FROM "api_keys"
WHERE "action" IN ('key.plan_changed', 'key.unbanned') AND "subject" = 'key:' || "api_keys"."id";

UPDATE "audit_events" AS event
SET "action" = renamed."new"
FROM (VALUES
    ('key.labeled', 'key.updated'),
    ('key.restricted', 'key.updated'),
    ('key.plan_changed', 'quota.updated'),
    ('key.unbanned', 'quota.unbanned'),
    ('plan.changed', 'plan.updated'),
    ('webhook.changed', 'webhook.updated')
) AS renamed ("old", "new")
WHERE event."action" = renamed."old";

-- The values of actions on keys, quotas and webhooks. A quotation mark within a text is escaped, so a text as the
-- administrator wrote it contains none of these.
DO $$
DECLARE
    old_text TEXT;
    new_text TEXT;
    actions TEXT;
BEGIN
    FOR actions, old_text, new_text IN
        VALUES
            ('(key|quota)', '"ownLimits": true', '"limitsSource": "quota"'),
            ('(key|quota)', '"ownLimits": false', '"limitsSource": "plan"'),
            ('webhook', '"previousSecretEndsAt": ', '"previousSecretExpiresAt": '),
            ('webhook', '"delivery": ', '"deliveryId": '),
            ('webhook', '"event": ', '"eventType": '),
            ('webhook', '"quota.day_limit_80"', '"quota.day_limit_approaching"'),
            ('webhook', '"operation.deprecated_called"', '"key.deprecated_operation_called"')
    LOOP
        UPDATE "audit_events"
        SET
            "before" = replace("before"::text, old_text, new_text)::jsonb,
            "after" = replace("after"::text, old_text, new_text)::jsonb
        WHERE "action" ~ ('^' || actions) AND strpos(concat("before", "after"), old_text) > 0;
    END LOOP;
END
$$;
ALTER TABLE "audit_events" ENABLE ALWAYS TRIGGER "audit_events_append_only";

-- Webhooks.
ALTER TABLE "webhooks" RENAME COLUMN "previous_secret_ends_at" TO "previous_secret_expires_at";
ALTER TABLE "webhooks"
    ADD COLUMN "paused_at" TIMESTAMPTZ(3),
    ADD COLUMN "pause_reason" TEXT,
    ADD CONSTRAINT "webhooks_pause_has_reason" CHECK (("paused_at" IS NULL) = ("pause_reason" IS NULL));
UPDATE "webhooks" SET "paused_at" = statement_timestamp(), "pause_reason" = 'administrator' WHERE "paused";
ALTER TABLE "webhooks" DROP COLUMN "paused";

-- Deliveries of one event, to several webhooks, share its identifier.
ALTER TABLE "webhook_deliveries" RENAME COLUMN "event" TO "event_type";
ALTER TABLE "webhook_deliveries" RENAME COLUMN "event_key" TO "dedupe_key";
ALTER INDEX "webhook_deliveries_event_key_webhook_id_key" RENAME TO "webhook_deliveries_dedupe_key_webhook_id_key";
ALTER TABLE "webhook_deliveries" ADD COLUMN "event_id" UUID;
UPDATE "webhook_deliveries" AS delivery
-- A receiver that saw an attempt identifies the event by the `webhook-id` of that, which was the delivery's id.
SET "event_id" = CASE WHEN "last_attempt_at" IS NULL THEN event.id ELSE delivery."id" END
FROM (
    SELECT "dedupe_key", min("id"::text)::uuid AS id FROM "webhook_deliveries" GROUP BY "dedupe_key"
) AS event
WHERE event."dedupe_key" = delivery."dedupe_key";
ALTER TABLE "webhook_deliveries" ALTER COLUMN "event_id" SET NOT NULL;

-- Events. Those of a quota describe the quota instead of its newest key, and those of a key name it `keyName`. All
-- deliveries are converted, because any may be sent again.
UPDATE "webhooks"
SET "events" = array_replace(
    array_replace("events", 'quota.day_limit_80', 'quota.day_limit_approaching'),
    'operation.deprecated_called', 'key.deprecated_operation_called'
);
UPDATE "webhook_deliveries" AS delivery
SET
    "event_type" = event."type",
    -- An event that was queued once is found by it, and not queued again.
    "dedupe_key" = event."type" || substr("dedupe_key", length("event_type") + 1),
    "payload" = json_build_object(
        'type', event."type", 'timestamp', "payload" -> 'timestamp', 'data', event."data" || event."added"
    )
FROM (
    SELECT "id", coalesce(renamed."type", "event_type") AS "type",
        CASE
            WHEN "event_type" LIKE 'quota.%' THEN facts - 'keyId' - 'name'
            ELSE facts - 'name' - 'removedAt'
        END AS "data",
        CASE "event_type"
            WHEN 'quota.day_limit_80' THEN '{"thresholdPercent": 80}'
            WHEN 'quota.day_limit_reached' THEN '{"thresholdPercent": 100}'
            ELSE '{}'
        END::jsonb
        || CASE
            WHEN "event_type" LIKE 'quota.%' OR NOT facts ? 'name' THEN '{}'
            ELSE jsonb_build_object('keyName', facts -> 'name')
        END
        || CASE
            WHEN facts ? 'removedAt' THEN jsonb_build_object('sunsetAt', facts -> 'removedAt')
            ELSE '{}'
        END AS "added"
    FROM
        "webhook_deliveries"
        CROSS JOIN LATERAL (SELECT ("payload" -> 'data')::jsonb) AS payload_data (facts)
        LEFT JOIN (VALUES
            ('quota.day_limit_80', 'quota.day_limit_approaching'),
            ('operation.deprecated_called', 'key.deprecated_operation_called')
        ) AS renamed ("old", "type") ON renamed."old" = "event_type"
) AS event
WHERE event."id" = delivery."id";
