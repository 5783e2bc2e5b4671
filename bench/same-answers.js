import assert from 'node:assert/strict';
import { withDatabase } from './data.js';

const HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
const PAGE =
  'SELECT id::int, name, category_id::int AS "categoryId", status::text FROM pets WHERE id > $1 ORDER BY id LIMIT 20';
const PAGE_OF_AVAILABLE = PAGE.replace('WHERE', `WHERE status = 'available' AND`);

/**
 * Makes sure that a contestant does the work that it is measured at: nobody is to win by doing less.
 *
 * @throws Error that tells what it answered otherwise than the others.
 */
export async function checkAnswers({ title, cursorOf }, url, key, databaseUrl) {
  try {
    await withDatabase(databaseUrl, (database) => check(database, cursorOf, url, key));
  } catch (cause) {
    throw new Error(`${title} does not do what is measured: ${cause.message}`, { cause });
  }
}

async function check(database, cursorOf, url, key) {
  const expected = async (sql, after) => (await database.query(sql, [after])).rows.map(withoutNull);
  const ask = (path, options) => request(`${url}${path}`, key, options);
  await same(await ask('/v1/pets'), 200, await expected(PAGE, 0));
  await same(await ask('/v1/pets?status=available'), 200, await expected(PAGE_OF_AVAILABLE, 0));
  await same(await ask(`/v1/pets?cursor=${cursorOf(54_321)}`), 200, await expected(PAGE, 54_321));
  const [pet] = await expected(PAGE, 76_543);
  await same(await ask(`/v1/pets/${pet.id}`), 200, pet);
  await same(await ask('/v1/pets/999999999'), 404);
  await same(await ask('/v1/pets', { body: { name: 'No category' } }), 400);
  await same(await request(`${url}/v1/pets`, `${key}x`), 401);
  const { rows } = await database.query('SELECT max(id)::int AS id FROM pets');
  const sent = { name: 'Biscuit', categoryId: 7, status: 'available' };
  const added = await ask('/v1/pets', { body: sent });
  const [stored] = await expected(PAGE, rows[0].id);
  assert.deepEqual(stored, { id: stored?.id, ...sent }, 'What was to be added is not in the database');
  await same(added, 201, stored);
}

function request(url, key, { body } = {}) {
  return fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      connection: 'close',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function same(response, status, body) {
  const text = await response.text();
  const answered = response.ok ? JSON.parse(text) : text;
  const what = `${response.url} answers ${JSON.stringify(answered)}`;
  assert.equal(response.status, status, what);
  if (body !== undefined) {
    assert.deepEqual(answered, body, what);
    const missing = HEADERS.filter((name) => !response.headers.has(name));
    assert.deepEqual(missing, [], what);
  }
}

function withoutNull(row) {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
