import { z } from 'zod';
import { orRequired } from './text-schemas.js';

const MESSAGE = 'must be a date such as 2027-03-05';
const DATE_LENGTH = 10;

/** In PostgreSQL it is a column of type `date`. */
export const calendarDate = (description: string) =>
  z.iso
    .date(orRequired(MESSAGE))
    // PostgreSQL has no year 0.
    .refine((text) => !text.startsWith('0000'), MESSAGE)
    // Zod's own pattern, which counts leap years, is unreadable.
    .meta({ description, pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, maxLength: DATE_LENGTH });

/** Returns the text of a date that Prisma read: midnight in UTC. A column that may be null has none then. */
export function toCalendarDate(date: Date): string;
export function toCalendarDate(date: Date | null): string | undefined;
export function toCalendarDate(date: Date | null): string | undefined {
  return date?.toISOString().slice(0, DATE_LENGTH);
}
