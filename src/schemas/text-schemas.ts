import { z } from 'zod';
import { UUID_LENGTH } from './uuid.js';

/** Of `2027-03-05T12:34:30.000Z`. */
const DATE_TIME_LENGTH = 24;

/** Returns the schema of an instant in a response, written by `Date.toISOString()`. */
export const dateTime = (description: string) =>
  z.string().meta({ description, format: 'date-time', maxLength: DATE_TIME_LENGTH });

/** Returns the schema of a UUID in a response. */
export const uuid = (description: string) =>
  z.string().meta({ description, format: 'uuid', maxLength: UUID_LENGTH });

/** Returns the schema of another text in a response. */
export const plainText = (description: string, maxLength: number) =>
  z.string().meta({ description, maxLength });
