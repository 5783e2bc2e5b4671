import { stringify } from 'csv-stringify/sync';
import type { FastifyReply } from 'fastify';
import Negotiator from 'negotiator';
import { addVary } from './vary.js';

/** With its parameter, so that a client may name it too. */
const CSV_TYPE = 'text/csv; charset=utf-8';
/** The first is sent to a client that accepts both alike, or neither. */
const TYPES = ['application/json; charset=utf-8', CSV_TYPE];

/**
 * Matches what precedes a formula: the start of a text, or what starts a cell within it for a spreadsheet
 * whose separator is not the comma, for which the quotes around the text belong to the cell before.
 */
const BEFORE_FORMULA = /(?:^|[;\t\r\n])[ "]*(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/**
 * Returns the entries of a page as `csvText()` if the client prefers CSV by `Accept`, else as they are. The
 * parameters are those of `csvText()`.
 */
export function csvIfPreferred<Entry extends object>(
  reply: FastifyReply,
  entries: Entry[],
  columns: readonly string[],
): Entry[] | string {
  addVary(reply, 'Accept');
  if (new Negotiator(reply.request).mediaType(TYPES) !== CSV_TYPE) {
    return entries;
  }
  reply.type(CSV_TYPE);
  return csvText(entries, columns);
}

/**
 * Returns entries as CSV (RFC 4180) with a header line. What a spreadsheet would run as a formula gets an
 * apostrophe in front.
 *
 * @param columns paths of fields, such as `statuses.2xx`. The last name in a path is the name of the column.
 */
export function csvText(entries: readonly object[], columns: readonly string[]): string {
  return stringify([...entries], {
    columns: columns.map((key) => ({ key, header: key.split('.').at(-1) ?? key })),
    header: true,
    record_delimiter: 'windows',
    // Each line end is quoted, not only those of records.
    quote_record_delimiter: true,
    cast: { boolean: String, string: (text) => text.replaceAll(BEFORE_FORMULA, "$&'") },
  });
}
