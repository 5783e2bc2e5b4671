-- A webhook may be limited to one quota. The receiver may ask for a pause by Retry-After. The attempts of a delivery
-- go on for three days from the first.
ALTER TABLE "webhooks"
    ADD COLUMN "quota_id" UUID,
    ADD COLUMN "retry_after_at" TIMESTAMPTZ(3),
    ADD CONSTRAINT "webhooks_quota_id_fkey" FOREIGN KEY ("quota_id") REFERENCES "quotas" ("id")
        ON DELETE RESTRICT ON UPDATE CASCADE,
    ADD CONSTRAINT "webhooks_retry_after_at_representable"
        CHECK (isfinite("retry_after_at") AND "retry_after_at" < '10000-01-01 00:00+00');
-- There are at most 20 webhooks.
CREATE INDEX "webhooks_quota_id_idx" ON "webhooks" ("quota_id");
-- The constraint is validated later, in a migration that does not block deliveries.
ALTER TABLE "webhook_deliveries"
    ADD COLUMN "first_attempt_at" TIMESTAMPTZ(3),
    ADD COLUMN "withheld" BOOLEAN NOT NULL DEFAULT false,
    ADD CONSTRAINT "webhook_deliveries_first_attempt_at_representable"
        CHECK (isfinite("first_attempt_at") AND "first_attempt_at" < '10000-01-01 00:00+00') NOT VALID;

-- The last release queues every event for every webhook. Deliveries of other quotas are stored without data and
-- marked as delivered: without a row, that release would find the event again and again.
CREATE FUNCTION "withhold_other_quotas"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "quota" UUID;
BEGIN
    -- A restore may have an empty search path.
    EXECUTE format('SELECT "quota_id" FROM %I."webhooks" WHERE "id" = $1', TG_TABLE_SCHEMA)
        INTO "quota" USING NEW."webhook_id";
    IF "quota"::text <> coalesce(NEW."payload" -> 'data' ->> 'quotaId', '') THEN
        NEW."withheld" := true;
        NEW."state" := 'delivered';
        NEW."next_attempt_at" := NULL;
        NEW."payload" := '{}';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER "webhook_deliveries_of_quota" BEFORE INSERT ON "webhook_deliveries"
    FOR EACH ROW WHEN (NEW."event_type" <> 'webhook.test') EXECUTE FUNCTION "withhold_other_quotas"();

-- The last release neither stores the first attempt, nor sends a test event only once.
CREATE FUNCTION "complete_attempt"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD."attempts" = 0 AND NEW."attempts" = 1 THEN
        NEW."first_attempt_at" := NEW."last_attempt_at";
    ELSIF
        NEW."event_type" = 'webhook.test' AND NEW."state" = 'pending' AND NEW."last_failure" IS NOT NULL
        AND NEW."attempts" = OLD."attempts"
    THEN
        NEW."state" := 'failed';
        NEW."next_attempt_at" := NULL;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER "webhook_deliveries_attempt"
    BEFORE UPDATE OF "attempts", "last_failure" ON "webhook_deliveries"
    FOR EACH ROW EXECUTE FUNCTION "complete_attempt"();

-- The last release resumes a webhook without three more days for its pending deliveries.
CREATE FUNCTION "restart_attempts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "webhook_deliveries" SET "first_attempt_at" = NULL
        WHERE "webhook_id" = NEW."id" AND "state" = 'pending';
    RETURN NULL;
END
$$;
CREATE TRIGGER "webhooks_resumed" AFTER UPDATE OF "paused_at" ON "webhooks"
    FOR EACH ROW WHEN (OLD."paused_at" IS NOT NULL AND NEW."paused_at" IS NULL)
    EXECUTE FUNCTION "restart_attempts"();
