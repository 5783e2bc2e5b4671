import type pg from 'pg';
import { ENCODING_FAULT } from '../../../prisma/session-settings.mjs';
import { OperatorError } from '../../process/operator-error.js';

/**
 * Rejects a database that cannot store the text of every language, with the statement that makes one that
 * can.
 *
 * @throws OperatorError unless the database stores text as UTF8; the error of the query.
 */
export async function requireUtf8(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  const { rows } = await pool.query<{ fault: string }>(ENCODING_FAULT);
  if (rows[0] !== undefined) {
    throw new OperatorError(rows[0].fault);
  }
}
