-- The valid keys of each plan are counted from it alone, without their rows. "api_keys_valid_idx" has the
-- suspended keys too, because these keep their room on a quota: its live keys are found by it.
CREATE INDEX CONCURRENTLY "api_keys_not_suspended_idx" ON "api_keys"("quota_id", "expires_at") WHERE "revoked_at" IS NULL AND "suspended_at" IS NULL;
