import { z } from 'zod';
import { SCOPES } from '../auth/rules/scope.js';
import { instant } from '../schemas/instant.js';
import { int32 } from '../schemas/int32.js';
import { openEnum } from '../schemas/open-enum.js';
import { restrictions, shownRestrictions } from './restrictions.js';
import {
  BODY_MESSAGE,
  bodyLine,
  bodyString,
  dateTime,
  KEY_MAX_LENGTH,
  KEY_NAME_MAX_LENGTH,
  keyHints,
  plainText,
  uuid,
} from '../schemas/text-schemas.js';
import { bothOrNone, type Limits, ownLimits, shownLimit } from '../schemas/limits.schema.js';
import { isUuid, UUID_LENGTH } from '../schemas/uuid.js';
import { PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';

const NOTE_MAX_LENGTH = 1000;
const WARNING_MAX_LENGTH = 1000;
/** UTC hours whose requests are shown with a key, the current one included. */
export const HOURS_SHOWN = 24;
const ROLES = ['client', 'admin'] as const;
export const KEY_STATES = ['active', 'rotating', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];
/** One year, the maximum time for which a key and its successor both work. */
export const OVERLAP_MAX_SECONDS = 31_536_000;

export const keyName = bodyLine('Name of the key.', KEY_NAME_MAX_LENGTH);
export const keyNote = bodyLine('Note of administrators on the key. Clients never see it.', NOTE_MAX_LENGTH);
const planName = bodyString.meta({ description: 'Name of the plan.', maxLength: PLAN_NAME_MAX_LENGTH });
const roleMeta = { description: 'Role of the key. An `admin` key may also use the administration.' };
const roleSchema = z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` }).meta(roleMeta);
export const shownRole = openEnum(ROLES).meta(roleMeta);

const expiresAt = instant.meta({
  description: 'The time from which the key is no longer valid.',
  format: 'date-time',
});

/**
 * Its lists are empty for no restriction, as they are stored; a scope or network that is there twice is
 * stored once.
 */
export const RestrictKeyInput = z
  .object(
    {
      scopes: restrictions.scopes.transform((scopes) => SCOPES.filter((scope) => scopes?.includes(scope))),
      allowedNetworks: restrictions.allowedNetworks.transform((networks) => [...new Set(networks)]),
    },
    BODY_MESSAGE,
  )
  .partial()
  .meta({
    id: 'KeyRestrictions',
    description: 'What a key may do, and from where. What is left out stays; null removes a restriction.',
    examples: [{ scopes: ['pets:read', 'orders:read'], allowedNetworks: null }],
  });
export type RestrictKeyInput = z.infer<typeof RestrictKeyInput>;

const UUID_MESSAGE = 'must be the id of a key';

/** A key is on a quota of its own, with `plan`, or on that of another key, with `quotaOf`. */
const planOrQuota = z.superRefine<{ [Field in 'plan' | 'quotaOf' | keyof Limits]?: unknown }>(
  ({ plan, quotaOf, perMinute, perDay }, context) => {
    if (quotaOf === undefined && plan === undefined) {
      context.addIssue({ code: 'custom', path: ['plan'], message: 'is required without quotaOf' });
    } else if (
      typeof quotaOf === 'string' &&
      [plan, perMinute, perDay].some((given) => given !== undefined)
    ) {
      const message = 'must not be given with plan, perMinute or perDay: they are those of the quota';
      context.addIssue({ code: 'custom', path: ['quotaOf'], message });
    }
  },
  { when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value) },
);

export const CreateKeyInput = z
  .object(
    {
      name: keyName,
      note: keyNote.optional(),
      plan: planName.optional().meta({ description: 'Name of the plan. Required without `quotaOf`.' }),
      quotaOf: bodyString.refine(isUuid, UUID_MESSAGE).optional().meta({
        description: 'Identifier of a key whose quota the new key shares, instead of one of its own.',
        format: 'uuid',
        maxLength: UUID_LENGTH,
      }),
      ...ownLimits,
      role: roleSchema.optional(),
      ...RestrictKeyInput.shape,
      expiresAt: expiresAt.optional(),
    },
    BODY_MESSAGE,
  )
  .check(planOrQuota, bothOrNone)
  .meta({
    id: 'NewKey',
    description: 'A new key, with a quota of its own or on the quota of another key.',
    examples: [{ name: "Ann's shop", plan: 'pro' }],
  });
export type CreateKeyInput = z.infer<typeof CreateKeyInput>;

export const ChangePlanInput = z
  .object({ plan: planName, ...ownLimits }, BODY_MESSAGE)
  .check(bothOrNone)
  .meta({
    id: 'PlanChange',
    description:
      "The new plan of a key's quota, and limits of the quota itself, if any. " +
      'The counts of the current windows are kept.',
    examples: [{ plan: 'enterprise', perMinute: 5_000, perDay: 1_000_000 }],
  });
export type ChangePlanInput = z.infer<typeof ChangePlanInput>;

export const overlapSeconds = (minimum: number, minimumText: string) =>
  int32(
    `Seconds for which both keys work. The default is 24 hours. ${minimumText}`,
    minimum,
    OVERLAP_MAX_SECONDS,
  ).optional();

export const RotateKeyInput = z
  .object(
    {
      overlapSeconds: overlapSeconds(0, 'With 0, the old key stops working immediately.'),
      expiresAt: expiresAt
        .optional()
        .meta({ description: 'When the successor expires. The default is the expiry of the old key.' }),
    },
    BODY_MESSAGE,
  )
  .meta({
    id: 'Rotation',
    description: 'Options for the rotation of a key.',
    examples: [{ overlapSeconds: 3600 }],
  });
export type RotateKeyInput = z.infer<typeof RotateKeyInput>;

export const RevokeLeakedKeyInput = z
  .object(
    { key: bodyString.meta({ description: 'The key itself.', maxLength: KEY_MAX_LENGTH }) },
    BODY_MESSAGE,
  )
  .meta({
    id: 'LeakedKey',
    description: 'A key that was found where it should not be.',
    examples: [{ key: 'ask_test_00000000000000000000000000000000000000' }],
  });
export type RevokeLeakedKeyInput = z.infer<typeof RevokeLeakedKeyInput>;

export const LabelKeyInput = z.object({ name: keyName, note: keyNote.optional() }, BODY_MESSAGE).meta({
  id: 'KeyLabel',
  description:
    'The name of a key, and the note of administrators on it. Without `note`, the note is removed.',
  examples: [{ name: "Ann's shop", note: 'Calls at night. Contact: ann@example.org' }],
});
export type LabelKeyInput = z.infer<typeof LabelKeyInput>;

/** A change of the label of a key: what is undefined stays, and a note that is null is removed. */
export interface KeyLabelChange {
  name?: string | undefined;
  note?: string | null | undefined;
}

/** A key in responses to administrators, without the key itself. */
export const Key = z
  .object({
    id: uuid('Identifier of the key.'),
    name: z.string().meta(keyName.meta() ?? {}),
    note: plainText('Note of administrators on the key; null if there is none.', NOTE_MAX_LENGTH).nullable(),
    role: shownRole,
    ...shownRestrictions,
    state: openEnum(KEY_STATES).meta({
      description:
        'Current state of the key. A `rotating` key is valid until the overlap with its successor ends.',
    }),
    ...keyHints,
    quotaId: uuid('Identifier of its quota. Keys on one quota share its limits, counts and ban.'),
    plan: planName,
    perMinute: shownLimit(
      'Effective limit of requests per UTC minute; null if the quota was left without one by direct SQL.',
    ),
    perDay: shownLimit(
      'Effective limit of requests per UTC day; null if the quota was left without one by direct SQL.',
    ),
    ownLimits: z
      .boolean()
      .meta({ description: "Whether these limits are the quota's own instead of the plan's." }),
    bannedUntil: dateTime('When the ban of the quota ends; null if it is not banned.').nullable(),
    createdAt: dateTime('When the key was issued.'),
    expiresAt: dateTime('When the key expires; null if it never does.').nullable(),
    revokedAt: dateTime('When the key was revoked; null if it was not.').nullable(),
    predecessorId: uuid('Identifier of the key that this one replaces, if any.').nullable(),
    successorId: uuid('Identifier of the key that replaces this one, if any.').nullable(),
    issuerId: uuid(
      'Identifier of the key by which a holder issued this one; null if an administrator issued it.',
    ).nullable(),
    warning: plainText(
      'What may be wrong with the networks that the request has set; else absent.',
      WARNING_MAX_LENGTH,
    ).optional(),
  })
  .meta({ id: 'Key', description: 'An API key, without the key itself.' });
export type Key = z.infer<typeof Key>;

/** A key with its usage, in responses that list or get keys. */
export const KeyWithUsage = z
  .object({
    ...Key.shape,
    lastUsedAt: dateTime(
      'Time of the last request; null if there is none in the last 400 days. ' +
        'Requests appear within a second.',
    ).nullable(),
    requestsByHour: z.int().min(0).array().length(HOURS_SHOWN).meta({
      description:
        'Requests in each of the last 24 UTC hours, oldest first. The last hour is the current one.',
    }),
  })
  .meta({ id: 'KeyWithUsage', description: 'An API key with its usage, without the key itself.' });
export type KeyWithUsage = z.infer<typeof KeyWithUsage>;

/** A new key in the response that issues it, the only one with the key itself. */
export const IssuedKey = z
  .object({ ...Key.shape, key: plainText('The key. It is not shown again.', KEY_MAX_LENGTH) })
  .meta({ id: 'IssuedKey', description: 'A new API key.' });
export type IssuedKey = z.infer<typeof IssuedKey>;

/** A successor, and until when the key that it replaces works. */
export type RotatedKey = IssuedKey & { overlapEndsAt: string };
