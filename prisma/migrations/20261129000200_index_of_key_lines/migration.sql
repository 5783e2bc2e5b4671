CREATE INDEX CONCURRENTLY "api_keys_line_id_generation_idx" ON "api_keys"("line_id", "generation");
