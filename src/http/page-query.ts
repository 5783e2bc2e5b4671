import { z } from 'zod';
import { decodeCursor } from './cursor.js';
import { sentAs } from './json-schema.js';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;
const CURSOR_FAULT = 'is not one that this service gave: follow the Link header of the page before';

/** What is said of a query parameter that is given twice, or else is not what it must be. */
export const once = (fault: string) => ({
  error: ({ input }: { input?: unknown }) => (Array.isArray(input) ? 'must be given once' : fault),
});

/** A query parameter that is a whole number from 1 to `max`. */
export function countParameter(max: number, byDefault: number, description: string) {
  const fault = `must be an integer from 1 to ${max}`;
  return sentAs(
    z.int().min(1).max(max).default(byDefault),
    z
      .string(once(fault))
      .regex(/^[1-9]\d{0,9}$/, fault)
      .transform(Number)
      .refine((value) => value <= max, fault)
      .default(byDefault)
      .meta({ description }),
  );
}

/** The query parameter `limit`: how many entries a page has. */
export const limitParameter = (description: string) => countParameter(LIMIT_MAX, LIMIT_DEFAULT, description);

/**
 * The query parameter `cursor`, as the position after which the page begins.
 *
 * @param read makes the list's own position of the cursor's text; null when it is none of this list.
 */
export function cursorParameter<Position>(read: (position: string) => Position | null) {
  return z
    .string(once(CURSOR_FAULT))
    .transform((cursor, context) => {
      const text = decodeCursor(cursor);
      const position = text === null ? null : read(text);
      if (position === null) {
        context.addIssue({ code: 'custom', message: CURSOR_FAULT });
        return z.NEVER;
      }
      return position;
    })
    .optional()
    .meta({
      description: 'Where the page begins, as the `Link` header of the page before gives it. Opaque.',
    });
}
