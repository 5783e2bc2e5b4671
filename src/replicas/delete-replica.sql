-- Deletes the row of a replica that stops.
--
-- $1 the replica.
DELETE FROM replicas WHERE id = $1::uuid
