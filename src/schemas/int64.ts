import { z } from 'zod';
import { orRequired } from './text-schemas.js';

export const MIN_INT64 = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const MESSAGE = `must be an integer from ${MIN_INT64} to ${MAX}, written as digits`;

/** The schema of an int64 of a JSON body, where integers are bigints. */
export const int64 = z
  .bigint(orRequired(MESSAGE))
  .refine((value) => value >= MIN_INT64 && value <= MAX, MESSAGE);

/** Parses an int64 written as digits. Returns null for any other text. */
export function parseInt64(text: string): bigint | null {
  if (!/^-?\d{1,19}$/.test(text)) {
    return null;
  }
  const value = BigInt(text);
  return value >= MIN_INT64 && value <= MAX ? value : null;
}
