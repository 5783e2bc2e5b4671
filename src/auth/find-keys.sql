-- The keys with these stored hashes, with the limits in force for their quotas: its own, else its plan's; and
-- the time of the query in milliseconds.
SELECT
  -- Without the byte of a suspended key.
  encode(substr(k.hash, 1, 32), 'hex') AS hash,
  k.id,
  k.role,
  k.scopes,
  k.allowed_networks AS "allowedNetworks",
  -- Prisma takes times as UTC, whatever the time zone of a pooler's session is.
  (extract(epoch FROM k.expires_at) * 1000)::float8 AS "expiresAtMs",
  k.revoked_at IS NOT NULL AS revoked,
  k.suspended_at IS NOT NULL AS suspended,
  -- Another successor may replace it until its predecessor ends, unless it is used.
  coalesce(
    (
      SELECT p.revoked_at IS NULL AND p.expires_at > statement_timestamp()
      FROM api_keys p
      WHERE p.id = k.predecessor_id AND k.first_used_at IS NULL AND k.revoked_at IS NULL
    ),
    false
  ) AS "isReplaceable",
  k.quota_id AS "quotaId",
  q.plan,
  coalesce(q.per_minute, p.per_minute) AS "perMinute",
  coalesce(q.per_day, p.per_day) AS "perDay",
  (extract(epoch FROM statement_timestamp()) * 1000)::float8 AS "nowMs"
FROM api_keys k
JOIN quotas q ON q.id = k.quota_id
JOIN plans p ON p.name = q.plan
WHERE k.hash = ANY ($1::bytea[])
