-- Orders. Made by `prisma migrate diff`, except for what stands below the last foreign key.

-- CreateEnum
CREATE TYPE "order_status" AS ENUM ('placed', 'approved', 'delivered');

-- CreateTable
CREATE TABLE "orders" (
    "id" BIGSERIAL NOT NULL,
    "quota_id" UUID NOT NULL,
    "pet_id" BIGINT NOT NULL,
    "quantity" INTEGER NOT NULL,
    "ship_date" TIMESTAMPTZ(3),
    "status" "order_status" NOT NULL DEFAULT 'placed',
    "complete" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "orders_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "orders_quota_id_id_idx" ON "orders"("quota_id", "id");

-- CreateIndex
CREATE INDEX "orders_quota_id_status_id_idx" ON "orders"("quota_id", "status", "id");

-- CreateIndex
CREATE INDEX "orders_pet_id_idx" ON "orders"("pet_id");

-- AddForeignKey
ALTER TABLE "orders" ADD CONSTRAINT "orders_quota_id_fkey" FOREIGN KEY ("quota_id") REFERENCES "quotas"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "orders" ADD CONSTRAINT "orders_pet_id_fkey" FOREIGN KEY ("pet_id") REFERENCES "pets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema cannot say follows. `migrate diff` neither sees nor removes it.

ALTER TABLE "orders" ADD CONSTRAINT "orders_quantity_check" CHECK ("quantity" >= 1);
