import { z } from 'zod';
import { PLAN_NAME_MAX_LENGTH } from '../../rate-limit/rules/plan-name.js';
import { IssuedKey, overlapSeconds, shownRole } from '../key.schemas.js';
import { CURSOR_MESSAGE, enumParameter, limitParameter } from '../../schemas/pagination.js';
import { instant } from '../../schemas/instant.js';
import { openEnum } from '../../schemas/open-enum.js';
import { limitsSource } from '../quota.schemas.js';
import { shownRestrictions } from '../restrictions.js';
import {
  BODY_MESSAGE,
  dateTime,
  keyHints,
  KEY_NAME_MAX_LENGTH,
  plainText,
  uuid,
} from '../../schemas/text-schemas.js';
import { DeprecatedCaller, positionCursor, positionParts, range } from '../../usage/usage.schemas.js';

const PATH_MAX_LENGTH = 1024;
const SUCCESSORS_MAX = 100;

const successor = {
  ...keyHints,
  createdAt: dateTime('When the successor was issued.'),
  expiresAt: dateTime('When the successor expires; null if it never does.').nullable(),
};

export const CurrentKey = z
  .object({
    id: uuid('Identifier of the key.'),
    name: plainText('Name of the key.', KEY_NAME_MAX_LENGTH),
    role: shownRole,
    ...shownRestrictions,
    state: openEnum(['active', 'rotating']).meta({
      description: 'State of the key now. A `rotating` key has a successor, and is valid until it expires.',
    }),
    ...keyHints,
    plan: plainText('The plan that the quota of the key is on.', PLAN_NAME_MAX_LENGTH),
    perMinute: z.int().min(1).meta({ description: 'Effective limit of requests per UTC minute.' }),
    perDay: z.int().min(1).meta({ description: 'Effective limit of requests per UTC day.' }),
    limitsSource,
    createdAt: dateTime('When the key was issued.'),
    expiresAt: dateTime('When the key expires; null if it never does.').nullable(),
    successor: z
      .object({
        ...successor,
        revokedAt: dateTime('When the successor was revoked; null if it was not.').nullable(),
      })
      .nullable()
      .meta({ description: 'The key that replaces this one; null if there is none.' }),
  })
  .meta({
    id: 'CurrentKey',
    description: 'The API key of the request, without the key itself.',
    examples: [
      {
        id: '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11',
        name: "Ann's shop",
        role: 'client',
        scopes: ['pets:read', 'orders:read'],
        allowedNetworks: null,
        state: 'rotating',
        prefix: 'ask_live_4fTq',
        lastFour: 'x7Ab',
        plan: 'pro',
        perMinute: 300,
        perDay: 10_000,
        limitsSource: 'plan',
        createdAt: '2026-11-21T08:30:00.000Z',
        expiresAt: '2026-12-02T08:30:00.000Z',
        successor: {
          prefix: 'ask_live_9mZc',
          lastFour: 'q0Lw',
          createdAt: '2026-12-01T08:30:00.000Z',
          expiresAt: null,
          revokedAt: null,
        },
      },
    ],
  });
export type CurrentKey = z.infer<typeof CurrentKey>;

/** A thief who rotates the key cannot lock its holder out unnoticed, as `leaked` does at once. */
const OVERLAP_MIN_SECONDS = 3600;

export const RotateCurrentKeyInput = z
  .object(
    {
      overlapSeconds: overlapSeconds(OVERLAP_MIN_SECONDS, 'It is at least an hour.'),
      leaked: z
        .boolean('must be true or false')
        .optional()
        .meta({
          description:
            'Whether the key leaked. It is then revoked at once, without an overlap, and so are its ' +
            'successors, and the keys that were issued by any of them.',
        }),
    },
    BODY_MESSAGE,
  )
  .refine(({ overlapSeconds: overlap, leaked }) => leaked !== true || overlap === undefined, {
    path: ['overlapSeconds'],
    error: 'must not be given for a leaked key, which ends at once',
  })
  .meta({
    id: 'CurrentKeyRotation',
    description: 'Options for the rotation of your key.',
    examples: [{ overlapSeconds: 3600 }],
  });
export type RotateCurrentKeyInput = z.infer<typeof RotateCurrentKeyInput>;

export const CurrentKeySuccessor = IssuedKey.pick({ id: true, key: true })
  .extend({ ...successor, overlapEndsAt: dateTime('Until then the key of the request works, too.') })
  .meta({ id: 'CurrentKeySuccessor', description: 'The key that replaces the key of the request.' });
export type CurrentKeySuccessor = z.infer<typeof CurrentKeySuccessor>;

const { keyId, operation, deprecated } = positionParts;
export const usageCursor = positionCursor(
  { startsAt: instant },
  { startsAt: instant, operation, deprecated },
  { startsAt: instant, keyId },
);

const splitOf = (position: object) =>
  'keyId' in position ? 'key' : 'operation' in position ? 'operation' : undefined;

export const UsageQuery = z
  .object({
    limit: limitParameter('Maximum number of entries returned.'),
    ...range,
    by: enumParameter(['operation', 'key'], 'Splits each period by operation, or by key of your quota.'),
    cursor: usageCursor.parameter,
  })
  .refine(({ by, cursor }) => cursor === undefined || splitOf(cursor) === by, {
    path: ['cursor'],
    error: CURSOR_MESSAGE,
  });
export type UsageQuery = z.infer<typeof UsageQuery>;

/** An operation as other lists have it, whose cursors differ from those of names. */
export const deprecatedCallsCursor = positionCursor({ operation, deprecated: z.literal('true') });

export const DeprecatedCallsQuery = z.object({
  limit: limitParameter('Maximum number of operations returned.'),
  cursor: deprecatedCallsCursor.parameter,
});
export type DeprecatedCallsQuery = z.infer<typeof DeprecatedCallsQuery>;

export const DeprecatedCalls = z
  .object({
    operation: DeprecatedCaller.shape.operation,
    method: plainText('Its method.', 16),
    path: plainText('Its path.', PATH_MAX_LENGTH),
    deprecatedAt: dateTime('When it was deprecated.'),
    sunsetAt: dateTime('From this time, it returns 410.'),
    successors: z.string().max(PATH_MAX_LENGTH).array().max(SUCCESSORS_MAX).meta({
      description: 'Path and query of each operation to call instead, by the same method, the nearest first.',
    }),
    requests: DeprecatedCaller.shape.requests,
    lastCalledAt: DeprecatedCaller.shape.lastCalledAt,
  })
  .meta({
    id: 'DeprecatedCalls',
    description: 'A deprecated operation that keys of your quota have called.',
    examples: [
      {
        operation: 'getPet',
        method: 'GET',
        path: '/v1/pets/{petId}',
        deprecatedAt: '2025-12-05T00:00:00.000Z',
        sunsetAt: '2030-12-05T00:00:00.000Z',
        successors: ['/v1/pets?id={petId}', '/v1/pets?status=available'],
        requests: 12,
        lastCalledAt: '2026-11-21T08:30:00.000Z',
      },
    ],
  });
export type DeprecatedCalls = z.infer<typeof DeprecatedCalls>;
