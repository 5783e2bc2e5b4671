import type { FastifyReply } from 'fastify';
import { pageLinks } from '../../schemas/pagination.js';

interface ReadPage<Entry, Last> {
  entries: Entry[];
  last: Last | null;
  total?: number;
}

/** The `Link` headers of pages, because requests of the same parameters may share one. */
const links = new WeakMap<object, string>();

/**
 * Returns the entries of a page, and sets `Link`, and `X-Total-Count` if the entries of all were counted.
 *
 * @param query the query parameters of every page of this list.
 * @param position returns the position after which the next page begins.
 */
export async function respondWithPage<Entry, Last>(
  reply: FastifyReply,
  page: ReadPage<Entry, Last> | Promise<ReadPage<Entry, Last>>,
  path: string,
  query: object,
  position: (last: Last) => string,
): Promise<Entry[]> {
  const found = await page;
  const { entries, last, total } = found;
  const link = links.get(found) ?? pageLinks(path, query, last && position(last));
  links.set(found, link);
  reply.header('Link', link);
  if (total !== undefined) {
    reply.header('X-Total-Count', total);
  }
  return entries;
}
