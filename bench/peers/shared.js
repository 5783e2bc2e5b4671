// What the peers have in common: none of it costs a request more than its own code would.

import { createHash } from 'node:crypto';

const PAGE = 'SELECT id, name, category_id AS "categoryId", status FROM pets WHERE id > $1 ORDER BY id LIMIT';
const PAGE_OF_STATUS = PAGE.replace('WHERE', 'WHERE status = $2 AND');
export const ONE = 'SELECT id, name, category_id AS "categoryId", status FROM pets WHERE id = $1';
export const ADD =
  'INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id, name, category_id AS "categoryId", status';

/** Requests of a key in a minute and in a day: never reached, as those of the service are not. */
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
 * The keys that are let in, by SHA-256, kept in memory.
 *
 * @param {{ query(text: string): Promise<{ rows: { hash: Buffer }[] }> }} database
 * @returns a function that tells whether a key is one of them.
 */
export async function readKeys(database) {
  const { rows } = await database.query('SELECT hash FROM api_keys');
  const hashes = new Set(rows.map(({ hash }) => Buffer.from(hash).toString('base64')));
  return (key) => hashes.has(createHash('sha256').update(key).digest('base64'));
}

/** The statement for a page of animals, with every value a parameter, as the documentation of `pg` and of each framework has it. */
export function page(limit, after, status) {
  return status === undefined
    ? { name: 'page', text: `${PAGE} $2`, values: [after, limit] }
    : { name: 'page-of-status', text: `${PAGE_OF_STATUS} $3`, values: [after, status, limit] };
}

/**
 * The same for who tunes it: the size stands in the text, under a name of its own. As a parameter it has PostgreSQL plan every
 * page anew, as a plan for pages of any size looks dearer than that.
 *
 * @param {number} limit a whole number from 1 to 100.
 */
export function pagePlannedOnce(limit, after, status) {
  return status === undefined
    ? { name: `page-${limit}`, text: `${PAGE} ${limit}`, values: [after] }
    : { name: `page-${limit}-of-status`, text: `${PAGE_OF_STATUS} ${limit}`, values: [after, status] };
}

/** An animal without status has no such field. */
export function petOf(row) {
  if (row.status === null) {
    delete row.status;
  }
  return row;
}
