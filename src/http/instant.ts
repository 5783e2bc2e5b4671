import { z } from 'zod';

/** Longer than any with nanoseconds and an offset. */
const MAX_LENGTH = 64;
const FAULT = 'must be a date-time with its offset, such as 2027-01-01T00:00:00Z';

/** An instant from its text (RFC 3339). */
export const instant = z.iso
  .datetime({ offset: true, error: FAULT })
  .max(MAX_LENGTH, FAULT)
  .transform((value) => new Date(value))
  // PostgreSQL has no year 0, and no date-time can say the year 10000, into which an offset may carry it.
  .refine((value) => value.getUTCFullYear() >= 1 && value.getUTCFullYear() <= 9999, FAULT);
