-- Rotation of keys, usage, audit, and what the seed file last said. Made by `prisma migrate diff`, except for what stands
-- below the last foreign key.

-- CreateEnum
CREATE TYPE "usage_period" AS ENUM ('minute', 'hour', 'day');

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "predecessor_id" UUID;

-- AlterTable
ALTER TABLE "rate_limit_counters" ADD COLUMN     "banned_until" TIMESTAMPTZ(3);

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
CREATE TABLE "usage_recorders" (
    "id" UUID NOT NULL,
    "batch" INTEGER NOT NULL,
    "written_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_recorders_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "seed_entries" (
    "subject" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "key_id" UUID,

    CONSTRAINT "seed_entries_pkey" PRIMARY KEY ("subject")
);

-- CreateIndex
CREATE INDEX "usage_period_starts_at_key_id_operation_deprecated_idx" ON "usage"("period", "starts_at" DESC, "key_id", "operation", "deprecated");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_predecessor_id_key" ON "api_keys"("predecessor_id");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_predecessor_id_fkey" FOREIGN KEY ("predecessor_id") REFERENCES "api_keys"("id") ON DELETE SET NULL ON UPDATE CASCADE;


-- What Prisma's schema cannot say follows. `migrate diff` neither sees nor removes it.

-- Instants that a date of JavaScript and an HTTP date can tell: neither infinite nor of five digits.
ALTER TABLE "api_keys"
    ADD CONSTRAINT "api_keys_expires_at_tellable"
        CHECK (isfinite("expires_at") AND "expires_at" < '10000-01-01 00:00+00'),
    ADD CONSTRAINT "api_keys_revoked_at_tellable"
        CHECK (isfinite("revoked_at") AND "revoked_at" < '10000-01-01 00:00+00');

-- Who calls deprecated operations is read from these rows alone, which are few.
CREATE INDEX "usage_deprecated_idx" ON "usage" ("operation", "key_id") WHERE "deprecated" AND "period" = 'day';

-- Replicas remember keys with the numbers of their quotas, and forget them when any of these tables changes, by whomever.
-- A new row needs no word: what was not there is not remembered. Notices of one transaction are one, as they are alike.
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

-- What was done stays written, whoever asks. Also during replication, which skips ordinary triggers.
CREATE FUNCTION "refuse_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit is append only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "audit_entries_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_entries"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_audit_change"();
ALTER TABLE "audit_entries" ENABLE ALWAYS TRIGGER "audit_entries_append_only";
