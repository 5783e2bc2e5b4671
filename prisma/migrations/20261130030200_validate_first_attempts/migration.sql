-- Reads all deliveries, but blocks neither their reads nor their writes.
ALTER TABLE "webhook_deliveries" VALIDATE CONSTRAINT "webhook_deliveries_first_attempt_at_representable";
