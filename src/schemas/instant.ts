import { z } from 'zod';
import { once } from './pagination.js';
import { orRequired } from './text-schemas.js';

/** Longer than one with nanoseconds and an offset. */
const MAX_LENGTH = 64;
const INSTANT = 'a date-time with its offset, such as 2027-01-01T00:00:00Z';
const MESSAGE = `must be ${INSTANT}`;
const OR_DATE_MESSAGE = `must be a date such as 2027-01-31, or ${INSTANT}`;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** The schema of a date-time (RFC 3339) in a body. */
export const instant = instantWith(MESSAGE, orRequired(MESSAGE));

/**
 * The schema of a date-time, or of a date, which is the end of that day in UTC: its last millisecond, so that
 * what is shown of it still has that date.
 */
export const instantOrEndOfDay = instantOrDate('23:59:59.999', orRequired(OR_DATE_MESSAGE));

/** The schema of a date-time, or of a date, which is the start of that day in UTC. */
export const instantOrStartOfDay = instantOrDate('00:00:00', once(OR_DATE_MESSAGE));

export const instantParameter = (description: string) =>
  instantOrStartOfDay.optional().meta({
    description: `${description} A date such as 2027-01-31 is the start of that day in UTC.`,
    type: 'string',
    format: 'date-time',
    maxLength: MAX_LENGTH,
  });

function instantOrDate(timeOfDay: string, params: ReturnType<typeof once>) {
  return z
    .string(params)
    .max(MAX_LENGTH, OR_DATE_MESSAGE)
    .meta({ format: 'date-time' })
    .overwrite((text) => (DATE.test(text) ? `${text}T${timeOfDay}Z` : text))
    .pipe(instantWith(OR_DATE_MESSAGE, params));
}

function instantWith(message: string, params: ReturnType<typeof once>) {
  return (
    z.iso
      .datetime({ offset: true, ...params })
      .max(MAX_LENGTH, message)
      .transform((value) => new Date(value))
      // PostgreSQL has no year 0, and an offset may lead to the year 10000, which no date-time has.
      .refine((value) => value.getUTCFullYear() >= 1 && value.getUTCFullYear() <= 9999, message)
  );
}
