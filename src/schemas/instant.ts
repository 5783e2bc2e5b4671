import { z } from 'zod';
import { once } from './pagination.js';
import { orRequired } from './text-schemas.js';

/** Longer than one with nanoseconds and an offset. */
const MAX_LENGTH = 64;
const MESSAGE = 'must be a date-time with its offset, such as 2027-01-01T00:00:00Z';

/** The schema of a date-time (RFC 3339) in a body. */
export const instant = instantWith(orRequired(MESSAGE));

export const instantParameter = (description: string) =>
  instantWith(once(MESSAGE))
    .optional()
    .meta({ description, type: 'string', format: 'date-time', maxLength: MAX_LENGTH });

function instantWith(params: ReturnType<typeof once>) {
  return (
    z.iso
      .datetime({ offset: true, ...params })
      .max(MAX_LENGTH, MESSAGE)
      .transform((value) => new Date(value))
      // PostgreSQL has no year 0, and an offset may lead to the year 10000, which no date-time has.
      .refine((value) => value.getUTCFullYear() >= 1 && value.getUTCFullYear() <= 9999, MESSAGE)
  );
}
