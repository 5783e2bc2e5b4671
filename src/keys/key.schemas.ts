import { z } from 'zod';
import { SCOPES } from '../auth/rules/scope.js';
import { KEY_ROLES } from '../auth/rules/role.js';
import { instantOrEndOfDay } from '../schemas/instant.js';
import { int32 } from '../schemas/int32.js';
import { openEnum } from '../schemas/open-enum.js';
import { count } from '../usage/usage.schemas.js';
import { externalId, planName, shownQuota } from './quota.schemas.js';
import { restrictions, shownRestrictions } from './restrictions.js';
import { keyWarnings } from './warnings.js';
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
import { bothOrNone, type Limits, ownLimits } from '../schemas/limits.schema.js';
import { isUuid, UUID_LENGTH } from '../schemas/uuid.js';

const NOTE_MAX_LENGTH = 1000;
/** UTC hours whose requests are shown with a key, the current one included. */
export const RECENT_HOURS = 24;
/** What clients must be ready for. */
const RECENT_MAX = 1000;
export const KEY_STATES = ['active', 'rotating', 'suspended', 'expired', 'revoked'] as const;
/** One year, the maximum time for which a key and its successor both work. */
export const OVERLAP_MAX_SECONDS = 31_536_000;

export const keyName = bodyLine('Name of the key.', KEY_NAME_MAX_LENGTH);
export const keyNote = bodyLine('Note of administrators on the key. Clients never see it.', NOTE_MAX_LENGTH);
const roleMeta = { description: 'Role of the key. An `admin` key may also use the administration.' };
const roleSchema = z.enum(KEY_ROLES, { error: `must be one of ${KEY_ROLES.join(', ')}` }).meta(roleMeta);
export const shownRole = openEnum(KEY_ROLES).meta(roleMeta);

export const END_OF_DAY = 'A date such as 2027-01-31 is the end of that day in UTC, 23:59:59.999.';
const expiresAt = instantOrEndOfDay.meta({
  description: `The time from which the key is no longer valid. ${END_OF_DAY}`,
});

/** What a key may do, and from where. A scope or network that is there twice is stored once. */
export const givenRestrictions = {
  scopes: restrictions.scopes
    .transform((scopes) => scopes && SCOPES.filter((scope) => scopes.includes(scope)))
    .optional(),
  allowedNetworks: restrictions.allowedNetworks
    .transform((networks) => networks && [...new Set(networks)])
    .optional(),
};

export const UpdateKeyInput = z
  .object(
    {
      name: keyName.optional(),
      note: keyNote.nullable().optional(),
      ...givenRestrictions,
      suspended: z
        .boolean('must be true or false')
        .optional()
        .meta({
          description:
            'Whether requests with the key get 401 until it is resumed. Its expiry goes on, and keys that ' +
            'it issued, and its successor, keep working.',
        }),
    },
    BODY_MESSAGE,
  )
  .meta({
    id: 'KeyUpdate',
    description: 'A change of a key. What is left out stays; null removes the note, or a restriction.',
    examples: [{ note: null, scopes: ['pets:read', 'orders:read'] }],
  });
export type UpdateKeyInput = z.infer<typeof UpdateKeyInput>;

const UUID_MESSAGE = 'must be the id of a quota';

/** A key is on a quota of its own, with `plan`, or on one that exists, with `quotaId`. */
const planOrQuota = z.superRefine<{
  [Field in 'plan' | 'quotaId' | 'externalId' | keyof Limits]?: unknown;
}>(
  ({ plan, quotaId, perMinute, perDay, externalId: customer }, context) => {
    if (quotaId === undefined && plan === undefined) {
      context.addIssue({ code: 'custom', path: ['plan'], message: 'is required without quotaId' });
    } else if (
      typeof quotaId === 'string' &&
      [plan, perMinute, perDay, customer].some((given) => given !== undefined)
    ) {
      const message =
        'must not be given with plan, perMinute, perDay or externalId: they are those of the quota';
      context.addIssue({ code: 'custom', path: ['quotaId'], message });
    }
  },
  { when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value) },
);

export const CreateKeyInput = z
  .object(
    {
      name: keyName,
      note: keyNote.optional(),
      plan: planName.optional().meta({ description: 'Name of the plan. Required without `quotaId`.' }),
      quotaId: bodyString.refine(isUuid, UUID_MESSAGE).optional().meta({
        description: 'Identifier of an existing quota for the key. Without it, the key gets a new quota.',
        format: 'uuid',
        maxLength: UUID_LENGTH,
      }),
      ...ownLimits,
      externalId: externalId.optional(),
      role: roleSchema.optional(),
      ...givenRestrictions,
      expiresAt: expiresAt.optional(),
    },
    BODY_MESSAGE,
  )
  .check(planOrQuota, bothOrNone)
  .meta({
    id: 'NewKey',
    description: 'A new key, with a new quota or on an existing one.',
    examples: [{ name: "Ann's shop", plan: 'pro', externalId: 'customer-4711' }],
  });
export type CreateKeyInput = z.infer<typeof CreateKeyInput>;

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
      expiresAt: expiresAt.optional().meta({
        description: `When the successor expires. The default is the expiry of the old key. ${END_OF_DAY}`,
      }),
    },
    BODY_MESSAGE,
  )
  .meta({
    id: 'KeyRotation',
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

export const Key = z
  .object({
    id: uuid('Identifier of the key.'),
    name: z.string().meta(keyName.meta() ?? {}),
    note: plainText('Note of administrators on the key; null if there is none.', NOTE_MAX_LENGTH).nullable(),
    role: shownRole,
    ...shownRestrictions,
    state: openEnum(KEY_STATES).meta({
      description:
        'State of the key now, the first that holds of `revoked`, `expired`, `suspended`, `rotating` and ' +
        '`active`. A `suspended` key gets 401 until it is resumed. A `rotating` key has a successor, and ' +
        'is valid until the overlap with it ends.',
    }),
    ...keyHints,
    quotaId: uuid('Identifier of its quota. Keys on one quota share its limits, counts and ban.'),
    ...shownQuota,
    createdAt: dateTime('When the key was issued.'),
    expiresAt: dateTime('When the key expires; null if it never does.').nullable(),
    revokedAt: dateTime('When the key was revoked; null if it was not.').nullable(),
    suspendedAt: dateTime('Since when the key is suspended; null if it is not.').nullable(),
    predecessorId: uuid('Identifier of the key that this one replaces, if any.').nullable(),
    successorId: uuid('Identifier of the key that replaces this one, if any.').nullable(),
    issuerId: uuid(
      'Identifier of the key by which a holder issued this one; null if an administrator issued it.',
    ).nullable(),
    warnings: keyWarnings,
  })
  .meta({ id: 'Key', description: 'An API key, without the key itself.' });
export type Key = z.infer<typeof Key>;

export const KeyWithUsage = z
  .object({
    ...Key.shape,
    lastUsedAt: dateTime(
      'Time of the last request; null if there is none in the last 400 days. ' +
        'Requests appear within a second.',
    ).nullable(),
    recentUsage: z
      .object({
        startsAt: dateTime('Start of the UTC hour.'),
        requests: count('Requests in it.'),
        denied: count('Requests in it that got 429.'),
      })
      .array()
      .max(RECENT_MAX)
      .meta({
        description:
          'The requests in each of the last UTC hours, oldest first, those without requests included. The ' +
          `last hour is the current one. There are ${RECENT_HOURS}, a number that may change.`,
      }),
  })
  .meta({ id: 'KeyWithUsage', description: 'An API key with its usage, without the key itself.' });
export type KeyWithUsage = z.infer<typeof KeyWithUsage>;

export const IssuedKey = z
  .object({ ...Key.shape, key: plainText('The key. It is not shown again.', KEY_MAX_LENGTH) })
  .meta({ id: 'IssuedKey', description: 'A new API key.' });
export type IssuedKey = z.infer<typeof IssuedKey>;

export const KeySuccessor = z
  .object({ ...IssuedKey.shape, overlapEndsAt: dateTime('Until then the old key works, too.') })
  .meta({ id: 'KeySuccessor', description: 'The API key that replaces another.' });
export type KeySuccessor = z.infer<typeof KeySuccessor>;
