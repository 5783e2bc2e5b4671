import type { Deprecation } from './deprecated.decorator.js';

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the links that belong to them. */
export function deprecationHeaders({
  since,
  removal,
  replacement,
  documentation,
}: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    Sunset: removal.toUTCString(),
    Link: `<${replacement}>; rel="successor-version", <${documentation}>; rel="deprecation"; type="text/html"`,
  };
}
