import { ENCODING_FAULT } from '../../../prisma/session-settings.mjs';

/**
 * Thrown for a database that cannot store the text of every language. Its message has the statement that
 * makes one that can.
 */
export class ServerEncodingError extends Error {}

/**
 * @param query runs a statement in the database.
 * @throws ServerEncodingError unless the database stores text as UTF8; the error of the query.
 */
export async function requireUtf8(query: (text: string) => Promise<{ fault: string }[]>): Promise<void> {
  const [row] = await query(ENCODING_FAULT);
  if (row !== undefined) {
    throw new ServerEncodingError(row.fault);
  }
}
