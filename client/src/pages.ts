import { linkTarget } from './link-header.js';

/** One page of a list. */
export interface Page<Item> {
  items: Item[];
  /** The `cursor` of the page after this one, or null where this is the last. */
  nextCursor: string | null;
}

/** The cursor of the next page, as the `Link` header of this one gives it. */
export function nextCursor(headers: Headers): string | null {
  const next = linkTarget(headers.get('Link'), 'next');
  // The target may be relative; of what, does not matter here.
  return next === null ? null : new URL(next, 'http://relative').searchParams.get('cursor');
}

/**
 * Everything on all pages. The next page is asked for when all of this one has been taken.
 *
 * @param list asks for the first page, or for the one that a cursor names.
 */
export async function* everyItem<Item>(
  list: (from: { cursor?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let page = await list({});
  yield* page.items;
  while (page.nextCursor !== null) {
    page = await list({ cursor: page.nextCursor });
    yield* page.items;
  }
}
