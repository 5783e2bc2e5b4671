import { z } from 'zod';
import { orRequired } from './text-schemas.js';

export const INT32_MAX = 2_147_483_647;

/** Returns the schema of an int32 of a JSON body, positive by default. Integers of a body are bigints. */
export function int32(description: string, minimum = 1, maximum = INT32_MAX) {
  const message = `must be an integer from ${minimum} to ${maximum}, without quotes, fraction or exponent`;
  return z
    .bigint(orRequired(message))
    .refine((value) => value >= minimum && value <= maximum, message)
    .transform(Number)
    .meta({ description, format: 'int32', minimum, maximum });
}
