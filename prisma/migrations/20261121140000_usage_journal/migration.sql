-- The journal of usage, from which minutes, hours and days are folded. Made by `prisma migrate diff`, except for what stands
-- below the table.

-- CreateTable
CREATE TABLE "usage_batches" (
    "recorder_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "written_at" TIMESTAMPTZ(3) NOT NULL,
    "size" INTEGER NOT NULL,
    "key_ids" UUID[] NOT NULL,
    "quota_ids" UUID[] NOT NULL,
    "minutes" INTEGER[] NOT NULL,
    "operations" TEXT[] NOT NULL,
    "deprecated" BOOLEAN[] NOT NULL,
    "succeeded" INTEGER[] NOT NULL,
    "redirected" INTEGER[] NOT NULL,
    "client_errors" INTEGER[] NOT NULL,
    "server_errors" INTEGER[] NOT NULL,
    "refusals" INTEGER[] NOT NULL,
    "last_at_ms" BIGINT[] NOT NULL,

    CONSTRAINT "usage_batches_pkey" PRIMARY KEY ("recorder_id","number")
);

-- What Prisma's schema cannot say follows. `migrate diff` neither sees nor removes it; nor NOT NULL of a list.

-- A batch that could not be folded would hold up all that are: every entry is whole, and tells a time that there is.
ALTER TABLE "usage_batches"
    ADD CONSTRAINT "usage_batches_same_length" CHECK (
        "size" > 0
        AND cardinality("key_ids") = "size"
        AND cardinality("quota_ids") = "size"
        AND cardinality("minutes") = "size"
        AND cardinality("operations") = "size"
        AND cardinality("deprecated") = "size"
        AND cardinality("succeeded") = "size"
        AND cardinality("redirected") = "size"
        AND cardinality("client_errors") = "size"
        AND cardinality("server_errors") = "size"
        AND cardinality("refusals") = "size"
        AND cardinality("last_at_ms") = "size"
    ),
    ADD CONSTRAINT "usage_batches_no_nulls" CHECK (
        array_position("key_ids", NULL) IS NULL
        AND array_position("quota_ids", NULL) IS NULL
        AND array_position("minutes", NULL) IS NULL
        AND array_position("operations", NULL) IS NULL
        AND array_position("deprecated", NULL) IS NULL
        AND array_position("succeeded", NULL) IS NULL
        AND array_position("redirected", NULL) IS NULL
        AND array_position("client_errors", NULL) IS NULL
        AND array_position("server_errors", NULL) IS NULL
        AND array_position("refusals", NULL) IS NULL
        AND array_position("last_at_ms", NULL) IS NULL
    ),
    ADD CONSTRAINT "usage_batches_times_tellable" CHECK (
        0 <= ALL ("last_at_ms") AND 253402300800000 > ALL ("last_at_ms")
    );

-- A key's hour and day change with every fold. Pages that are not filled to the brim keep the new version beside the old one (a
-- HOT update); those of minutes, which are most and hardly change, do not grow by much. Rows that are there stay as they are.
ALTER TABLE "usage" SET (fillfactor = 85);
