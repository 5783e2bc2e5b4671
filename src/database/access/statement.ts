import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type pg from 'pg';

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

/** @param name at most 50 bytes, because PostgreSQL keeps 63 with the hash. */
export function namedStatement<Row>(name: string, text: string): Statement<Row> {
  return { name, text, preparedName: preparedName(name, text) };
}

/** Returns the statement of the file `NAME.sql` beside the module of this URL. */
export function loadSql<Row>(module: string, name: string): Statement<Row> {
  return namedStatement(name, readFileSync(new URL(`./${name}.sql`, module), 'utf8'));
}

/** Returns a name with a hash of the text, because two releases may share a pooler's sessions. */
export function preparedName(name: string, text: string): string {
  return `${name}-${hash('sha256', text).slice(0, 12)}`;
}

/**
 * Runs statements below Prisma's client, by its pool and driver: what is too busy for the client, or needs
 * more SQL than its calls express (record 6 in docs/decisions). They are read by the `types` of the pool.
 */
export class SqlRunner {
  constructor(private readonly pool: pg.Pool) {}

  /** Returns the rows. @throws the driver's error. */
  async query<Row>({ preparedName: name, text }: Statement<Row>, ...values: unknown[]): Promise<Row[]> {
    return (await this.pool.query({ name, text, values })).rows as Row[];
  }

  /** Returns the number of rows that the statement changed. @throws the driver's error. */
  async execute({ preparedName: name, text }: Statement, ...values: unknown[]): Promise<number> {
    return (await this.pool.query({ name, text, values })).rowCount ?? 0;
  }
}
