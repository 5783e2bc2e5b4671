import { z } from 'zod';

const MAX = 2_147_483_647;
const FAULT = `must be an integer from 1 to ${MAX}, written as digits`;

const limit = (description: string) =>
  z
    .bigint({ error: ({ input }) => (input === undefined ? 'is required' : FAULT) })
    .refine((value) => value >= 1n && value <= MAX, FAULT)
    .transform(Number)
    .meta({ description, format: 'int32', minimum: 1, maximum: MAX });

/** Requests per UTC minute and UTC day: the numbers of a plan, or those of a quota in place of its plan's. */
export const Limits = z.object({
  perMinute: limit('Requests per UTC minute.'),
  perDay: limit('Requests per UTC day.'),
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
