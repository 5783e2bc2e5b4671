import { z } from 'zod';

const MAX_LENGTH = 64;

/**
 * Returns the schema of an enumeration in responses that may gain values: documents list the known values and
 * allow any other text, so that generated clients accept a value that is added later.
 */
export const openEnum = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values).meta({
    anyOf: [
      { type: 'string', enum: [...values] },
      { type: 'string', maxLength: MAX_LENGTH, description: 'A value that is added later.' },
    ],
  });
