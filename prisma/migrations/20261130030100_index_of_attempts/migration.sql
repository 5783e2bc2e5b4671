-- Finds the last attempt to deliver to a webhook.
CREATE INDEX CONCURRENTLY "webhook_deliveries_webhook_id_last_attempt_at_idx"
    ON "webhook_deliveries" ("webhook_id", "last_attempt_at");
