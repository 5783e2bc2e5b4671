-- Since when a key is suspended, and what administrators call the customer of a quota in their own system.
ALTER TABLE "api_keys"
    ADD COLUMN "suspended_at" TIMESTAMPTZ(3),
    -- An instant that a JavaScript date can represent, with a year of four digits.
    ADD CONSTRAINT "api_keys_suspended_at_representable"
        CHECK (isfinite("suspended_at") AND "suspended_at" < '10000-01-01 00:00+00');
ALTER TABLE "quotas"
    ADD COLUMN "external_id" TEXT,
    -- As in the API.
    ADD CONSTRAINT "quotas_external_id_length" CHECK (char_length("external_id") BETWEEN 1 AND 255);
-- The column is still empty, so this takes no time.
CREATE INDEX "quotas_external_id_idx" ON "quotas" ("external_id") WHERE "external_id" IS NOT NULL;

-- The hash of a suspended key has a byte more, so that a release without suspension, which may serve beside this
-- one, does not find it and denies it too. It finds the key by its id, and can revoke it.
CREATE FUNCTION "mark_suspended_hash"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."hash" := substr(NEW."hash", 1, 32);
    IF NEW."suspended_at" IS NOT NULL THEN
        NEW."hash" := NEW."hash" || decode('00', 'hex');
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER "api_keys_suspended_hash" BEFORE INSERT OR UPDATE OF "suspended_at", "hash" ON "api_keys"
    FOR EACH ROW EXECUTE FUNCTION "mark_suspended_hash"();
