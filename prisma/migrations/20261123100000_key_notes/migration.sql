-- Notes of administrators on keys. Made by `prisma migrate diff`. Adding a column without a default rewrites nothing.

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "note" TEXT;
