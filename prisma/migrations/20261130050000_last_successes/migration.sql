-- A delivery that is sent again keeps when it succeeded. The constraint is validated in the next migration.
ALTER TABLE "webhook_deliveries"
    ADD COLUMN "last_succeeded_at" TIMESTAMPTZ(3),
    ADD CONSTRAINT "webhook_deliveries_last_succeeded_at_representable"
        CHECK (isfinite("last_succeeded_at") AND "last_succeeded_at" < '10000-01-01 00:00+00') NOT VALID;

-- A trigger sets it, because the last release delivers too.
CREATE FUNCTION "keep_success"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."last_succeeded_at" := NEW."last_attempt_at";
    RETURN NEW;
END
$$;
CREATE TRIGGER "webhook_deliveries_success"
    BEFORE UPDATE OF "state" ON "webhook_deliveries"
    FOR EACH ROW WHEN (OLD."state" <> 'delivered' AND NEW."state" = 'delivered') EXECUTE FUNCTION "keep_success"();
