-- Makes the identifiers of orders unique again. The condition holds for every order ("orders_quantity_check") and for no query, so
-- PostgreSQL cannot read a page along this index, past the orders of all other quotas. One statement, as a concurrent build cannot
-- be part of a transaction. `migrate diff` neither sees nor removes an index with a condition.
CREATE UNIQUE INDEX CONCURRENTLY "orders_id_key" ON "orders"("id") WHERE "quantity" >= 1;
