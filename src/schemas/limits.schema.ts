import { z } from 'zod';
import { int32 } from './int32.js';

/** Documented as an int64, so that a later version may accept more. */
const limit = (description: string) => int32(description).meta({ format: 'int64' });

/** The limits of a plan, or those of a quota, which override its plan's. */
export const Limits = z.object({
  perMinute: limit('Requests per UTC minute.'),
  perDay: limit('Requests per UTC day.'),
});
export type Limits = z.infer<typeof Limits>;

export const shownLimit = (description: string) => z.int().min(1).nullable().meta({ description });

/** A quota's own limits, both or none. Without them, those of its plan apply. */
export const ownLimits = {
  perMinute: Limits.shape.perMinute.optional(),
  perDay: Limits.shape.perDay.optional(),
};

/** Returns the name of the own limit that is missing beside the other; null if both are given, or neither. */
export function missingLimit(limits: {
  [Name in keyof Limits]?: number | null | undefined;
}): keyof Limits | null {
  const [perMinute, perDay] = [limits.perMinute ?? null, limits.perDay ?? null];
  if ((perMinute === null) === (perDay === null)) {
    return null;
  }
  return perMinute === null ? 'perMinute' : 'perDay';
}

/** Checks `ownLimits`: one limit without the other is reported as a fault of the missing one. */
export const bothOrNone = z.superRefine<{ [Name in keyof Limits]?: number | undefined }>(
  (limits, context) => {
    const missing = missingLimit(limits);
    if (missing !== null) {
      const given = missing === 'perMinute' ? 'perDay' : 'perMinute';
      context.addIssue({ code: 'custom', path: [missing], message: `is required with ${given}` });
    }
  },
  // Also runs if another field is invalid, so that a response reports all faults.
  { when: ({ value }) => typeof value === 'object' && value !== null },
);
