import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SqlQuery } from '@prisma/driver-adapter-utils';

/**
 * A statement of SQL that PostgreSQL plans once per connection. Its name is that of its metrics and traces.
 */
export interface Statement<Row = unknown> {
  name: string;
  text: string;
  /** Its name in a session of PostgreSQL. */
  preparedName: string;
  /** Only a type: what a row of the result has. */
  row?: Row;
}

/** The names of all statements by their text: Prisma passes on the text alone. */
const preparedNames = new Map<string, string>();

/**
 * Returns a statement of this text. Its prepared name has a hash of the text, because two releases may share
 * a pooler's sessions.
 *
 * @param name at most 50 bytes, because PostgreSQL keeps 63 with the hash.
 */
export function namedStatement<Row>(name: string, text: string): Statement<Row> {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const statement = { name, text, preparedName: `${name}-${hash}` };
  preparedNames.set(text, statement.preparedName);
  return statement;
}

/** Returns the statement of the file `NAME.sql` beside the module of this URL. */
export function loadSql<Row>(module: string, name: string): Statement<Row> {
  return namedStatement(name, readFileSync(new URL(`./${name}.sql`, module), 'utf8'));
}

/**
 * Returns the prepared name of a query if it is a statement, else an empty text, by which the driver prepares
 * no statement. Prisma's own queries are not prepared: their number is not bounded, and one plan may not suit
 * all of their values.
 */
export function findPreparedName({ sql }: SqlQuery): string {
  return preparedNames.get(sql) ?? '';
}
