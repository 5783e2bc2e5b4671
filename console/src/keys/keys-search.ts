import type { KeyQuery } from 'animal-store-client';
import { oneOf, planName, searchReader, textUpTo } from '../address/search-reader';
import { withPage } from '../table/use-address-position';

export const STATES = ['active', 'rotating', 'expired', 'revoked'] as const;

/** The orders of the service, and how the page calls them. The first is the default. */
export const SORTS = [
  { value: '-created', label: 'Newest first' },
  { value: 'created', label: 'Oldest first' },
  { value: 'name', label: 'By name' },
  { value: 'lastUsed', label: 'Last used first' },
  { value: 'expires', label: 'Expiring first' },
] as const;

/** What needs an administrator's attention, each a filter that can be on. */
export const FLAGS = [
  { name: 'banned', label: 'Banned' },
  { name: 'expiring', label: 'Expires within 30 days' },
  { name: 'unused', label: 'Not used for 30 days' },
] as const;

const DAYS_30_MS = 30 * 86_400_000;
/** The maximum length that the service accepts. */
export const SEARCH_MAX_LENGTH = 64;

const yes = oneOf(['yes']);
const readFilters = searchReader({
  search: textUpTo(SEARCH_MAX_LENGTH),
  plan: planName,
  state: oneOf(STATES),
  banned: yes,
  expiring: yes,
  unused: yes,
  sort: oneOf(SORTS.map(({ value }) => value)),
});

/** The filters, the sort order and the page of the list of keys. */
export const keysSearch = withPage(readFilters);
export type KeysSearch = ReturnType<typeof keysSearch>;

/** Returns whether a list is filtered. */
export function isFiltered({ sort: _sort, cursor: _cursor, page: _page, ...filters }: KeysSearch): boolean {
  return Object.keys(filters).length > 0;
}

/** Returns the query of the service for a list. */
export function toKeyQuery(search: KeysSearch, nowMs: number): KeyQuery {
  const { search: text, plan, state, banned, expiring, unused, sort = SORTS[0].value } = search;
  return {
    sort,
    ...(text !== undefined && { search: text }),
    ...(plan !== undefined && { plan }),
    ...(state !== undefined && { state }),
    ...(banned !== undefined && { banned: true }),
    ...(expiring !== undefined && { expiresBefore: new Date(nowMs + DAYS_30_MS).toISOString() }),
    ...(unused !== undefined && { unusedSince: new Date(nowMs - DAYS_30_MS).toISOString() }),
  };
}
