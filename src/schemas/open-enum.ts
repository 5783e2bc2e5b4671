import { z } from 'zod';

const MAX_LENGTH = 64;
/** The maximum length of a list with one entry for each value, of which later versions may have more. */
export const OPEN_LIST_MAX = 100;

export const openEnumSchema = (values: readonly string[]) => ({
  anyOf: [
    { type: 'string', enum: [...values] },
    { type: 'string', maxLength: MAX_LENGTH, description: 'Any other value: later versions may add some.' },
  ],
});

/**
 * An enumeration in responses that may gain values: documents list the known ones and allow any other text,
 * so that generated clients accept a value that is added later.
 */
export const openEnum = <const Known extends readonly string[]>(values: Known) =>
  z.enum(values).meta(openEnumSchema(values));

export const openEnumList = <const Known extends readonly string[]>(values: Known, description: string) =>
  openEnum(values).array().max(OPEN_LIST_MAX).meta({ description });
