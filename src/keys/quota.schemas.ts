import { z } from 'zod';
import { openEnum } from '../schemas/open-enum.js';
import { PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';
import { Limits, shownLimit } from '../schemas/limits.schema.js';
import { BODY_MESSAGE, bodyLine, bodyString, dateTime, uuid } from '../schemas/text-schemas.js';
import { EXTERNAL_ID_MAX_LENGTH, shownExternalId } from '../usage/usage.schemas.js';
import { keyWarnings } from './warnings.js';

export const planName = bodyString.meta({
  description: 'Name of the plan.',
  maxLength: PLAN_NAME_MAX_LENGTH,
});

const EXTERNAL_ID = 'What administrators call the customer in their own system. It need not be unique.';
export const externalId = bodyLine(EXTERNAL_ID, EXTERNAL_ID_MAX_LENGTH);

export const limitsSource = openEnum(['plan', 'quota']).meta({
  description: 'Where the limits come from: the plan, or the quota, which then has its own.',
});

const effectiveLimit = (window: string) =>
  shownLimit(
    `Effective limit of requests per UTC ${window}; null if the quota was left without one by direct SQL.`,
  );

/** What administrators see of a quota: whose it is, its plan and its effective limits. */
export const shownQuota = {
  externalId: shownExternalId,
  plan: planName,
  perMinute: effectiveLimit('minute'),
  perDay: effectiveLimit('day'),
  limitsSource,
  bannedUntil: dateTime('When the ban of the quota ends; null if it is not banned.').nullable(),
};

export const Quota = z
  .object({
    id: uuid('Identifier of the quota.'),
    ...shownQuota,
    validKeyCount: z
      .int32()
      .min(0)
      .meta({ description: 'How many valid keys it has. `GET /admin/keys?quotaId=` lists all its keys.' }),
    createdAt: dateTime('When the quota was created, with its first key.'),
    warnings: keyWarnings,
  })
  .meta({
    id: 'Quota',
    description: 'A quota: a plan and limits, which up to 20 valid keys share with the counts and the ban.',
    examples: [
      {
        id: '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a10',
        externalId: 'customer-4711',
        plan: 'enterprise',
        perMinute: 5_000,
        perDay: 1_000_000,
        limitsSource: 'quota',
        bannedUntil: null,
        validKeyCount: 2,
        createdAt: '2026-11-21T08:30:00.000Z',
        warnings: [],
      },
    ],
  });
export type Quota = z.infer<typeof Quota>;

const ownLimit = (limit: z.ZodType<number>, description: string) =>
  limit
    .nullable()
    .optional()
    .meta({ description: `${description} With null, that of the plan applies.` });

export const UpdateQuotaInput = z
  .object(
    {
      plan: planName.optional(),
      perMinute: ownLimit(Limits.shape.perMinute, 'Own limit of requests per UTC minute.'),
      perDay: ownLimit(Limits.shape.perDay, 'Own limit of requests per UTC day.'),
      externalId: externalId
        .nullable()
        .optional()
        .meta({ description: `${EXTERNAL_ID} Null removes it.` }),
    },
    BODY_MESSAGE,
  )
  .meta({
    id: 'QuotaUpdate',
    description:
      'A change of a quota. What is left out stays: a change of the plan alone keeps the own limits. A ' +
      'quota has both own limits or neither. The counts of the current windows are kept.',
    examples: [{ plan: 'enterprise', perMinute: 5_000, perDay: 1_000_000 }],
  });
export type UpdateQuotaInput = z.infer<typeof UpdateQuotaInput>;
