import { ENCODING_FAULT } from '../../../prisma/session-settings.mjs';
import { OperatorError } from '../../process/operator-error.js';

/**
 * Rejects a database that cannot store the text of every language, with the statement that makes one that
 * can.
 *
 * @param query runs a statement in the database.
 * @throws OperatorError unless the database stores text as UTF8; the error of the query.
 */
export async function requireUtf8(query: (text: string) => Promise<{ fault: string }[]>): Promise<void> {
  const [row] = await query(ENCODING_FAULT);
  if (row !== undefined) {
    throw new OperatorError(row.fault);
  }
}
