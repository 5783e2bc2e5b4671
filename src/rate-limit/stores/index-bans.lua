-- Adds bans to the index, by which they are found without a search of all keys. The bucket itself tells
-- whether a ban is still in force: it cannot write to the index, which may lie on another master.
--
-- KEYS[1] the index, a sorted set of bucket keys by the end of their ban. ARGV: a bucket key and the end of
-- its ban in milliseconds since 1970, for each ban.
local DAY_MS = 86400000

for position = 1, #ARGV, 2 do
  local bucket, ends = ARGV[position], tonumber(ARGV[position + 1])
  -- A replica may be late to add a ban that another one has followed.
  if ends > (tonumber(redis.call('ZSCORE', KEYS[1], bucket)) or 0) then
    redis.call('ZADD', KEYS[1], ends, bucket)
  end
end

local time = redis.call('TIME')
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000 - DAY_MS)
if last[2] then
  -- It is kept a day longer than its last ban, in case a clock goes back.
  redis.call('PEXPIREAT', KEYS[1], last[2] + DAY_MS)
end
