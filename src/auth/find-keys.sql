-- The keys of these hashes, with the limits in force for their quotas: its own, else its plan's; and the time of the query in milliseconds.
SELECT
  k.hash, k.id, k.role, nullif(k.scopes, '{}'), nullif(k.allowed_networks, '{}'), k.expires_at, k.revoked_at IS NOT NULL, k.quota_id, q.plan,
  coalesce(q.per_minute, p.per_minute),
  coalesce(q.per_day, p.per_day),
  (extract(epoch FROM statement_timestamp()) * 1000)::float8
FROM api_keys k
JOIN quotas q ON q.id = k.quota_id
JOIN plans p ON p.name = q.plan
WHERE k.hash = ANY ($1::bytea[])
