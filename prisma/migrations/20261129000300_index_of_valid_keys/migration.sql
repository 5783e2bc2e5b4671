-- A quota has few valid keys, however many it had.
CREATE INDEX CONCURRENTLY "api_keys_valid_idx" ON "api_keys"("quota_id", "expires_at") WHERE "revoked_at" IS NULL;
