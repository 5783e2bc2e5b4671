// node:http and pg with named statements, pipelined; counters in a Map, and nothing else.

import { createServer } from 'node:http';
import pg from 'pg';
import * as shared from './shared.js';

/** As many as a pool of `pg` has by default. */
const CONNECTIONS = 10;
const STATUSES = new Set(['available', 'pending', 'sold']);
const LARGEST_PAGE = 100;

shared.readInt8AsNumber(pg);
const database = await openPipelines();
const isKnown = await shared.readKeys(database);
/** Requests counted for each key in its current minute and day. */
const counters = new Map();

createServer((request, response) => {
  handle(request, response).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    respond(response, 500, { message: 'Internal error' });
  });
}).listen(shared.settings.port, shared.settings.host);

/** Connections in turn, each with several statements in flight. */
async function openPipelines() {
  const clients = Array.from(
    { length: CONNECTIONS },
    () => new pg.Client({ connectionString: shared.settings.databaseUrl, pipeline: true }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  let turn = 0;
  return {
    query: (...query) => {
      turn = (turn + 1) % clients.length;
      return clients[turn].query(...query);
    },
  };
}

async function handle(request, response) {
  const authorization = request.headers.authorization;
  const key = authorization?.startsWith('Bearer ') ? authorization.slice(7) : '';
  if (!isKnown(key)) {
    respond(response, 401, { message: 'The API key is missing or invalid' });
    return;
  }
  if (!count(key, response)) {
    respond(response, 429, { message: 'Too many requests' });
    return;
  }
  const queryAt = request.url.indexOf('?');
  const path = queryAt < 0 ? request.url : request.url.slice(0, queryAt);
  if (path === '/v1/pets' && request.method === 'GET') {
    await list(queryAt < 0 ? '' : request.url.slice(queryAt + 1), response);
  } else if (path === '/v1/pets' && request.method === 'POST') {
    await add(await readJson(request), response);
  } else if (path.startsWith('/v1/pets/') && request.method === 'GET') {
    await find(Number(path.slice('/v1/pets/'.length)), response);
  } else {
    respond(response, 404, { message: 'Not found' });
  }
}

async function list(query, response) {
  const parameters = new URLSearchParams(query);
  const limit = Number(parameters.get('limit') ?? 20);
  const after = Number(parameters.get('cursor') ?? 0);
  const status = parameters.get('status') ?? undefined;
  const isValid =
    Number.isInteger(limit) &&
    limit >= 1 &&
    limit <= LARGEST_PAGE &&
    Number.isSafeInteger(after) &&
    (status === undefined || STATUSES.has(status));
  if (!isValid) {
    respond(response, 400, { message: 'Invalid query' });
    return;
  }
  const { rows } = await database.query(shared.pagePlannedOnce(limit, after, status));
  respond(response, 200, rows.map(shared.petOf));
}

async function find(id, response) {
  const { rows } = Number.isSafeInteger(id)
    ? await database.query({ name: 'one', text: shared.ONE, values: [id] })
    : { rows: [] };
  if (rows.length === 0) {
    respond(response, 404, { message: 'Not found' });
  } else {
    respond(response, 200, shared.petOf(rows[0]));
  }
}

async function add(pet, response) {
  const isValid =
    typeof pet?.name === 'string' &&
    pet.name.length >= 1 &&
    pet.name.length <= 255 &&
    Number.isSafeInteger(pet.categoryId) &&
    (pet.status === undefined || STATUSES.has(pet.status));
  if (!isValid) {
    respond(response, 400, { message: 'Invalid body' });
    return;
  }
  const { rows } = await database.query({
    name: 'add',
    text: shared.ADD,
    values: [pet.name, pet.categoryId, pet.status ?? null],
  });
  respond(response, 201, shared.petOf(rows[0]));
}

/** The parsed body, or undefined when it is not JSON. */
async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

/** Counts one request in both windows, sets the headers of the narrower one, and returns whether the request is allowed. */
function count(key, response) {
  const now = Date.now();
  const minute = Math.floor(now / shared.MINUTE_MS);
  const day = Math.floor(now / shared.DAY_MS);
  let used = counters.get(key);
  if (used === undefined) {
    used = { minute, inMinute: 0, day, inDay: 0 };
    counters.set(key, used);
  }
  if (used.minute !== minute) {
    used.minute = minute;
    used.inMinute = 0;
  }
  if (used.day !== day) {
    used.day = day;
    used.inDay = 0;
  }
  const isAllowed = used.inMinute < shared.LIMIT && used.inDay < shared.LIMIT;
  if (isAllowed) {
    used.inMinute += 1;
    used.inDay += 1;
  }
  const isMinuteNarrower = used.inMinute > used.inDay;
  const narrower = isMinuteNarrower ? used.inMinute : used.inDay;
  const reset = isMinuteNarrower ? (minute + 1) * shared.MINUTE_MS : (day + 1) * shared.DAY_MS;
  response.setHeader('X-RateLimit-Limit', shared.LIMIT);
  response.setHeader('X-RateLimit-Remaining', shared.LIMIT - narrower);
  response.setHeader('X-RateLimit-Reset', reset / 1000);
  return isAllowed;
}

function respond(response, status, body) {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
