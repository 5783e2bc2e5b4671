-- Reads all deliveries, but blocks neither their reads nor their writes.
ALTER TABLE "webhook_deliveries" VALIDATE CONSTRAINT "webhook_deliveries_last_succeeded_at_representable";
