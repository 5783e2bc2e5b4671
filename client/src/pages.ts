import { linkTarget } from './link-header.js';

/** The `limit` of an iteration without one: the largest page takes the fewest requests. */
export const LARGEST_PAGE = 100;

/** Selects a page of a list. */
export interface PageQuery {
  limit?: number;
  cursor?: string;
}

/** One page of a list. */
export interface ResultPage<Item> {
  items: Item[];
  /** The `cursor` of the page after this one, or null if this is the last. */
  nextCursor: string | null;
  /** The number of items on all pages, if the list reports it. */
  total?: number;
  /** The number of further items that the service did not keep, if the list reports it. */
  missing?: number;
}

/** Returns what the headers of a page say of its list. */
export function readPaging(headers: Headers): Omit<ResultPage<never>, 'items'> {
  const total = headers.get('X-Total-Count');
  const missing = headers.get('X-Missing-Count');
  return {
    nextCursor: nextCursor(headers),
    ...(total !== null && { total: Number(total) }),
    ...(missing !== null && { missing: Number(missing) }),
  };
}

/** Returns the cursor of the next page, as the `Link` header of this one gives it. */
function nextCursor(headers: Headers): string | null {
  const next = linkTarget(headers.get('Link'), 'next');
  // The target may be relative; only its query matters.
  return next === null ? null : new URL(next, 'http://relative').searchParams.get('cursor');
}

/**
 * Yields the items of all pages. Requests a page once all items before it are consumed.
 *
 * @param list requests the first page, or the one that a cursor names.
 */
export async function* everyItem<Item>(
  list: (from: { cursor?: string }) => Promise<ResultPage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let page = await list({});
  yield* page.items;
  while (page.nextCursor !== null) {
    page = await list({ cursor: page.nextCursor });
    yield* page.items;
  }
}
