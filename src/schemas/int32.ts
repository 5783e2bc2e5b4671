import { integerOfBody } from './int64.js';

export const INT32_MAX = 2_147_483_647;

/** Returns the schema of an int32 of a JSON body, positive by default. */
export function int32(description: string, minimum = 1, maximum = INT32_MAX) {
  return integerOfBody(minimum, maximum)
    .transform(Number)
    .meta({ description, format: 'int32', minimum, maximum });
}
