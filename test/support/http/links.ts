import type { HttpResponse } from './http.js';

/**
 * Returns the targets of a `Link` header by their relation (RFC 8288).
 *
 * @throws Error if it is not in the service's form.
 */
export function parseLinks({ headers }: Pick<HttpResponse, 'headers'>): Record<string, string> {
  const links: Record<string, string> = {};
  for (const link of (headers.get('link') ?? '').split(', ')) {
    const { target, relation } = /^<(?<target>[^<>]+)>; rel="(?<relation>[a-z]+)"$/.exec(link)?.groups ?? {};
    if (target === undefined || relation === undefined || relation in links) {
      throw new Error(`Not a link of a list: ${link}`);
    }
    links[relation] = target;
  }
  return links;
}
