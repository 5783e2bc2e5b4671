import { z } from 'zod';
import { instant } from '../http/instant.js';
import { sentAs } from '../http/json-schema.js';
import { cursorParameter, limitParameter, once } from '../http/pagination.js';
import { dateTime, plainText, uuid } from '../http/text-schemas.js';
import { bothOrNone, ownLimits } from './limits.schema.js';
import { isPlanName, PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';

export const NAME_MAX_LENGTH = 255;
const KEY_MAX_LENGTH = 64;
/** In characters. Encoded, they stand twice in the `Link` header of a page. */
const SEARCH_MAX_LENGTH = 64;
const ROLES = ['client', 'admin'] as const;
export const KEY_STATES = ['active', 'rotating', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];
const STATE_FAULT = `must be one of ${KEY_STATES.join(', ')}`;
const SEARCH_FAULT = `must have 1 to ${SEARCH_MAX_LENGTH} characters`;
/** A year: the longest that a key and its successor may both work. */
export const OVERLAP_MAX_SECONDS = 31_536_000;
const OVERLAP_FAULT = `must be an integer from 0 to ${OVERLAP_MAX_SECONDS}, written as digits`;
const PLAN_FAULT = 'must be the name of a plan';
const TEXT_FAULT = 'must be text without control characters';
const BODY_FAULT = { error: 'the body must be a JSON object' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Characters that turn the order of what is read, and so can show a name as another. */
const BIDI_CONTROL = /\p{Bidi_Control}/u;

const givenText = (error = 'must be a string') =>
  z.string({ error: ({ input }) => (input === undefined ? 'is required' : error) });

export const keyName = givenText()
  .refine((name) => name.trim() !== '', 'must not be blank')
  .refine(
    (name) => Array.from(name).length <= NAME_MAX_LENGTH,
    `must have at most ${NAME_MAX_LENGTH} characters`,
  )
  .refine(isPlainText, TEXT_FAULT)
  .meta({ description: 'What the key is for.', minLength: 1, maxLength: NAME_MAX_LENGTH });
const planName = givenText().meta({ description: 'Name of the plan.', maxLength: PLAN_NAME_MAX_LENGTH });
const KeyRole = z
  .enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` })
  .meta({ description: 'What the key may do: `admin` may also administer.' });

const expiresAt = instant.meta({
  description: 'From when on the key is no longer valid.',
  format: 'date-time',
});

export const KeyOrder = z
  .object(
    {
      name: keyName,
      plan: planName,
      ...ownLimits,
      role: KeyRole.optional(),
      expiresAt: expiresAt.optional(),
    },
    BODY_FAULT,
  )
  .check(bothOrNone)
  .meta({
    id: 'KeyOrder',
    description: 'A key to issue, on a quota of its own.',
    examples: [{ name: "Ann's shop", plan: 'pro' }],
  });
export type KeyOrder = z.infer<typeof KeyOrder>;

export const PlanChange = z
  .object({ plan: planName, ...ownLimits }, BODY_FAULT)
  .check(bothOrNone)
  .meta({
    id: 'PlanChange',
    description:
      "The plan that a key's quota is on from now on, and its own numbers, if any. Counts are kept.",
    examples: [{ plan: 'enterprise', perMinute: 5_000, perDay: 1_000_000 }],
  });
export type PlanChange = z.infer<typeof PlanChange>;

export const Rotation = z
  .object(
    {
      overlapSeconds: z
        .bigint({ error: OVERLAP_FAULT })
        .refine((value) => value >= 0n && value <= OVERLAP_MAX_SECONDS, OVERLAP_FAULT)
        .transform(Number)
        .optional()
        .meta({
          description: 'How long both keys work. 24 hours when not given; 0 ends the old key at once.',
          format: 'int32',
          minimum: 0,
          maximum: OVERLAP_MAX_SECONDS,
        }),
      expiresAt: expiresAt
        .optional()
        .meta({ description: 'When the successor expires; when not given, as the old key was to.' }),
    },
    BODY_FAULT,
  )
  .meta({
    id: 'Rotation',
    description: 'How a key is succeeded by a new one.',
    examples: [{ overlapSeconds: 3600 }],
  });
export type Rotation = z.infer<typeof Rotation>;

const inForce = (description: string) => z.int32().min(1).nullable().meta({ description });

/** A key as administrators see it: all but the key. */
export const Key = z
  .object({
    id: uuid('Identifier of the key.'),
    name: z.string().meta(keyName.meta() ?? {}),
    role: KeyRole,
    state: z.enum(KEY_STATES).meta({
      description:
        'Whether the key is valid now: `active`; `rotating`, valid until the overlap with its successor ends; `expired` or `revoked`.',
    }),
    prefix: plainText('How the key begins.', KEY_MAX_LENGTH),
    lastFour: plainText('How the key ends.', 4),
    quotaId: uuid('Identifier of its quota. A key and its successor share one.'),
    plan: planName,
    perMinute: inForce('Requests per UTC minute, in force; null where SQL has left the quota without.'),
    perDay: inForce('Requests per UTC day, in force; null where SQL has left the quota without.'),
    ownLimits: z
      .boolean()
      .meta({ description: "Whether these numbers are the quota's own, not the plan's." }),
    bannedUntil: dateTime('Until when the quota is banned; null when it is not.').nullable(),
    createdAt: dateTime('When the key was issued.'),
    expiresAt: dateTime('When the key expires; null for never.').nullable(),
    revokedAt: dateTime('When the key was revoked; null when it was not.').nullable(),
    predecessorId: uuid('The key that this one succeeds, if any.').nullable(),
    successorId: uuid('The key that succeeds this one, if any.').nullable(),
  })
  .meta({ id: 'Key', description: 'An API key, without the key itself.' });
export type Key = z.infer<typeof Key>;

/** A key as it is shown when it is issued, this once. */
export const IssuedKey = z
  .object({ ...Key.shape, key: plainText('The key. It is not shown again.', KEY_MAX_LENGTH) })
  .meta({ id: 'IssuedKey', description: 'A new API key.' });
export type IssuedKey = z.infer<typeof IssuedKey>;

export const keySearch = z
  .string(once(SEARCH_FAULT))
  .refine((text) => text !== '' && Array.from(text).length <= SEARCH_MAX_LENGTH, SEARCH_FAULT)
  .refine(isPlainText, TEXT_FAULT)
  .meta({
    description: 'Only keys whose name has this text, in any case, or whose id or key ends with it.',
    minLength: 1,
    maxLength: SEARCH_MAX_LENGTH,
  });

export const KeyQuery = z.object({
  limit: limitParameter('Maximum number of keys returned.'),
  plan: z
    .string(once(PLAN_FAULT))
    .refine(isPlanName, PLAN_FAULT)
    .optional()
    .meta({ description: 'Only keys on this plan.', maxLength: PLAN_NAME_MAX_LENGTH }),
  search: keySearch.optional(),
  state: z.enum(KEY_STATES, once(STATE_FAULT)).optional().meta({ description: 'Only keys in this state.' }),
  banned: sentAs(
    z.boolean(),
    z
      .enum(['true', 'false'], once('must be true or false'))
      .transform((value) => value === 'true')
      .optional()
      .meta({ description: 'Only keys whose quota is banned now, or only those whose is not.' }),
  ),
  /** The id after which the page begins. */
  cursor: cursorParameter((position) => (isKeyId(position) ? position : null)),
});
export type KeyQuery = z.infer<typeof KeyQuery>;

/** Whether a text can be the id of a key: a UUID. */
export function isKeyId(value: string): boolean {
  return UUID.test(value);
}

/** Whether a text has no control characters, and none that turn the order of what is read. */
function isPlainText(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text) && !BIDI_CONTROL.test(text);
}
