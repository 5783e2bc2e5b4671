import { expectRateLimitHeaders } from './expectations.js';
import type { HttpResponse } from './http.js';
import { parseLinks } from './links.js';

const MOST_PAGES = 300;

/** Follows `rel="next"` to the end, and returns the elements of each page; `between` runs after each page. */
export async function readPages<Element>(
  get: (target: string) => Promise<HttpResponse>,
  first: string,
  between: () => Promise<unknown> = async () => {},
): Promise<Element[][]> {
  const pages: Element[][] = [];
  for (let target: string | undefined = first; target !== undefined;) {
    const response = await get(target);
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
    pages.push(response.json);
    expect(pages.length).toBeLessThanOrEqual(MOST_PAGES);
    target = parseLinks(response)['next'];
    await between();
  }
  return pages;
}
