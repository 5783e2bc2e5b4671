-- A key whose successor was never used may be rotated again, which replaces that successor.
ALTER TABLE "api_keys"
    ADD COLUMN "first_used_at" TIMESTAMPTZ(3),
    ADD COLUMN "former_line_id" UUID;
