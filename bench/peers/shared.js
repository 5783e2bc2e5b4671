// What the peers share.

import { createHash } from 'node:crypto';

const PAGE = 'SELECT id, name, category_id AS "categoryId", status FROM pets WHERE id > $1 ORDER BY id LIMIT';
const PAGE_OF_STATUS = PAGE.replace('WHERE', 'WHERE status = $2 AND');
export const ONE = 'SELECT id, name, category_id AS "categoryId", status FROM pets WHERE id = $1';
export const ADD =
  'INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) ' +
  'RETURNING id, name, category_id AS "categoryId", status';

/** Requests allowed for a key in a minute and in a day; never reached, as with the service's keys. */
export const LIMIT = 1_000_000_000;
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

export const settings = {
  databaseUrl: process.env.DATABASE_URL,
  redisUrl: process.env.REDIS_URL,
  port: Number(process.env.PORT),
  host: '127.0.0.1',
};

/** Reads int8 as a number: the identifiers of the bench are small. */
export function readInt8AsNumber({ types }) {
  types.setTypeParser(types.builtins.INT8, Number);
}

/**
 * Reads the SHA-256 of every key into memory.
 *
 * @param {{ query(text: string): Promise<{ rows: { hash: Buffer }[] }> }} database
 * @returns a function that returns whether a key is valid.
 */
export async function readKeys(database) {
  const { rows } = await database.query('SELECT hash FROM api_keys');
  const hashes = new Set(rows.map(({ hash }) => Buffer.from(hash).toString('base64')));
  return (key) => hashes.has(createHash('sha256').update(key).digest('base64'));
}

/**
 * Returns the query for a page of animals, with every value a parameter, as the documentation of `pg` writes
 * it.
 */
export function page(limit, after, status) {
  return status === undefined
    ? { name: 'page', text: `${PAGE} $2`, values: [after, limit] }
    : { name: 'page-of-status', text: `${PAGE_OF_STATUS} $3`, values: [after, status, limit] };
}

/** Returns a row as an animal, which has no status field when it has no status. */
export function toPet(row) {
  if (row.status === null) {
    delete row.status;
  }
  return row;
}
