import { z } from 'zod';
import { positiveInt32 } from '../http/positive-int32.js';

/** Requests per UTC minute and UTC day: the numbers of a plan, or those of a quota in place of its plan's. */
export const Limits = z.object({
  perMinute: positiveInt32('Requests per UTC minute.'),
  perDay: positiveInt32('Requests per UTC day.'),
});
export type Limits = z.infer<typeof Limits>;

/** A quota's own numbers, both or none; without them those of its plan are in force. */
export const ownLimits = {
  perMinute: Limits.shape.perMinute.optional(),
  perDay: Limits.shape.perDay.optional(),
};

/** A check of `ownLimits`: one number without the other is a fault of the other. */
export const bothOrNone = z.superRefine<{ [Name in keyof Limits]?: number | undefined }>(
  ({ perMinute, perDay }, context) => {
    if ((perMinute === undefined) !== (perDay === undefined)) {
      const missing = perMinute === undefined ? 'perMinute' : 'perDay';
      const given = perMinute === undefined ? 'perDay' : 'perMinute';
      context.addIssue({ code: 'custom', path: [missing], message: `is required with ${given}` });
    }
  },
  // Also where another field is wrong, so that all faults are told at once.
  { when: ({ value }) => typeof value === 'object' && value !== null },
);
