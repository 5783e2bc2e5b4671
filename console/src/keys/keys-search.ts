import type { ListKeysQuery } from 'animal-store-client';
import { oneOf, planName, searchReader, textUpTo, uuid } from '../address/search-reader';
import { withPage } from '../table/use-address-position';

export const STATES = ['active', 'rotating', 'suspended', 'expired', 'revoked'] as const;

/** The orders of the service, and how the page calls them. The first is the default. */
export const SORTS = [
  { value: 'state', label: 'Valid first' },
  { value: '-createdAt', label: 'Newest first' },
  { value: 'createdAt', label: 'Oldest first' },
  { value: 'name', label: 'By name' },
  { value: '-lastUsedAt', label: 'Last used first' },
  { value: 'expiresAt', label: 'Expiring first' },
] as const;

/** What needs an administrator's attention, each a filter that can be on. */
export const FLAGS = [
  { name: 'banned', label: 'Banned' },
  { name: 'expiring', label: 'Expires within 30 days' },
  { name: 'unused', label: 'Not used for 30 days' },
] as const;

/** How many keys a page has. The first is the default. */
export const PAGE_SIZES = ['20', '50', '100'] as const;

const DAYS_30_MS = 30 * 86_400_000;
/** The maximum length that the service accepts. */
export const SEARCH_MAX_LENGTH = 64;
export const EXTERNAL_ID_MAX_LENGTH = 255;

const yes = oneOf(['yes']);
const readFilters = searchReader({
  search: textUpTo(SEARCH_MAX_LENGTH),
  plan: planName,
  quotaId: uuid,
  externalId: textUpTo(EXTERNAL_ID_MAX_LENGTH),
  state: oneOf(STATES),
  banned: yes,
  expiring: yes,
  unused: yes,
  sort: oneOf(SORTS.map(({ value }) => value)),
  limit: oneOf(PAGE_SIZES.slice(1)),
});

/** The filters, the sort order, the length of pages and the page of the list of keys. */
export const keysSearch = withPage(readFilters);
type KeysSearch = ReturnType<typeof keysSearch>;

/** Returns the change of an address to the first page of a list with other filters, order or length. */
export const toFirstPage =
  (changes: Record<string, string | undefined>) =>
  ({ cursor: _cursor, page: _page, ...now }: KeysSearch): KeysSearch =>
    keysSearch({ ...now, ...changes });

/** Returns whether a list is filtered. */
export function isFiltered(search: KeysSearch): boolean {
  const { sort: _sort, limit: _limit, cursor: _cursor, page: _page, ...filters } = search;
  return Object.keys(filters).length > 0;
}

/** Returns the query of the service for a list. */
export function toKeyQuery(search: KeysSearch, nowMs: number): ListKeysQuery {
  const { search: text, plan, quotaId, externalId, state, banned, expiring, unused } = search;
  const { sort = SORTS[0].value, limit = PAGE_SIZES[0] } = search;
  return {
    sort,
    limit: Number(limit),
    ...(text !== undefined && { search: text }),
    ...(plan !== undefined && { plan }),
    ...(quotaId !== undefined && { quotaId }),
    ...(externalId !== undefined && { externalId }),
    ...(state !== undefined && { state }),
    ...(banned !== undefined && { banned: true }),
    ...(expiring !== undefined && { expiresBefore: new Date(nowMs + DAYS_30_MS).toISOString() }),
    ...(unused !== undefined && { unusedSince: new Date(nowMs - DAYS_30_MS).toISOString() }),
  };
}
