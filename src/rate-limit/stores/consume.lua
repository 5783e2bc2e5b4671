-- Decides about the requests of one bucket, in one atomic step: allows them, counts denials, starts a ban.
-- The same rules as consume.sql, under the same specification tests.
--
-- KEYS[1] the bucket's hash. ARGV: 1 the number of requests (0 reads and changes nothing), 2 the limit per
-- minute, 3 the limit per day or '', 4 how many denials within a minute start a ban or '' if none does, 5
-- milliseconds since the end of a ban after which its level falls by one, from 6 on the ban durations in
-- milliseconds.
--
-- Lua has only doubles: milliseconds since 1970 need 41 bits of their 53, so every number here is exact. The
-- hash is replicated by its effects, so a replica never reads its own clock (Redis 5 and later).
local MINUTE_MS, DAY_MS = 60000, 86400000
-- How long a hash is kept after its window: if a replica with a slower clock becomes the master, no window
-- may open again.
local ADDRESS_MARGIN_MS, QUOTA_MARGIN_MS = 10 * MINUTE_MS, DAY_MS

local key = KEYS[1]
local requests, minute_limit, day_limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local ban_threshold, level_falls_after_ms = tonumber(ARGV[4]), tonumber(ARGV[5])
local FIRST_DURATION = 6
local levels = #ARGV - FIRST_DURATION + 1

-- An absent field is false, which tonumber makes nil. The field of denials is called `refusals`, as earlier
-- versions stored it.
local stored =
  redis.call('HMGET', key, 'minute', 'minuteUsed', 'day', 'dayUsed', 'refusals', 'bannedUntil', 'banLevel')
local minute, minute_used = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
local day, day_used = tonumber(stored[3]) or 0, tonumber(stored[4]) or 0
local denials = tonumber(stored[5]) or 0
local banned_until, ban_level = tonumber(stored[6]), tonumber(stored[7]) or 0

-- A window never goes back, whatever the clock says.
local now_minute, now_day = math.floor(now_ms / MINUTE_MS), math.floor(now_ms / DAY_MS)
if now_minute > minute then
  minute, minute_used, denials = now_minute, 0, 0
end
if now_day > day then
  day, day_used = now_day, 0
end

-- Bans start and end by the clock of now, though the windows may begin later.
local allowed, denied = 0, 0
local ban_lasts = ban_threshold ~= nil and banned_until ~= nil and banned_until > now_ms
if not ban_lasts then
  local room = minute_limit - minute_used
  if day_limit then
    room = math.min(room, day_limit - day_used)
  end
  allowed = math.max(0, math.min(requests, room))
  denied = requests - allowed
  -- The number of further denials that starts a ban, or nil. If a lower threshold is reached already, it is
  -- 1.
  local denials_left = ban_threshold and math.max(1, ban_threshold - denials)
  if denials_left and denied >= denials_left then
    denied = denials_left
    -- One level above that of the last ban, which falls by one each time that this long has passed since its
    -- end. The last level repeats.
    local fallen = banned_until and math.floor((now_ms - banned_until) / level_falls_after_ms) or 0
    ban_level = math.min(levels, 1 + math.max(0, ban_level - fallen))
    banned_until = now_ms + ARGV[FIRST_DURATION + ban_level - 1]
    denials = 0
  else
    denials = denials + denied
  end
end
minute_used, day_used = minute_used + allowed, day_used + allowed

if requests > 0 then
  redis.call('HSET', key,
    'minute', minute, 'minuteUsed', minute_used, 'day', day, 'dayUsed', day_used, 'refusals', denials)
  local keep_until = day_limit and (day + 1) * DAY_MS + QUOTA_MARGIN_MS
    or (minute + 1) * MINUTE_MS + ADDRESS_MARGIN_MS
  if banned_until then
    redis.call('HSET', key, 'bannedUntil', banned_until, 'banLevel', ban_level)
    -- Until the ban level is back to zero.
    keep_until = math.max(keep_until, banned_until + ban_level * level_falls_after_ms)
  end
  redis.call('PEXPIRE', key, keep_until - now_ms)
end

return { allowed, denied, denials, banned_until or false, minute, minute_used, day, day_used, now_ms }
