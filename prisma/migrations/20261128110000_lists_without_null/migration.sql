-- Lists of a key have no NULL entries, which the checks of their form skipped, and no response can show.
UPDATE "api_keys" SET
    "scopes" = array_remove("scopes", NULL),
    "allowed_networks" = array_remove("allowed_networks", NULL)
WHERE array_position("scopes", NULL) IS NOT NULL OR array_position("allowed_networks", NULL) IS NOT NULL;

ALTER TABLE "api_keys"
    ADD CONSTRAINT "api_keys_scopes_without_null" CHECK (array_position("scopes", NULL) IS NULL),
    ADD CONSTRAINT "api_keys_allowed_networks_without_null"
        CHECK (array_position("allowed_networks", NULL) IS NULL);
