import type pg from 'pg';

/**
 * A setting of a session. One that does not match `accepted`, a regular expression of PostgreSQL, is set to
 * `value`.
 */
export interface SessionSetting {
  name: string;
  value: string;
  accepted: string;
}

/**
 * The SQL of one column, `fault`: why text in the encoding of the database cannot be stored, and what to do.
 * No row if it can.
 */
export const ENCODING_FAULT: string;

/**
 * Returns the schema of the service's tables: the one that the connection string names, else the first of
 * `search_path` that exists.
 *
 * @throws the driver's error; one with the SQLSTATE 3F000 if there is none.
 */
export function findSchema(
  pool: Pick<pg.Pool, 'query'>,
  connectionString: string | undefined,
): Promise<string>;

/** Returns every setting on which a statement or a parser relies, in sessions of this connection string. */
export function sessionSettings(connectionString: string | undefined): SessionSetting[];

/**
 * Returns the parameters of a statement that reads settings from `unnest($1::text[], $2::text[],
 * $3::text[])`.
 */
export function settingColumns(
  settings: SessionSetting[],
): [names: string[], values: string[], accepted: string[]];

/**
 * Returns the query that sets what a direct connection needs. Behind a pooler, which lends the session to
 * others, it sets nothing and returns no row.
 *
 * @param expression is evaluated too.
 */
export function configuration(
  client: pg.ClientBase,
  settings: SessionSetting[],
  expression?: string,
): { text: string; values: unknown[] };
