import { z } from 'zod';

const MAX = 2_147_483_647;
const FAULT = `must be an integer from 1 to ${MAX}, written as digits`;

/** Returns the schema of a positive int32 of a JSON body, where integers are bigints. */
export const positiveInt32 = (description: string) =>
  z
    .bigint({ error: ({ input }) => (input === undefined ? 'is required' : FAULT) })
    .refine((value) => value >= 1n && value <= MAX, FAULT)
    .transform(Number)
    .meta({ description, format: 'int32', minimum: 1, maximum: MAX });
