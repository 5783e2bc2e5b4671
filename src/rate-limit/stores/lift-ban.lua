-- Ends a bucket's ban now, and forgets its denials; the ban level stays, and so does the expiry, which is as
-- late as that of any ban that ends now. The same rules as lift-ban.sql.
--
-- KEYS[1] the bucket's hash. Returns when the ban would have ended, in milliseconds since 1970, or nil when
-- there was none.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local banned_until = tonumber(redis.call('HGET', KEYS[1], 'bannedUntil'))
if banned_until == nil or banned_until <= now_ms then
  return false
end
redis.call('HSET', KEYS[1], 'bannedUntil', now_ms, 'refusals', 0)
return banned_until
