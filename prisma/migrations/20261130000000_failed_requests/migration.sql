-- Requests that got 4xx or 5xx, for a day by default. At most 60 of a quota and minute are stored, and 60 of all
-- requests without a quota; `failed_request_minutes` counts all of them.
CREATE TABLE "failed_requests" (
    "id" UUID NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "request_id" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "code" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "duration_ms" DOUBLE PRECISION NOT NULL,
    "key_id" UUID,
    "quota_id" UUID,
    "client_address" TEXT NOT NULL,

    CONSTRAINT "failed_requests_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "failed_requests_requested_at_id_idx" ON "failed_requests" ("requested_at", "id");
CREATE INDEX "failed_requests_quota_id_requested_at_id_idx" ON "failed_requests" ("quota_id", "requested_at", "id");
CREATE INDEX "failed_requests_key_id_requested_at_id_idx" ON "failed_requests" ("key_id", "requested_at", "id");
CREATE INDEX "failed_requests_request_id_idx" ON "failed_requests" ("request_id");

CREATE TABLE "failed_request_minutes" (
    "quota_id" UUID NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "total" INTEGER NOT NULL,
    "offered" INTEGER NOT NULL,
    "batches" JSONB NOT NULL,

    CONSTRAINT "failed_request_minutes_pkey" PRIMARY KEY ("quota_id", "starts_at")
);
CREATE INDEX "failed_request_minutes_starts_at_idx" ON "failed_request_minutes" ("starts_at");
-- The minutes in which more requests failed than are stored, which are few.
CREATE INDEX "failed_request_minutes_missing_idx" ON "failed_request_minutes" ("starts_at")
    WHERE "total" > least("offered", 60);

-- Instants that a JavaScript date can represent, with a year of four digits.
ALTER TABLE "failed_requests"
    ADD CONSTRAINT "failed_requests_requested_at_representable"
        CHECK (isfinite("requested_at") AND "requested_at" < '10000-01-01 00:00+00');
ALTER TABLE "failed_request_minutes"
    ADD CONSTRAINT "failed_request_minutes_starts_at_representable"
        CHECK (isfinite("starts_at") AND "starts_at" < '10000-01-01 00:00+00');
