import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { instant, keyName } from '../admin/key.schemas.js';
import { parseDuration } from '../duration.js';

const INT32_MAX = 2_147_483_647;

/** What a command's option or argument must be. Each throws InvalidArgumentError, which commander tells as wrong usage. */

export function nameArgument(text: string): string {
  return checked(keyName, text);
}

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > INT32_MAX) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${INT32_MAX}.`);
  }
  return value;
}

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
  return data as Value;
}
