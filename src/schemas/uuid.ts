import { z } from 'zod';
import { cursorParameter, limitParameter, once } from './pagination.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const UUID_LENGTH = 36;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export const uuidParameter = (description: string, message = 'must be a UUID') =>
  z
    .string(once(message))
    .refine(isUuid, message)
    .optional()
    .meta({ description, format: 'uuid', maxLength: UUID_LENGTH });

/** Returns the query parameters of a list in the order of its ids, one of which is the cursor's position. */
export const pageQuery = (noun: string) =>
  z.object({
    limit: limitParameter(`Maximum number of ${noun} returned.`),
    cursor: cursorParameter((id) => (isUuid(id) ? id : null)),
  });
export type PageQuery = z.infer<ReturnType<typeof pageQuery>>;
