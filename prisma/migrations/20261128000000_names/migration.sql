-- The names that stay from the first release on, with the data of earlier states. No release runs beside it yet,
-- so columns are renamed in place.

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
    ('listTeamKeys', 'listIssuedKeys'),
    ('issueTeamKey', 'issueFurtherKey'),
    ('revokeTeamKey', 'revokeIssuedKey'),
    ('listUsage', 'listUsageByKey'),
    ('listUsageOfKey', 'listKeyUsage'),
    ('listTopKeys', 'listTopUsage'),
    ('listDeprecatedCalls', 'listDeprecatedCallers'),
    ('suggestScopes', 'getScopeSuggestion'),
    ('changePlan', 'updateQuota'),
    ('labelKey', 'updateKey'),
    ('restrictKey', 'updateKey'),
    ('unbanKey', 'unbanQuota'),
    ('getKeyRateLimit', 'getQuotaRateLimit');
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
    SELECT json_agg(
        entry::jsonb - 'refusals' - 'lastAtMs' || jsonb_build_object(
            'operation', coalesce("new_name", entry ->> 'operation'),
            'denied', entry -> 'refusals',
            'lastRequestAtMs', entry -> 'lastAtMs'
        )
    )
    FROM json_array_elements("entries") AS entry
        LEFT JOIN "renamed_operations" ON "old_name" = entry ->> 'operation'
)
WHERE "size" > 0;
DROP TABLE "renamed_operations";

-- Audit.
ALTER TABLE "audit_events" RENAME COLUMN "at" TO "created_at";

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
UPDATE "webhook_deliveries" AS delivery SET "event_id" = event.id
FROM (
    SELECT "dedupe_key", min("id"::text)::uuid AS id FROM "webhook_deliveries" GROUP BY "dedupe_key"
) AS event
WHERE event."dedupe_key" = delivery."dedupe_key";
ALTER TABLE "webhook_deliveries" ALTER COLUMN "event_id" SET NOT NULL;
