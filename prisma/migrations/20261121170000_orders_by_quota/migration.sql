-- Orders by quota: no index is in the order of their identifiers alone, so that no page of one quota is looked for among the
-- orders of all others. Identifiers come from one sequence, and are unique without it. Made by `prisma migrate diff`.

-- DropIndex
DROP INDEX "orders_quota_id_id_idx";

-- AlterTable
ALTER TABLE "orders" DROP CONSTRAINT "orders_pkey",
ADD CONSTRAINT "orders_pkey" PRIMARY KEY ("quota_id", "id");
