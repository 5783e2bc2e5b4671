-- Adds what a replica allowed while it could not count here to one bucket, also beyond the limits. A window newer than the stored one
-- replaces it; an older one adds nothing; one that has not begun by this server's clock counts in the window that is open or stored
-- here. The same rules as reconcile.sql.
--
-- KEYS[1] the bucket's hash. ARGV: 1 number of the minute (since 1970), 2 its requests, 3 number of the day, 4 its requests,
-- 5 '1' for a quota and '' for an anonymous client, 6 milliseconds to add to the server's clock, as in consume.lua.
local MINUTE_MS, DAY_MS = 60000, 86400000
-- As in consume.lua.
local ADDRESS_MARGIN_MS, QUOTA_MARGIN_MS = 10 * MINUTE_MS, DAY_MS
local MAX_COUNT = 2147483647
local MAX_MS = MAX_COUNT * MINUTE_MS

local key = KEYS[1]
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[6]

local function stored_number(field)
  return tonumber(redis.call('HGET', key, field)) or 0
end
if math.max(stored_number('minute') * MINUTE_MS, stored_number('day') * DAY_MS, stored_number('bannedUntil')) > MAX_MS then
  return redis.error_reply('WRONGTYPE The hash has a time that no counter has')
end

-- Adds to the window of these fields, and removes the reset field if the window is new. Returns the number of the window.
local function add(number_field, used_field, reported, now, used, reset_field)
  local stored = stored_number(number_field)
  local number = math.min(reported, math.max(now, stored))
  if number == stored then
    used = used + stored_number(used_field)
  elseif number > stored and reset_field then
    redis.call('HDEL', key, reset_field)
  end
  if number >= stored then
    redis.call('HSET', key, number_field, number, used_field, math.max(0, math.min(MAX_COUNT, used)))
  end
  return math.max(number, stored)
end

local now_minute, now_day = math.floor(now_ms / MINUTE_MS), math.floor(now_ms / DAY_MS)
local minute = add('minute', 'minuteUsed', tonumber(ARGV[1]), now_minute, tonumber(ARGV[2]), 'refusals')
local day = add('day', 'dayUsed', tonumber(ARGV[3]), now_day, tonumber(ARGV[4]))

local keep_until = ARGV[5] ~= '' and (day + 1) * DAY_MS + QUOTA_MARGIN_MS
  or (minute + 1) * MINUTE_MS + ADDRESS_MARGIN_MS
-- A longer expiry is that of a ban. A hash whose windows are over expires within a minute.
local keep_ms = math.max(keep_until - now_ms, MINUTE_MS)
if redis.call('PTTL', key) < keep_ms then
  redis.call('PEXPIRE', key, keep_ms)
end
