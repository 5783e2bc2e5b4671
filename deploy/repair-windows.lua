-- Repairs the windows of one Redis server, as repair-windows.sql does for PostgreSQL. Returns the number of
-- repaired buckets.
local now_ms = redis.call('TIME')[1] * 1000
local now_minute, now_day = math.floor(now_ms / 60000), math.floor(now_ms / 86400000)
local cursor, repaired = '0', 0
repeat
  local found = redis.call('SCAN', cursor, 'MATCH', 'animal-store:*', 'COUNT', 1000)
  cursor = found[1]
  for _, key in ipairs(found[2]) do
    local is_hash = redis.call('TYPE', key).ok == 'hash'
    local stored = is_hash and redis.call('HMGET', key, 'minute', 'day', 'bannedUntil') or {}
    local minute, day = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
    local banned_until = tonumber(stored[3])
    if minute > now_minute + 1 or day > now_day + 1 then
      local new_minute = math.min(minute, now_minute)
      redis.call('HSET', key, 'minute', new_minute, 'day', math.min(day, now_day))
      if banned_until and banned_until > now_ms then
        redis.call('HSET', key, 'bannedUntil', banned_until - (minute - new_minute) * 60000)
      end
      repaired = repaired + 1
    end
  end
until cursor == '0'
return repaired
