-- The replicas that serve, and their versions, so that a release can wait until none of an earlier one is left.
CREATE TABLE "replicas" (
    "id" UUID NOT NULL,
    "version" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "replicas_pkey" PRIMARY KEY ("id")
);

-- Instants that a JavaScript date can represent, with a year of four digits.
ALTER TABLE "replicas"
    ADD CONSTRAINT "replicas_started_at_representable"
        CHECK (isfinite("started_at") AND "started_at" < '10000-01-01 00:00+00'),
    ADD CONSTRAINT "replicas_last_seen_at_representable"
        CHECK (isfinite("last_seen_at") AND "last_seen_at" < '10000-01-01 00:00+00');
