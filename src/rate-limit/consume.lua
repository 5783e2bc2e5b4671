-- Takes requests from the windows of one subject, in one atomic step; counts what it refuses, and starts a ban where
-- there is too much of that. The same rules as consume.sql, and the same specification tests.
--
-- KEYS[1] the subject's hash. ARGV: 1 how many requests are asked for (0 looks and changes nothing), 2 the limit per
-- minute, 3 the limit per day or '' for a stranger, 4 milliseconds to add to the server's clock (0 in production; tests
-- travel in time with it), 5 and on the ladder: milliseconds that the first ban lasts, the next, and so on; none where
-- bans are off.
--
-- The requests are judged one by one. The first are admitted, as many as there is room for (granted). Of the rest each
-- counts as a refusal (refused), up to the one that makes as many within the minute as the limit per minute: it starts
-- a ban, which those after it meet.
--
-- Lua has doubles alone: milliseconds since 1970 need 41 bits of their 53, so every number here is exact. The hash is
-- replicated by its effects, so a replica never asks its own clock (Redis 5 and later).
local MINUTE_MS, DAY_MS = 60000, 86400000
-- A stranger's hash is kept ten minutes longer than its window, a quota's a day: a window must not go back to one that was
-- forgotten, should a replica with a slower clock become the master.
local STRANGER_MARGIN_MS, QUOTA_MARGIN_MS = 10 * MINUTE_MS, DAY_MS

-- The largest count of consume.sql, and the time up to which that can number minutes.
local MAX_COUNT = 2147483647
local MAX_MS = MAX_COUNT * MINUTE_MS

-- A field that is absent comes as false, of which tonumber makes nil. In this order the result is never NaN.
local function count(field)
  return math.max(0, math.min(MAX_COUNT, tonumber(field) or 0))
end

local key = KEYS[1]
local asked, minute_limit, day_limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4]
local first_step, steps = 5, #ARGV - 4
local can_be_banned = day_limit ~= nil and steps > 0

local stored =
  redis.call('HMGET', key, 'minute', 'minuteUsed', 'day', 'dayUsed', 'refusals', 'bannedUntil', 'banStep')
local minute, minute_used = tonumber(stored[1]) or 0, count(stored[2])
local day, day_used = tonumber(stored[3]) or 0, count(stored[4])
local refusals = count(stored[5])
local banned_until, ban_step = tonumber(stored[6]), tonumber(stored[7]) or 0

if math.max(minute * MINUTE_MS, day * DAY_MS, banned_until or 0) > MAX_MS then
  return redis.error_reply('WRONGTYPE The hash has a time that no counter has')
end

-- A window never goes back, whatever the clock says.
local now_minute, now_day = math.floor(now_ms / MINUTE_MS), math.floor(now_ms / DAY_MS)
if now_minute > minute then
  minute, minute_used, refusals = now_minute, 0, 0
end
if now_day > day then
  day, day_used = now_day, 0
end
-- When the requests are judged: never before their windows began.
local at_ms = math.max(now_ms, minute * MINUTE_MS, day * DAY_MS)

local granted, refused = 0, 0
local ban_lasts = steps > 0 and banned_until ~= nil and banned_until > at_ms
if not ban_lasts then
  local room = minute_limit - minute_used
  if day_limit then
    room = math.min(room, day_limit - day_used)
  end
  granted = math.max(0, math.min(asked, room))
  refused = asked - granted
  -- Which of the refusals to come starts a ban. Where the limit was lowered below what was refused already, the next.
  local threshold = math.max(1, minute_limit - refusals)
  if can_be_banned and refused >= threshold then
    refused = threshold
    -- One step above the last ban's, which falls by one for each full 24 hours since it ended; the last step repeats.
    local fallen = banned_until and math.floor((at_ms - banned_until) / DAY_MS) or 0
    ban_step = math.min(steps, 1 + math.max(0, ban_step - fallen))
    banned_until = at_ms + ARGV[first_step + ban_step - 1]
    refusals = 0
  else
    refusals = refusals + refused
  end
end
minute_used, day_used = minute_used + granted, day_used + granted

if asked > 0 then
  redis.call('HSET', key,
    'minute', minute, 'minuteUsed', minute_used, 'day', day, 'dayUsed', day_used, 'refusals', refusals)
  local keep_until = day_limit and (day + 1) * DAY_MS + QUOTA_MARGIN_MS
    or (minute + 1) * MINUTE_MS + STRANGER_MARGIN_MS
  if banned_until then
    redis.call('HSET', key, 'bannedUntil', banned_until, 'banStep', ban_step)
    -- Until the ladder has fallen to the ground.
    keep_until = math.max(keep_until, banned_until + ban_step * DAY_MS)
  end
  redis.call('PEXPIRE', key, keep_until - now_ms)
end

return { granted, refused, refusals, banned_until or false, minute, minute_used, day, day_used, at_ms, now_ms }
