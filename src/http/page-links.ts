import { encodeCursor } from './cursor.js';

/**
 * The `Link` header of a page (RFC 8288): where the list begins, and where it goes on.
 *
 * @param path of the list.
 * @param filters query parameters that every page of this list has; one not given is left out.
 * @param lastPosition position of the page's last entry, or null when nothing follows.
 */
export function pageLinks(
  path: string,
  filters: Record<string, string | number | boolean | undefined>,
  lastPosition: string | null,
): string {
  const given = Object.entries(filters).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const first = `<${path}?${new URLSearchParams(given).toString()}>; rel="first"`;
  if (lastPosition === null) {
    return first;
  }
  const next = new URLSearchParams([...given, ['cursor', encodeCursor(lastPosition)]]);
  return `<${path}?${next.toString()}>; rel="next", ${first}`;
}
