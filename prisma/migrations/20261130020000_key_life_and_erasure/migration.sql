-- A key whose successor was never used may be rotated again, which replaces that successor.
ALTER TABLE "api_keys"
    ADD COLUMN "first_used_at" TIMESTAMPTZ(3)
        CONSTRAINT "api_keys_first_used_at_representable"
            CHECK (isfinite("first_used_at") AND "first_used_at" < '10000-01-01 00:00+00'),
    ADD COLUMN "former_line_id" UUID;

-- The longest life of a key of a plan. The trigger applies it to what the last release issues, which does not know
-- of it; keys that are older, as those of a restored dump, stay.
ALTER TABLE "plans"
    ADD COLUMN "max_key_lifetime_days" INTEGER
        CONSTRAINT "plans_max_key_lifetime_days" CHECK ("max_key_lifetime_days" BETWEEN 1 AND 3650);

CREATE FUNCTION "limit_key_lifetime"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    latest TIMESTAMPTZ(3);
BEGIN
    IF NEW."created_at" > statement_timestamp() - interval '1 day' THEN
        -- A restore may have an empty search path.
        EXECUTE format(
            'SELECT statement_timestamp() + make_interval(secs => p."max_key_lifetime_days" * 86400)
             FROM %1$I."quotas" q JOIN %1$I."plans" p ON p."name" = q."plan" WHERE q."id" = $1',
            TG_TABLE_SCHEMA
        ) INTO latest USING NEW."quota_id";
        NEW."expires_at" := least(NEW."expires_at", latest);
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER "api_keys_lifetime" BEFORE INSERT ON "api_keys"
    FOR EACH ROW EXECUTE FUNCTION "limit_key_lifetime"();

-- The audit stays append only, but for AUDIT_RETENTION, which deletes old events by the function below, and for the
-- erasure of a customer. Both name their operation in a setting of the transaction. The last release sets none.
CREATE OR REPLACE FUNCTION "reject_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP IN ('UPDATE', 'DELETE') AND current_setting('animal_store.audit_change', true) = TG_OP THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'The audit is append only: % is rejected', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;

-- Deletes the events before a time, at most so many, the oldest first, and returns their ids.
CREATE FUNCTION "delete_audit_events"("latest" TIMESTAMPTZ, "count" INTEGER) RETURNS SETOF BIGINT
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('animal_store.audit_change', 'DELETE', true);
    RETURN QUERY
        DELETE FROM "audit_events"
        WHERE "id" = ANY (ARRAY(SELECT "id" FROM "audit_events" ORDER BY "id" LIMIT "count"))
            AND "created_at" < "latest"
        RETURNING "id";
    PERFORM set_config('animal_store.audit_change', '', true);
END
$$;
