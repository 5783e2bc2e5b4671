-- A list of webhooks counts the deliveries that fail, beside many that wait for their first attempt.
CREATE INDEX CONCURRENTLY "webhook_deliveries_failing_idx"
    ON "webhook_deliveries" ("webhook_id") WHERE "state" = 'pending' AND "last_failure" IS NOT NULL;
