-- What wrk sends: `wrk -s wrk.lua URL -- WORKLOAD KEYS ANIMALS SEED`, where KEYS is a file with an API key in
-- each line, and SEED differs in every run. Every request has a random key.

local random = math.random
local ANIMAL = '{"name":"Animal %07d","categoryId":7,"status":"available"}'
local ORDER = '{"petId":%d,"quantity":2}'
local heads, animals, seed, sent = {}, 0, 0, 0

local function get(path)
  return 'GET ' .. path .. heads[random(#heads)] .. '\r\n'
end

local function post(path, body, header)
  return 'POST ' .. path .. heads[random(#heads)] .. (header or '')
    .. 'Content-Type: application/json\r\nContent-Length: '
    .. #body .. '\r\n\r\n' .. body
end

local workloads = {}

function workloads.first()
  return get('/v1/pets')
end

function workloads.one()
  return get('/v1/pets/' .. random(animals))
end

function workloads.create()
  return post('/v1/pets', string.format(ANIMAL, random(9999999)))
end

function workloads.keyed()
  sent = sent + 1
  local header = 'Idempotency-Key: ' .. seed .. '-' .. sent .. '\r\n'
  return post('/v1/pets', string.format(ANIMAL, random(9999999)), header)
end

function workloads.order()
  return post('/v1/store/orders', string.format(ORDER, random(animals)))
end

function workloads.mix()
  local die = random(10)
  if die <= 7 then
    return workloads.first()
  elseif die <= 9 then
    return workloads.one()
  end
  return workloads.create()
end

function init(args)
  for key in io.lines(args[2]) do
    heads[#heads + 1] = ' HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ' .. key .. '\r\n'
  end
  animals = tonumber(args[3])
  seed = args[4]
  math.randomseed(tonumber(seed))
  request = workloads[args[1]]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"durationUs":%d,"p50Us":%d,"refused":%d,"broken":%d}\n',
    summary.requests,
    summary.duration,
    latency:percentile(50),
    errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
