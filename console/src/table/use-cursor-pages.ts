import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ResultPage } from 'animal-store-client';

/** One page of a list at a time, and the way to the next and the previous page. */
export interface CursorPages<Item> {
  query: UseQueryResult<ResultPage<Item>>;
  items: Item[];
  /** The first page has number 1. */
  number: number;
  hasNext: boolean;
  next: () => void;
  previous: () => void;
}

/** The position of a reader in a list. */
export interface PagePosition {
  /** Leads to the pages that the reader went through, the shown one last; it is empty on the first page. */
  cursors: string[];
  /** Is the number of the shown page, from 1. */
  number: number;
}

interface CursorPagesOptions<Item> {
  /** Names the list with its filters; another list starts at its first page. */
  queryKey: readonly unknown[];
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<ResultPage<Item>>;
  /** Returns whether the page is loaded again soon, because an item is about to change. */
  isChanging?: (item: Item) => boolean;
  /** False while the list cannot be named yet. */
  enabled?: boolean;
  /** Keeps the position, as `useAddressPosition` does. A list with one page has none. */
  position?: [PagePosition, (position: PagePosition) => void];
}

const RELOAD_MS = 2000;
const NO_ITEMS: never[] = [];
const FIRST_PAGE: PagePosition = { cursors: [], number: 1 };
const ONE_PAGE: NonNullable<CursorPagesOptions<never>['position']> = [FIRST_PAGE, () => undefined];

/**
 * Loads the pages of a list that leads from page to page by cursors. The shown page stays until the next one
 * is there.
 */
export function useCursorPages<Item>(options: CursorPagesOptions<Item>): CursorPages<Item> {
  const { queryKey, load, isChanging, enabled = true } = options;
  const [{ cursors, number }, setPosition] = options.position ?? ONE_PAGE;
  const cursor = cursors.at(-1);
  const query = useQuery({
    queryKey: [...queryKey, { cursor }],
    queryFn: ({ signal }) => load(cursor, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (isChanging && state.data?.items.some(isChanging) ? RELOAD_MS : false),
    enabled,
  });
  const nextCursor = query.data?.nextCursor ?? null;
  return {
    query,
    items: query.data?.items ?? NO_ITEMS,
    number,
    hasNext: nextCursor !== null,
    next: () => nextCursor !== null && setPosition({ cursors: [...cursors, nextCursor], number: number + 1 }),
    // A reader who came by a link to a later page has not been through the pages before it.
    previous: () =>
      setPosition(cursors.length > 1 ? { cursors: cursors.slice(0, -1), number: number - 1 } : FIRST_PAGE),
  };
}
