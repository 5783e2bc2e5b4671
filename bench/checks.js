import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXACT_LIMIT, withDatabase } from './data.js';

const HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
const PETS = 'SELECT id::int, name, category_id::int AS "categoryId", status::text FROM pets';
const MINUTE_MS = 60_000;
const LONGEST_BURST_MS = 15_000;
const CONCURRENT = 50;

/**
 * Checks that a contestant does the measured work, so that none wins by doing less.
 *
 * @throws Error with the response that it expected and the one that it got.
 */
export async function checkResponses({ title }, url, key, databaseUrl) {
  try {
    await withDatabase(databaseUrl, (database) => check(database, `${url}/v1/pets`, key));
  } catch (cause) {
    throw new Error(`${title} does not do what is measured: ${cause.message}`, { cause });
  }
}

async function check(database, pets, key) {
  const select = async (rest) => {
    const { rows } = await database.query(`${PETS} ${rest}`);
    return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)));
  };
  const [last] = await select('ORDER BY id DESC LIMIT 1');
  await expectResponse(await send(pets, key), 200, await select('ORDER BY id LIMIT 20'));
  await expectResponse(await send(`${pets}/${last.id}`, key), 200, last);
  await expectResponse(await send(`${pets}/999999999`, key), 404);
  await expectResponse(await send(pets, key, { name: 'No category' }), 400);
  await expectResponse(await send(pets, `${key}x`), 401);
  const created = { name: 'Biscuit', categoryId: 7, status: 'available' };
  const response = await send(pets, key, created);
  const [stored] = await select(`WHERE id > ${last.id}`);
  assert.deepEqual(stored, { id: stored?.id, ...created }, 'The created animal is not in the database');
  await expectResponse(response, 201, stored);
}

/**
 * Sends three times a key's limit to replicas at once, within one minute.
 *
 * @returns how many requests were allowed.
 */
export async function countAllowed(urls, key) {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  await sleep(leftMs < LONGEST_BURST_MS ? leftMs : 0);
  let allowed = 0;
  for (let sent = 0; sent < 3 * EXACT_LIMIT; sent += CONCURRENT) {
    const responses = await Promise.all(
      Array.from({ length: CONCURRENT }, (_, index) => send(`${urls[index % urls.length]}/v1/pets`, key)),
    );
    allowed += responses.filter(({ status }) => status === 200).length;
    await Promise.all(responses.map((response) => response.text()));
  }
  return allowed;
}

function send(url, key, body) {
  return fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${key}`,
      connection: 'close',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function expectResponse(response, status, body) {
  const text = await response.text();
  assert.equal(response.status, status, `${response.url} responds ${response.status} ${text}`);
  if (body) {
    assert.deepEqual(JSON.parse(text), body);
    const missing = HEADERS.filter((name) => !response.headers.has(name));
    assert.deepEqual(missing, [], `${response.url} has no ${missing.join(', ')}`);
  }
}
