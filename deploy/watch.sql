-- Who is connected, and for how long a transaction has been open: more than a minute keeps vacuum from its work.
SELECT application_name, state, count(*), max(now() - xact_start) AS longest
FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1, 2;
-- Connections left, of all databases.
SELECT current_setting('max_connections')::int - count(*) AS free FROM pg_stat_activity WHERE backend_type = 'client backend';
-- The archive: failures that go on end in a full disk.
SELECT archived_count, last_archived_time, failed_count, last_failed_wal FROM pg_stat_archiver;
-- What holds back write-ahead log, by slot.
SELECT slot_name, active, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) AS held FROM pg_replication_slots;
-- Standbys, and how far behind.
SELECT application_name, sync_state, replay_lag FROM pg_stat_replication;
-- Dead rows, and updates that wrote no index entry: for rate_limit_counters nearly all of them.
SELECT relname, n_live_tup, n_dead_tup, last_autovacuum, round(100.0 * n_tup_hot_upd / nullif(n_tup_upd, 0)) AS hot_percent
FROM pg_stat_user_tables ORDER BY n_dead_tup DESC LIMIT 5;
-- Age in transactions: at 200 million autovacuum acts, at 2 billion PostgreSQL stops.
SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database();
