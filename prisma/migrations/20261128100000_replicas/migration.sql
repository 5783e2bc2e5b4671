-- The replicas that serve, and their versions, so that a release can wait until none of an earlier one is left.
CREATE TABLE "replicas" (
    "id" UUID NOT NULL,
    "version" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "replicas_pkey" PRIMARY KEY ("id")
);
