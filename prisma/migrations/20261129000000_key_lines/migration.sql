-- The line of a key is the chain of rotations that it belongs to: the id of the first key, and the rotations since
-- then. The trigger sets both, because the last release inserts keys without them.
ALTER TABLE "api_keys"
    ADD COLUMN "line_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    ADD COLUMN "generation" INTEGER NOT NULL DEFAULT 0;

CREATE FUNCTION "set_key_line"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A row that is restored from a dump has its line already.
    IF NEW."line_id" = '00000000-0000-0000-0000-000000000000' THEN
        IF NEW."predecessor_id" IS NOT NULL THEN
            -- A restore may have an empty search path.
            EXECUTE format('SELECT "line_id", "generation" + 1 FROM %s WHERE "id" = $1', TG_RELID::regclass)
                INTO NEW."line_id", NEW."generation" USING NEW."predecessor_id";
        END IF;
        IF NEW."predecessor_id" IS NULL OR NEW."line_id" IS NULL THEN
            NEW."line_id" := NEW."id";
            NEW."generation" := 0;
        END IF;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER "api_keys_line" BEFORE INSERT ON "api_keys" FOR EACH ROW EXECUTE FUNCTION "set_key_line"();
