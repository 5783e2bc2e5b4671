-- Connections by name, and their longest transactions: a transaction of more than a minute holds back vacuum.
SELECT application_name, state, count(*), max(now() - xact_start) AS longest
FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1, 2;
-- Sessions that others wait for. `SELECT pg_terminate_backend(PID)` ends one.
SELECT pid, usename, application_name, state, now() - xact_start AS transaction, left(query, 60) AS query
FROM pg_stat_activity
WHERE pid IN (SELECT unnest(pg_blocking_pids(pid)) FROM pg_stat_activity)
ORDER BY xact_start;
-- Free connections of the server.
SELECT current_setting('max_connections')::int - count(*) AS free
FROM pg_stat_activity WHERE backend_type = 'client backend';
-- The archive: repeated failures fill the disk.
SELECT archived_count, last_archived_time, failed_count, last_failed_wal FROM pg_stat_archiver;
-- Write-ahead log retained for each replication slot.
SELECT slot_name, active, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) AS held
FROM pg_replication_slots;
-- Standbys and their lag.
SELECT application_name, sync_state, replay_lag FROM pg_stat_replication;
-- Dead rows, and the share of updates without index entries (HOT): nearly all for rate_limit_counters.
SELECT relname, n_live_tup, n_dead_tup, last_autovacuum,
  round(100.0 * n_tup_hot_upd / nullif(n_tup_upd, 0)) AS hot_percent
FROM pg_stat_user_tables ORDER BY n_dead_tup DESC LIMIT 5;
-- Age in transactions: autovacuum acts at 200 million, PostgreSQL stops at 2 billion.
SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database();
