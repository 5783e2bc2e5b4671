import { encodeCursor } from './cursor.js';

/**
 * The `Link` header of a page (RFC 8288): where the list begins, and where it goes on.
 *
 * @param path of the list.
 * @param filters query parameters that every page of this list has.
 * @param lastId identifier of the page's last entry, or null when nothing follows.
 */
export function pageLinks(path: string, filters: Record<string, string>, lastId: bigint | null): string {
  const first = `<${path}?${new URLSearchParams(filters).toString()}>; rel="first"`;
  if (lastId === null) {
    return first;
  }
  const next = new URLSearchParams({ ...filters, cursor: encodeCursor(lastId) });
  return `<${path}?${next.toString()}>; rel="next", ${first}`;
}
