import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { BUILT_IN_PLAN_NAMES } from '../auth/rules/built-in-plans.js';
import { OVERLAP_MAX_SECONDS } from '../keys/key.schemas.js';
import { instantOrEndOfDay, instantOrStartOfDay } from '../schemas/instant.js';
import { INT32_MAX } from '../schemas/int32.js';
import { parseDuration } from '../process/settings/duration.js';
import { wholeNumber } from '../process/settings/setting-types.js';

/** Usage is kept for this many days. */
const DAYS_MAX = 400;
export const PLAN_HELP = `${BUILT_IN_PLAN_NAMES.join(', ')}, or a plan of your own`;
const EXPIRY_MESSAGE =
  'must be a duration such as 30d, a date such as 2027-01-31, or a date-time such as 2027-01-01T00:00:00Z';
export const EXPIRY_HELP =
  'such as 30d, 2027-01-31 (until the end of that day in UTC) or 2027-01-01T00:00:00Z';
export const EXTERNAL_ID_HELP = 'what you call the customer of the quota in your own system';
const DURATION_MESSAGE = 'must be a duration such as 90s, 30m, 24h or 7d; 0 for none';

/**
 * Returns a parser of an option, which reports the faults that a schema finds as wrong usage.
 *
 * @param more what else the option takes, after those faults.
 */
export const parsedBy =
  <Value>(schema: z.ZodType<Value>, more = '') =>
  (text: string): Value => {
    const { data, error } = schema.safeParse(text);
    if (error !== undefined) {
      const faults = new Set(error.issues.map(({ message }) => message));
      throw new InvalidArgumentError(`It ${[...faults].join(', and ')}${more}.`);
    }
    return data;
  };

/** Parses what identifies a record: any text but an empty one. */
export const recordText = parsedBy(z.string().trim().min(1, 'must not be empty'));
export const KEY_ID = [
  '<id>',
  'id of the key, a unique end of it, or its last four characters',
  recordText,
] as const;

/**
 * Returns a parser of a list with commas, of `word` for no restriction, or of `none` for an empty list. It
 * wraps the list, because Commander turns null into an empty text.
 */
export function listOrWord<Value>(schema: z.ZodType<Value>, word: string) {
  const words: Record<string, null | []> = { [word]: null, none: [] };
  const split = (text: string) =>
    Object.hasOwn(words, text) ? words[text] : text.split(',').map((item) => item.trim());
  const more = `, with commas between, or "${word}", or "none"`;
  const parse = parsedBy(
    z.preprocess((text) => split(text as string), schema),
    more,
  );
  return (text: string) => ({ value: parse(text) });
}

export const positiveInteger = parsedBy(wholeNumber(1, INT32_MAX));

export const daysOption = (byDefault: number) =>
  new Option('--days <n>', 'number of UTC days, today included')
    .argParser(parsedBy(wholeNumber(1, DAYS_MAX)))
    .default(byDefault);

/** Parses the overlap of a rotation, a duration, to seconds. */
export const overlap = parsedBy(
  z
    .string()
    .transform(parseDuration)
    .pipe(z.number(DURATION_MESSAGE))
    .transform((overlapMs) => overlapMs / 1000)
    .pipe(z.number().max(OVERLAP_MAX_SECONDS, 'must be at most 365 days')),
);

const DAY = /^\d{4}-\d\d-\d\d(?=$|T)/;
/** The schema of a text that does not begin with a day which the calendar lacks, such as 30 February. */
const existingDay = z.string().refine(
  (text) => {
    const [day] = DAY.exec(text) ?? [];
    const date = new Date(`${day}T00:00:00Z`);
    return day === undefined || (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(day));
  },
  { error: 'must be a day that exists', abort: true },
);

/** Parses the start or the end of a range: an instant, or a date. */
export const rangeEnd = parsedBy(existingDay.pipe(instantOrStartOfDay));

/** Parses when a key expires: an instant, a date, or a duration from now. */
export const expiry = parsedBy(
  existingDay
    .transform((text) => {
      const fromNowMs = parseDuration(text);
      return fromNowMs === null ? text : new Date(Date.now() + fromNowMs).toISOString();
    })
    .refine((text) => instantOrEndOfDay.safeParse(text).success, { error: EXPIRY_MESSAGE, abort: true })
    .pipe(instantOrEndOfDay),
);
