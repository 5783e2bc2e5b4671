import { crc32 } from 'node:zlib';
import { z } from 'zod';

const CHECKSUM_BYTES = 4;
export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;
const CURSOR_MAX_LENGTH = 256;
export const CURSOR_MESSAGE = 'was not issued by this service: follow the Link header of the previous page';

/** Returns the opaque cursor of a position, with a checksum: one that was copied in part is rejected. */
export function encodeCursor(position: string): string {
  const text = Buffer.from(position);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(text));
  return Buffer.concat([checksum, text]).toString('base64url');
}

/** Returns the position of a cursor, or null for a text that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): string | null {
  const position = Buffer.from(cursor, 'base64url').subarray(CHECKSUM_BYTES).toString();
  return encodeCursor(position) === cursor ? position : null;
}

type QueryValue = string | number | bigint | boolean | Date | undefined;

/**
 * Returns the `Link` header of a page (RFC 8288): the first page, and the next one if there is one.
 *
 * @param query parameters of every page of this list; undefined ones and the cursor are left out.
 * @param lastPosition position of the page's last entry; null or undefined on the last page.
 */
export function pageLinks(path: string, query: object, lastPosition?: string | null): string {
  const given = new URLSearchParams();
  for (const [name, values] of Object.entries(query as Record<string, QueryValue | QueryValue[]>)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (name !== 'cursor' && value !== undefined) {
        given.append(name, value instanceof Date ? value.toISOString() : String(value));
      }
    }
  }
  const first = `<${path}?${given.toString()}>; rel="first"`;
  if (lastPosition === null || lastPosition === undefined) {
    return first;
  }
  given.append('cursor', encodeCursor(lastPosition));
  return `<${path}?${given.toString()}>; rel="next", ${first}`;
}

/** Returns the messages of a query parameter: one for a repeated parameter, else `message`. */
export const once = (message: string) => ({
  error: ({ input }: { input?: unknown }) => (Array.isArray(input) ? 'must be given once' : message),
});

/** Returns the schema of a query parameter that `read` returns the value of, or null for an invalid text. */
export const parameter = <Value>(read: (text: string) => Value | null, message: string) =>
  z
    .string(once(message))
    .transform((text) => read(text) as Value)
    .refine((value) => value !== null, { error: message, abort: true });

export const enumParameter = <const Values extends readonly string[]>(values: Values, description: string) =>
  z
    .enum(values, once(`must be one of ${values.join(', ')}`))
    .optional()
    .meta({ description });

/** Returns the schema of a query parameter that is an integer from 1 to `max`. */
export function integerParameter(max: number, min = 1) {
  const message = `must be an integer from ${min} to ${max}`;
  return z
    .string(once(message))
    .regex(/^[1-9]\d{0,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .pipe(z.int32().min(min).max(max));
}

export const limitParameter = (description: string) =>
  integerParameter(LIMIT_MAX).prefault(String(LIMIT_DEFAULT)).meta({ description, default: LIMIT_DEFAULT });

/** One page of a list. */
export interface Page<Entry> {
  entries: Entry[];
  /** The last of them, after which the next page begins; null on the last page. */
  last: Entry | null;
}

/** Returns the page of the first `limit` rows; a row more shows that another page follows. */
export function toPage<Entry>(rows: Entry[], limit: number): Page<Entry> {
  const entries = rows.slice(0, limit);
  return { entries, last: rows.length > limit ? (entries.at(-1) ?? null) : null };
}

export const pageSchema = <Entry extends z.ZodType>(entry: Entry) => entry.array().max(LIMIT_MAX);

/**
 * Returns the schema of the query parameter `cursor`: the position after which the page begins.
 *
 * @param read returns the list's own position of a cursor's text, or null if the text is not such a position.
 */
export function cursorParameter<Position>(
  read: (position: string) => Position | null,
  maxLength = CURSOR_MAX_LENGTH,
) {
  const readCursor = (cursor: string) => {
    const position = decodeCursor(cursor);
    return position === null ? null : read(position);
  };
  return parameter(readCursor, CURSOR_MESSAGE).optional().meta({
    description: 'Where the page begins: the opaque cursor of the `Link` header of the previous page.',
    maxLength,
    type: 'string',
  });
}
