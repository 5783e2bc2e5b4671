import { z } from 'zod';
import { orRequired } from './text-schemas.js';

export const MIN_INT64 = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const RANGE = `an integer from ${MIN_INT64} to ${MAX}`;
const MESSAGE = `must be ${RANGE}, without quotes, fraction or exponent`;

/** The schema of an int64 of a JSON body, where integers are bigints. */
export const int64 = z
  .bigint(orRequired(MESSAGE))
  .refine((value) => value >= MIN_INT64 && value <= MAX, MESSAGE);

/** The parameter is repeated to give up to `max` values, each of which counts once. */
export function int64sParameter(max: number) {
  const message = `must be given at most ${max} times, each time as ${RANGE}, written as digits`;
  return z
    .union([z.string(), z.string().array()])
    .transform((given, context) => {
      const values = new Set([given].flat().map(parseInt64));
      if (values.has(null)) {
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
      return [...values] as bigint[];
    })
    .pipe(z.bigint().array().max(max, message));
}

/** Parses an int64 written as digits. Returns null for any other text. */
export function parseInt64(text: string): bigint | null {
  if (!/^-?\d{1,19}$/.test(text)) {
    return null;
  }
  const value = BigInt(text);
  return value >= MIN_INT64 && value <= MAX ? value : null;
}
