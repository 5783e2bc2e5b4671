import type { KeyQuery } from 'animal-store-client';
import { pageSearch, type PageSearch } from '../table/use-address-position';

export const STATES = ['active', 'rotating', 'expired', 'revoked'] as const;
export type KeyState = (typeof STATES)[number];

/** The orders of the service, and how the page calls them. The first is the default. */
export const SORTS = [
  { value: '-created', label: 'Newest first' },
  { value: 'created', label: 'Oldest first' },
  { value: 'name', label: 'By name' },
  { value: 'lastUsed', label: 'Last used first' },
  { value: 'expires', label: 'Expiring first' },
] as const;
export type KeySort = (typeof SORTS)[number]['value'];

/** What needs an administrator's attention, each a filter that can be on. */
export const FLAGS = [
  { name: 'banned', label: 'Banned' },
  { name: 'expiring', label: 'Expires within 30 days' },
  { name: 'unused', label: 'Not used for 30 days' },
] as const;
export type KeyFlag = (typeof FLAGS)[number]['name'];

/** The filters, the order and the page of the list of keys, as the address has them. */
export interface KeysSearch extends PageSearch, Partial<Record<KeyFlag, 'yes'>> {
  search?: string;
  plan?: string;
  state?: KeyState;
  sort?: KeySort;
}

const DAYS_30_MS = 30 * 86_400_000;
/** The longest that the service takes. */
export const SEARCH_MAX_LENGTH = 64;

/** Returns what an address says, without what the page does not have. */
export function keysSearch(search: Record<string, unknown>): KeysSearch {
  const state = STATES.find((each) => each === search['state']);
  const sort = SORTS.find(({ value }) => value === search['sort'])?.value;
  const flags = FLAGS.filter(({ name }) => search[name] === 'yes').map(({ name }) => [name, 'yes']);
  return {
    ...textOf('search', search),
    ...textOf('plan', search),
    ...(state && { state }),
    ...(Object.fromEntries(flags) as Partial<Record<KeyFlag, 'yes'>>),
    ...(sort && { sort }),
    ...pageSearch(search),
  };
}

/** Returns whether a list is filtered. */
export function isFiltered({ sort: _sort, cursor: _cursor, page: _page, ...filters }: KeysSearch): boolean {
  return Object.keys(filters).length > 0;
}

/** Returns the query of the service for a list. */
export function keyQueryOf(search: KeysSearch, nowMs: number): KeyQuery {
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

function textOf<Name extends string>(
  name: Name,
  search: Record<string, unknown>,
): { [Key in Name]?: string } {
  const value = search[name];
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as { [Key in Name]?: string }) : {};
}
