import { z } from 'zod';

export const MIN_INT64 = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** The schema of an int64 of a JSON body. */
export const int64 = integerOfBody(MIN_INT64, MAX);

/** Returns the schema of an integer of a JSON body, where integers are bigints. */
export function integerOfBody(minimum: bigint | number, maximum: bigint | number) {
  const range = `from ${minimum} to ${maximum}`;
  const message = `must be an integer ${range}, written as digits`;
  return z
    .bigint({
      error: ({ input }) => {
        if (input === undefined) {
          return 'is required';
        }
        return typeof input === 'string' ? `must be a JSON integer, not a string, ${range}` : message;
      },
    })
    .refine((value) => value >= minimum && value <= maximum, message);
}

/** The parameter is repeated to give up to `max` values, each of which counts once. */
export function int64sParameter(max: number) {
  const range = `from ${MIN_INT64} to ${MAX}`;
  const message = `must be given at most ${max} times, each time as an integer ${range}, written as digits`;
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
