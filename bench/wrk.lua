-- What wrk sends: `wrk -s wrk.lua URL -- WORKLOAD KEYS CURSORS ANIMALS SEED`, where KEYS and CURSORS are files with one of them
-- in each line. Every request has a random key.

local random = math.random
local CREATION = '{"name":"Animal %07d","categoryId":7,"status":"available"}'
local tails, creation_tails, cursors, animals = {}, {}, {}, 0

local function read_lines(file)
  local lines = {}
  for line in io.lines(file) do
    lines[#lines + 1] = line
  end
  return lines
end

local function get(path)
  return 'GET ' .. path .. tails[random(#tails)]
end

local workloads = {}

function workloads.first()
  return get('/v1/pets')
end

function workloads.filtered()
  return get('/v1/pets?status=available')
end

function workloads.deep()
  return get('/v1/pets?cursor=' .. cursors[random(#cursors)])
end

function workloads.one()
  return get('/v1/pets/' .. random(animals))
end

function workloads.create()
  return 'POST /v1/pets' .. creation_tails[random(#creation_tails)] .. string.format(CREATION, random(9999999))
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
  local body_length = #string.format(CREATION, 0)
  for _, key in ipairs(read_lines(args[2])) do
    local head = ' HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ' .. key .. '\r\n'
    tails[#tails + 1] = head .. '\r\n'
    creation_tails[#creation_tails + 1] = head
      .. 'Content-Type: application/json\r\nContent-Length: ' .. body_length .. '\r\n\r\n'
  end
  cursors = read_lines(args[3])
  animals = tonumber(args[4])
  math.randomseed(tonumber(args[5]))
  request = workloads[args[1]]
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"durationUs":%d,"refused":%d,"broken":%d}\n',
    summary.requests,
    summary.duration,
    errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
