import { z } from 'zod';
import { instant, instantParameter } from '../schemas/instant.js';
import { cursorParameter, enumParameter, limitParameter, once, parameter } from '../schemas/pagination.js';
import { lineParameter } from '../schemas/text-schemas.js';
import { isUuid, uuidParameter } from '../schemas/uuid.js';
import { externalIdParameter, planParameter } from '../usage/usage.schemas.js';
import { KEY_STATES } from './key.schemas.js';

/** The maximum number of characters of a search. The `Link` header of a page has them twice, encoded. */
const SEARCH_MAX_LENGTH = 64;
/** The length of a cursor with the longest name. */
const CURSOR_MAX_LENGTH = 1536;
export const SORT_DEFAULT = 'createdAt';
export const KEY_SORTS = [SORT_DEFAULT, '-createdAt', 'name', '-lastUsedAt', 'expiresAt', 'state'] as const;
export type KeySort = (typeof KEY_SORTS)[number];
const SEPARATOR = '|';

export interface KeyPosition {
  sort: KeySort;
  id: string;
  /**
   * The name, the instant or the liveness by which the key is sorted; null if the key has no such instant, or
   * is sorted by its `id` alone.
   */
  value: string | null;
}

/**
 * The instant by which a key is sorted, in UTC, because PostgreSQL rejects an offset of 16 hours; empty if
 * the key has no such instant.
 */
const sortedInstant = z.literal('').or(instant.transform((value) => value.toISOString()));

/** The values of a cursor's text, which a client may have forged. */
const SORTED_VALUES: Record<KeySort, z.ZodType<string>> = {
  createdAt: z.literal(''),
  '-createdAt': z.literal(''),
  name: z.string().refine((name) => !name.includes('\0')),
  '-lastUsedAt': sortedInstant,
  expiresAt: sortedInstant,
  state: parameter(readLiveness, 'must say whether the key was live'),
};

/** Reads whether the key was live when the walk over the pages began, and when that was: `true@INSTANT`. */
function readLiveness(text: string): string | null {
  const [wasLive = '', ...began] = text.split('@');
  const { success, data } = instant.safeParse(began.join('@'));
  return success && ['true', 'false'].includes(wasLive) ? `${wasLive}@${data.toISOString()}` : null;
}

export function keyPositionText({ sort, id, value }: KeyPosition): string {
  return [sort, id, value ?? ''].join(SEPARATOR);
}

function readKeyPosition(text: string): KeyPosition | null {
  const [given, id = '', ...values] = text.split(SEPARATOR);
  const sort = KEY_SORTS.find((each) => each === given);
  if (sort === undefined || !isUuid(id)) {
    return null;
  }
  const { success, data } = SORTED_VALUES[sort].safeParse(values.join(SEPARATOR));
  return success ? { sort, id, value: data === '' ? null : data } : null;
}

export const keySearch = lineParameter(
  'Only keys whose name, note or external id contains this text, or whose id or key ends with it, in any ' +
    'case and Unicode normal form.',
  SEARCH_MAX_LENGTH,
);

export const KeyQuery = z
  .object({
    limit: limitParameter('Maximum number of keys returned.'),
    plan: planParameter('Only keys on this plan.'),
    quotaId: uuidParameter('Only keys of this quota.'),
    externalId: externalIdParameter('Only keys whose quota has exactly this external id.'),
    search: keySearch.optional(),
    state: enumParameter(KEY_STATES, 'Only keys in this state.'),
    banned: z
      .enum(['true', 'false'], once('must be true or false'))
      .transform((value) => value === 'true')
      .pipe(z.boolean())
      .optional()
      .meta({ description: 'Only keys whose quota is banned now (`true`) or is not (`false`).' }),
    expiresBefore: instantParameter('Only keys that are valid now and expire before this time.'),
    unusedSince: instantParameter(
      'Only valid keys that were issued before this time and have sent no request since. ' +
        'Requests are kept for 400 days.',
    ),
    sort: enumParameter(
      KEY_SORTS,
      'The order: `createdAt` is oldest first, `-createdAt` newest first, `name` by name, `-lastUsedAt` ' +
        'by the last request, most recent first, and `expiresAt` soonest first. Keys that were never used, ' +
        'or never expire, are last. `state` has the keys that are valid or suspended when the first page ' +
        'is read before the others, each newest first.',
    ).meta({ default: SORT_DEFAULT }),
    cursor: cursorParameter(readKeyPosition, CURSOR_MAX_LENGTH),
  })
  .superRefine(({ sort = SORT_DEFAULT, cursor }, context) => {
    if (cursor !== undefined && cursor.sort !== sort) {
      const message = `belongs to the sort order ${cursor.sort}: follow the Link header of the previous page`;
      context.addIssue({ code: 'custom', path: ['cursor'], message });
    }
  });
export type KeyQuery = z.infer<typeof KeyQuery>;
