import type { Deprecation, Lifecycle } from './lifecycle.js';

/** `X-Stability` of what is not stable, and what tells of a deprecation. */
export function lifecycleHeaders({ stability, deprecation }: Lifecycle): Record<string, string> {
  return {
    ...(stability !== undefined && stability !== 'stable' && { 'X-Stability': stability }),
    ...(deprecation !== undefined && deprecationHeaders(deprecation)),
  };
}

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the links that belong to them. */
export function deprecationHeaders({
  since,
  removal,
  replacement,
  docs,
}: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    Sunset: removal.toUTCString(),
    Link: `<${replacement}>; rel="successor-version", <${docs}>; rel="deprecation"; type="text/html"`,
  };
}
