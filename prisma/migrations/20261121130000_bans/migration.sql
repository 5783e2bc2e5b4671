-- Bans: the refusals of a minute, and the step of the ladder. Made by `prisma migrate diff`. Defaults, so that a replica that
-- still runs the previous release can add a row.

-- AlterTable
ALTER TABLE "rate_limit_counters" ADD COLUMN     "asked" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "ban_step" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "refusals" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "refused" INTEGER NOT NULL DEFAULT 0;

-- Who is or was banned, without the rows of all others. It changes with a ban alone, so ordinary counting stays a HOT update.
CREATE INDEX "rate_limit_counters_banned_until_idx" ON "rate_limit_counters" ("banned_until") WHERE "banned_until" IS NOT NULL;
