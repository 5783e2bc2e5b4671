-- Before the first release, the first migration was edited in place, so databases that applied it differ. This
-- one completes each of them, whatever it has already.

ALTER TABLE "api_keys" ADD COLUMN IF NOT EXISTS "issued_by" UUID;
ALTER TABLE "rate_limit_counters" ADD COLUMN IF NOT EXISTS "ban_threshold" BIGINT;
ALTER TABLE "webhooks" ADD COLUMN IF NOT EXISTS "paused" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "webhook_deliveries"
    ADD COLUMN IF NOT EXISTS "response_status" INTEGER,
    ADD COLUMN IF NOT EXISTS "response_body" TEXT;

CREATE INDEX IF NOT EXISTS "api_keys_issued_by_idx" ON "api_keys"("issued_by");

-- A constraint has no IF NOT EXISTS, and may have an earlier form.
ALTER TABLE "api_keys"
    DROP CONSTRAINT IF EXISTS "api_keys_issued_by_fkey",
    DROP CONSTRAINT IF EXISTS "api_keys_scopes_known",
    DROP CONSTRAINT IF EXISTS "api_keys_scopes_form";
ALTER TABLE "api_keys"
    ADD CONSTRAINT "api_keys_issued_by_fkey"
        FOREIGN KEY ("issued_by") REFERENCES "api_keys"("id") ON DELETE SET NULL ON UPDATE CASCADE,
    -- The service knows which scopes there are.
    ADD CONSTRAINT "api_keys_scopes_form" CHECK (
        array_to_string("scopes", ',') ~ '^([a-z]+:(read|write)(,([a-z]+:(read|write)))*)?$'
    );

-- `prisma migrate dev` would reset a database whose record of the first migration has another checksum than its
-- file. A shadow database has no records.
DO $$
BEGIN
    IF to_regclass('_prisma_migrations') IS NOT NULL THEN
        UPDATE "_prisma_migrations"
        SET "checksum" = 'a086791bfa10675756da50d9080f207926127f227499145f7cef64daf4213725'
        WHERE "migration_name" = '20261123000000_init';
    END IF;
END
$$;
