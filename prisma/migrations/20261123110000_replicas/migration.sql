-- The heartbeats of replicas. Made by `prisma migrate diff`.

-- CreateTable
CREATE TABLE "replicas" (
    "id" UUID NOT NULL,
    "host" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "counts_locally_since" TIMESTAMPTZ(3),

    CONSTRAINT "replicas_pkey" PRIMARY KEY ("id")
);
