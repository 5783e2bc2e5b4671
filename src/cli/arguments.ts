import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { auditActor } from '../admin/audit/audit.schemas.js';
import { keyName, keyNote } from '../admin/keys/key.schemas.js';
import { keySearch } from '../admin/keys/key-query.schemas.js';
import { parseDuration } from '../settings/duration.js';
import { instant } from '../schemas/instant.js';
import { isUuid } from '../schemas/uuid.js';

/** The exit code of a command that is used wrongly. */
export const EXIT_USAGE = 2;

/** Parsers of options and arguments. Each throws InvalidArgumentError, which commander reports as wrong usage. */

export function nameArgument(text: string): string {
  return checked(keyName, text);
}

export function noteArgument(text: string): string {
  return checked(keyNote, text);
}

export function searchArgument(text: string): string {
  return checked(keySearch, text);
}

export function actorArgument(text: string): string {
  return checked(auditActor, text);
}

export function uuidArgument(text: string): string {
  if (!isUuid(text)) {
    throw new InvalidArgumentError('It must be a UUID.');
  }
  return text;
}

/** Returns a parser of whole numbers from 1 to `max`. */
export const countArgument =
  (max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < 1 || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
    }
    return value;
  };

export const positiveInteger = countArgument(2_147_483_647);

/** @returns milliseconds. */
export function durationArgument(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === null) {
    throw new InvalidArgumentError('It must be a duration such as 90s, 30m, 24h or 7d; 0 for none.');
  }
  return milliseconds;
}

export function instantArgument(text: string): Date {
  return checked(instant, text);
}

function checked<Value>(schema: z.ZodType<Value>, text: string): Value {
  const { data, error } = schema.safeParse(text);
  if (error !== undefined) {
    throw new InvalidArgumentError(`It ${error.issues.map(({ message }) => message).join(', and ')}.`);
  }
  return data;
}
