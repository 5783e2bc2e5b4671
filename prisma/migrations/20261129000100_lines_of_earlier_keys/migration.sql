-- The lines of the keys that were issued before. Keys can be read meanwhile; those that are issued wait, so that none
-- is missed. It is one statement, which lets replicas read their cached keys again once.
LOCK TABLE "api_keys" IN SHARE ROW EXCLUSIVE MODE;
-- A join by hash or merge reads the whole table for each generation; by index, a long line of rotations takes seconds.
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
WITH RECURSIVE "line" ("id", "line_id", "generation") AS (
    SELECT "id", "id", 0 FROM "api_keys" WHERE "predecessor_id" IS NULL
    UNION ALL
    SELECT k."id", l."line_id", l."generation" + 1 FROM "line" l JOIN "api_keys" k ON k."predecessor_id" = l."id"
)
UPDATE "api_keys" SET "line_id" = "line"."line_id", "generation" = "line"."generation"
FROM "line" WHERE "line"."id" = "api_keys"."id";
