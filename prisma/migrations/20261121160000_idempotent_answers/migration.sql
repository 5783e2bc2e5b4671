-- Answers to requests with an Idempotency-Key. Made by `prisma migrate diff`.

-- CreateTable
CREATE TABLE "idempotent_answers" (
    "quota_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "body" TEXT NOT NULL,
    "location" TEXT,
    "kept_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotent_answers_pkey" PRIMARY KEY ("quota_id","key")
);

-- CreateIndex
CREATE INDEX "idempotent_answers_kept_at_idx" ON "idempotent_answers"("kept_at");

-- AddForeignKey
ALTER TABLE "idempotent_answers" ADD CONSTRAINT "idempotent_answers_quota_id_fkey" FOREIGN KEY ("quota_id") REFERENCES "quotas"("id") ON DELETE CASCADE ON UPDATE CASCADE;
