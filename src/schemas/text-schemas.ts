import { z } from 'zod';
import { once } from './pagination.js';
import { UUID_LENGTH } from './uuid.js';

export const KEY_NAME_MAX_LENGTH = 255;
export const KEY_MAX_LENGTH = 64;
const TEXT_MESSAGE = 'must be text without control characters';
/**
 * With those that change the direction of text, so that one name can look like another. Its flag `g` makes
 * `test()` depend on the call before: use `search()` or `replaceAll()`.
 */
export const CONTROL_CHARACTERS = /[\p{Cc}\p{Bidi_Control}]/gu;

/** A date-time such as `2027-03-05T12:34:30.000Z` has this length. */
const DATE_TIME_LENGTH = 24;

/** Returns the schema of an instant in a response, written by `Date.toISOString()`. */
export const dateTime = (description: string) =>
  z.string().meta({ description, format: 'date-time', maxLength: DATE_TIME_LENGTH });

export const uuid = (description: string) =>
  z.string().meta({ description, format: 'uuid', maxLength: UUID_LENGTH });

export const plainText = (description: string, maxLength: number) =>
  z.string().meta({ description, maxLength });

/** The schemas of what tells keys apart without showing them. */
export const keyHints = {
  prefix: plainText('First characters of the key.', KEY_MAX_LENGTH),
  lastFour: plainText('Last four characters of the key.', 4),
};

export function lineParameter(description: string, maxLength: number) {
  const message = `must have 1 to ${maxLength} characters`;
  return z
    .string(once(message))
    .refine((text) => text !== '' && Array.from(text).length <= maxLength, message)
    .refine(isPlainText, TEXT_MESSAGE)
    .meta({ description, minLength: 1, maxLength });
}

/** Returns whether a text has no control characters, and none that change the direction of text. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && text.search(CONTROL_CHARACTERS) === -1;
}

export const BODY_MESSAGE = { error: 'the body must be a JSON object' };

/** Returns the messages of a field: one if it is missing, else `message`. */
export const orRequired = (message: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : message),
});

export const bodyString = z.string(orRequired('must be a string'));

/** Returns the schema of a text in a body that is stored as it is. It is not blank. */
export const bodyText = (description: string, maxLength: number) =>
  boundedText(maxLength)
    .refine((text) => !text.includes('\0'), 'must not contain the NUL character')
    .refine((text) => text.isWellFormed(), 'must not contain half of a surrogate pair')
    .meta({ description, minLength: 1, maxLength });

/** Returns the schema of a text in a body that people are shown in one line. It is not blank. */
export const bodyLine = (description: string, maxLength: number) =>
  boundedText(maxLength).refine(isPlainText, TEXT_MESSAGE).meta({ description, minLength: 1, maxLength });

function boundedText(maxLength: number) {
  return bodyString
    .refine((text) => text.trim() !== '', { error: 'must not be blank', abort: true })
    .refine((text) => Array.from(text).length <= maxLength, `must have at most ${maxLength} characters`);
}
