import { z } from 'zod';

const MAX_LENGTH = 64;
/** The maximum length of a list with one entry for each value, of which later versions may have more. */
export const OPEN_LIST_MAX = 100;

/** Returns the JSON Schema of such an enumeration. */
export const openEnumSchema = (values: readonly string[]) => ({
  anyOf: [
    { type: 'string', enum: [...values] },
    { type: 'string', maxLength: MAX_LENGTH, description: 'Any other value: later versions may add some.' },
  ],
});

/**
 * Returns the schema of an enumeration in responses that may gain values: documents list the known values and
 * allow any other text, so that generated clients accept a value that is added later.
 */
export const openEnum = <const Known extends readonly string[]>(values: Known) =>
  z.enum(values).meta(openEnumSchema(values));

/** Returns the schema of a list of such values in responses. */
export const openEnumList = <const Known extends readonly string[]>(values: Known, description: string) =>
  openEnum(values).array().max(OPEN_LIST_MAX).meta({ description });
