import type { Middleware } from 'openapi-fetch';
import { AnimalStoreError } from './error.js';
import { linkTarget } from './link-header.js';

/** The operations that were warned of, by whatever client of this process. */
const warned = new Set<string>();

/** Warns of each deprecated operation that is called, once, by what the service says on its responses. */
export function deprecationWarning(warn: (message: string) => void): Middleware {
  const hear = (operation: string, headers: Headers) => {
    if (headers.has('Deprecation') && !warned.has(operation)) {
      warned.add(operation);
      warn(warningOf(operation, headers));
    }
  };
  return {
    onResponse: ({ request, schemaPath, response }) =>
      hear(`${request.method} ${schemaPath}`, response.headers),
    onError: ({ request, schemaPath, error }) => {
      if (error instanceof AnimalStoreError) {
        hear(`${request.method} ${schemaPath}`, error.headers);
      }
    },
  };
}

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the link to the successor, in words. */
function warningOf(operation: string, headers: Headers): string {
  const [, sinceSeconds] = /^@(-?\d+)/.exec(headers.get('Deprecation') ?? '') ?? [];
  const since = dateOf(Number(sinceSeconds) * 1000);
  const sunset = dateOf(Date.parse(headers.get('Sunset') ?? ''));
  const successor = linkTarget(headers.get('Link'), 'successor-version');
  return [
    `Animal Store: ${operation} is deprecated${since && ` since ${since}`}${sunset && ` and removed on ${sunset}`}.`,
    successor && `Use ${successor} instead.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function dateOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10);
}
