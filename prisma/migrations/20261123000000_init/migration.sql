-- PostgreSQL 14 to 18. Made by `prisma migrate diff`, except for what stands below the last foreign key; and without its
-- CREATE SCHEMA "public", which every database has and not every role may create.

-- CreateEnum
CREATE TYPE "pet_status" AS ENUM ('available', 'pending', 'sold');

-- CreateEnum
CREATE TYPE "order_status" AS ENUM ('placed', 'approved', 'delivered');

-- CreateEnum
CREATE TYPE "key_role" AS ENUM ('client', 'admin');

-- CreateEnum
CREATE TYPE "usage_period" AS ENUM ('minute', 'hour', 'day');

-- CreateEnum
CREATE TYPE "webhook_delivery_state" AS ENUM ('pending', 'delivered', 'failed');

-- CreateTable
CREATE TABLE "pets" (
    "id" BIGSERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "category_id" BIGINT NOT NULL,
    "status" "pet_status",

    CONSTRAINT "pets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "orders" (
    "id" BIGSERIAL NOT NULL,
    "quota_id" UUID NOT NULL,
    "pet_id" BIGINT NOT NULL,
    "quantity" INTEGER NOT NULL,
    "ship_date" TIMESTAMPTZ(3),
    "status" "order_status" NOT NULL DEFAULT 'placed',
    "complete" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "orders_pkey" PRIMARY KEY ("quota_id","id")
);

-- CreateTable
CREATE TABLE "stored_responses" (
    "quota_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "body" TEXT NOT NULL,
    "location" TEXT,
    "stored_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "stored_responses_pkey" PRIMARY KEY ("quota_id","key")
);

-- CreateTable
CREATE TABLE "plans" (
    "name" TEXT NOT NULL,
    "per_minute" INTEGER,
    "per_day" INTEGER,

    CONSTRAINT "plans_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "quotas" (
    "id" UUID NOT NULL,
    "plan" TEXT NOT NULL,
    "per_minute" INTEGER,
    "per_day" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "quotas_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "quota_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "note" TEXT,
    "role" "key_role" NOT NULL DEFAULT 'client',
    "scopes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "allowed_networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "last_four" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "predecessor_id" UUID,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rate_limit_counters" (
    "bucket_key" TEXT NOT NULL,
    "minute" INTEGER NOT NULL,
    "minute_used" INTEGER NOT NULL,
    "minute_limit" INTEGER NOT NULL,
    "day" INTEGER NOT NULL,
    "day_used" INTEGER NOT NULL,
    "day_limit" INTEGER,
    "requests" INTEGER NOT NULL DEFAULT 0,
    "allowed" INTEGER NOT NULL,
    "denied" INTEGER NOT NULL DEFAULT 0,
    "refusals" INTEGER NOT NULL DEFAULT 0,
    "banned_until" TIMESTAMPTZ(3),
    "ban_level" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "rate_limit_counters_pkey" PRIMARY KEY ("bucket_key")
);

-- CreateTable
CREATE TABLE "usage" (
    "key_id" UUID NOT NULL,
    "quota_id" UUID NOT NULL,
    "period" "usage_period" NOT NULL,
    "starts_at" TIMESTAMPTZ(0) NOT NULL,
    "operation" TEXT NOT NULL,
    "deprecated" BOOLEAN NOT NULL,
    "succeeded" BIGINT NOT NULL,
    "redirected" BIGINT NOT NULL,
    "client_errors" BIGINT NOT NULL,
    "server_errors" BIGINT NOT NULL,
    "refusals" BIGINT NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_pkey" PRIMARY KEY ("key_id","period","starts_at","operation","deprecated")
);

-- CreateTable
CREATE TABLE "usage_batches" (
    "id" UUID NOT NULL,
    "written_at" TIMESTAMPTZ(3) NOT NULL,
    "size" INTEGER NOT NULL,
    "entries" JSON NOT NULL,

    CONSTRAINT "usage_batches_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_events" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB NOT NULL,

    CONSTRAINT "audit_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhooks" (
    "id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "events" TEXT[],
    "secret" TEXT NOT NULL,
    "previous_secret" TEXT,
    "previous_secret_ends_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL,
    "webhook_id" UUID NOT NULL,
    "event" TEXT NOT NULL,
    "event_key" TEXT NOT NULL,
    "payload" JSON NOT NULL,
    "state" "webhook_delivery_state" NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_attempt_at" TIMESTAMPTZ(3),
    "last_failure" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "pets_status_id_idx" ON "pets"("status", "id");

-- CreateIndex
CREATE INDEX "orders_quota_id_status_id_idx" ON "orders"("quota_id", "status", "id");

-- CreateIndex
CREATE INDEX "orders_pet_id_idx" ON "orders"("pet_id");

-- CreateIndex
CREATE INDEX "stored_responses_stored_at_idx" ON "stored_responses"("stored_at");

-- CreateIndex
CREATE INDEX "quotas_plan_idx" ON "quotas"("plan");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_predecessor_id_key" ON "api_keys"("predecessor_id");

-- CreateIndex
CREATE INDEX "api_keys_quota_id_idx" ON "api_keys"("quota_id");

-- CreateIndex
CREATE INDEX "usage_period_starts_at_key_id_operation_deprecated_idx" ON "usage"("period", "starts_at" DESC, "key_id", "operation", "deprecated");

-- CreateIndex
CREATE INDEX "webhook_deliveries_webhook_id_id_idx" ON "webhook_deliveries"("webhook_id", "id" DESC);

-- CreateIndex
CREATE INDEX "webhook_deliveries_created_at_idx" ON "webhook_deliveries"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_event_key_webhook_id_key" ON "webhook_deliveries"("event_key", "webhook_id");

-- AddForeignKey
ALTER TABLE "orders" ADD CONSTRAINT "orders_quota_id_fkey" FOREIGN KEY ("quota_id") REFERENCES "quotas"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "orders" ADD CONSTRAINT "orders_pet_id_fkey" FOREIGN KEY ("pet_id") REFERENCES "pets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "stored_responses" ADD CONSTRAINT "stored_responses_quota_id_fkey" FOREIGN KEY ("quota_id") REFERENCES "quotas"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "quotas" ADD CONSTRAINT "quotas_plan_fkey" FOREIGN KEY ("plan") REFERENCES "plans"("name") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_quota_id_fkey" FOREIGN KEY ("quota_id") REFERENCES "quotas"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_predecessor_id_fkey" FOREIGN KEY ("predecessor_id") REFERENCES "api_keys"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema cannot say follows. `migrate diff` neither sees nor removes it.

-- A name has 1 to 255 characters, as in the API.
ALTER TABLE "pets" ADD CONSTRAINT "pets_name_length" CHECK (char_length("name") BETWEEN 1 AND 255);
ALTER TABLE "api_keys"
    ADD CONSTRAINT "api_keys_scopes_known" CHECK (
        "scopes" <@ ARRAY['pets:read', 'pets:write', 'orders:read', 'orders:write', 'admin:read', 'admin:write']
    ),
    -- A value that is no network, or not in its canonical form, fails.
    ADD CONSTRAINT "api_keys_allowed_networks_canonical" CHECK (("allowed_networks"::cidr[])::text[] = "allowed_networks");

-- Two limits or none ("custom", or the plan's own), and never a limit that allows nothing.
ALTER TABLE "plans"
    ADD CONSTRAINT "plans_both_limits_or_none" CHECK (("per_minute" IS NULL) = ("per_day" IS NULL)),
    ADD CONSTRAINT "plans_limits_positive" CHECK ("per_minute" > 0 AND "per_day" > 0);
ALTER TABLE "quotas"
    ADD CONSTRAINT "quotas_both_limits_or_none" CHECK (("per_minute" IS NULL) = ("per_day" IS NULL)),
    ADD CONSTRAINT "quotas_limits_positive" CHECK ("per_minute" > 0 AND "per_day" > 0);

-- Instants that a JavaScript date and an HTTP date can represent: finite, with a year of four digits.
ALTER TABLE "api_keys"
    ADD CONSTRAINT "api_keys_expires_at_representable"
        CHECK (isfinite("expires_at") AND "expires_at" < '10000-01-01 00:00+00'),
    ADD CONSTRAINT "api_keys_revoked_at_representable"
        CHECK (isfinite("revoked_at") AND "revoked_at" < '10000-01-01 00:00+00');

ALTER TABLE "orders" ADD CONSTRAINT "orders_quantity_check" CHECK ("quantity" >= 1);

-- Makes the identifiers of orders unique. The condition holds for every order and for no query, so PostgreSQL cannot read a page of
-- one quota along this index, past the orders of all other quotas.
CREATE UNIQUE INDEX "orders_id_key" ON "orders"("id") WHERE "quantity" >= 1;

-- Every request updates its counter in place. Half-filled pages have room for the new version beside the old one (a HOT update), so
-- no index entry is written and the next query of the page removes the old version. Vacuum starts after a number of changed rows
-- rather than a share of the table, which may hold a row for each address ever seen, and it does not pause, because it has little to do.
ALTER TABLE "rate_limit_counters" SET (
    fillfactor = 50,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);

-- Lists bans without the rows of all others. It changes with a ban alone, so ordinary counting stays a HOT update.
CREATE INDEX "rate_limit_counters_banned_until_idx" ON "rate_limit_counters" ("banned_until") WHERE "banned_until" IS NOT NULL;

-- The callers of deprecated operations are read from these rows alone, which are few.
CREATE INDEX "usage_deprecated_idx" ON "usage" ("operation", "key_id") WHERE "deprecated" AND "period" = 'day';

-- A key's hour and day change with every aggregation; free space keeps the new version beside the old one (a HOT update).
ALTER TABLE "usage" SET (fillfactor = 85);

-- Finds the deliveries that are due without those of the last weeks.
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries" ("webhook_id", "next_attempt_at") WHERE "state" = 'pending';

-- Replicas cache keys with the limits of their quotas, and drop them when one of these tables changes, whoever changes it.
-- A new row needs no notice: what was not there is not cached. Equal notices of one transaction are sent once.
CREATE FUNCTION "notify_key_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('animal_store_keys', '');
    RETURN NULL;
END
$$;
CREATE TRIGGER "api_keys_notify" AFTER UPDATE OR DELETE OR TRUNCATE ON "api_keys"
    FOR EACH STATEMENT EXECUTE FUNCTION "notify_key_change"();
CREATE TRIGGER "quotas_notify" AFTER UPDATE OR DELETE OR TRUNCATE ON "quotas"
    FOR EACH STATEMENT EXECUTE FUNCTION "notify_key_change"();
CREATE TRIGGER "plans_notify" AFTER UPDATE OR DELETE OR TRUNCATE ON "plans"
    FOR EACH STATEMENT EXECUTE FUNCTION "notify_key_change"();

-- The audit is append only, for every role, and during replication, which skips ordinary triggers.
CREATE FUNCTION "reject_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit is append only: % is rejected', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "audit_events_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_events"
    FOR EACH STATEMENT EXECUTE FUNCTION "reject_audit_change"();
ALTER TABLE "audit_events" ENABLE ALWAYS TRIGGER "audit_events_append_only";
