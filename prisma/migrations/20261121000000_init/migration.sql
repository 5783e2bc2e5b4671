-- PostgreSQL 14 to 18. Made by `prisma migrate diff`, except for what stands below the last foreign key; and without its
-- CREATE SCHEMA "public", which every database has and not every role may create.

-- CreateEnum
CREATE TYPE "pet_status" AS ENUM ('available', 'pending', 'sold');

-- CreateEnum
CREATE TYPE "key_role" AS ENUM ('client', 'admin');

-- CreateTable
CREATE TABLE "pets" (
    "id" BIGSERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "category_id" BIGINT NOT NULL,
    "status" "pet_status",

    CONSTRAINT "pets_pkey" PRIMARY KEY ("id")
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
    "role" "key_role" NOT NULL DEFAULT 'client',
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "last_four" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rate_limit_counters" (
    "subject" TEXT NOT NULL,
    "minute" INTEGER NOT NULL,
    "minute_used" INTEGER NOT NULL,
    "minute_limit" INTEGER NOT NULL,
    "day" INTEGER NOT NULL,
    "day_used" INTEGER NOT NULL,
    "day_limit" INTEGER,
    "granted" INTEGER NOT NULL,

    CONSTRAINT "rate_limit_counters_pkey" PRIMARY KEY ("subject")
);

-- CreateIndex
CREATE INDEX "pets_status_id_idx" ON "pets"("status", "id");

-- CreateIndex
CREATE INDEX "quotas_plan_idx" ON "quotas"("plan");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_quota_id_idx" ON "api_keys"("quota_id");

-- AddForeignKey
ALTER TABLE "quotas" ADD CONSTRAINT "quotas_plan_fkey" FOREIGN KEY ("plan") REFERENCES "plans"("name") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_quota_id_fkey" FOREIGN KEY ("quota_id") REFERENCES "quotas"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema cannot say follows. `migrate diff` neither sees nor removes it.

-- A name has 1 to 255 characters, as in the API.
ALTER TABLE "pets" ADD CONSTRAINT "pets_name_length" CHECK (char_length("name") BETWEEN 1 AND 255);

-- Two numbers or none ("custom", or the plan's own), and never a limit that lets nothing through.
ALTER TABLE "plans"
    ADD CONSTRAINT "plans_both_limits_or_none" CHECK (("per_minute" IS NULL) = ("per_day" IS NULL)),
    ADD CONSTRAINT "plans_limits_positive" CHECK ("per_minute" > 0 AND "per_day" > 0);
ALTER TABLE "quotas"
    ADD CONSTRAINT "quotas_both_limits_or_none" CHECK (("per_minute" IS NULL) = ("per_day" IS NULL)),
    ADD CONSTRAINT "quotas_limits_positive" CHECK ("per_minute" > 0 AND "per_day" > 0);

-- Every request updates its row in place. Pages filled to the half leave room for the new version beside the old one (a
-- HOT update), so that no index entry is written and the next visitor of the page clears the old version away.
-- Vacuum comes by a count of rows rather than a share of the table, which may hold a row for each address ever seen,
-- and does not pause, as it has little to do.
ALTER TABLE "rate_limit_counters" SET (
    fillfactor = 50,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);
