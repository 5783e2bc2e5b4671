import type { Middleware } from 'openapi-fetch';
import { AnimalStoreError } from './error.js';
import { linkTarget } from './link-header.js';

/** The operations that a client of this process has warned of. */
const warned = new Set<string>();

/** Warns once of each deprecated operation that is called, as the headers of its responses declare it. */
export function deprecationWarning(warn: (message: string) => void): Middleware {
  const warnOnce = (operation: string, headers: Headers) => {
    if (headers.has('Deprecation') && !warned.has(operation)) {
      warned.add(operation);
      warn(describeDeprecation(operation, headers));
    }
  };
  return {
    onResponse: ({ request, schemaPath, response }) =>
      warnOnce(`${request.method} ${schemaPath}`, response.headers),
    onError: ({ request, schemaPath, error }) => {
      if (error instanceof AnimalStoreError) {
        warnOnce(`${request.method} ${schemaPath}`, error.headers);
      }
    },
  };
}

/** Describes `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the link to the successor. */
function describeDeprecation(operation: string, headers: Headers): string {
  const [, sinceSeconds] = /^@(-?\d+)/.exec(headers.get('Deprecation') ?? '') ?? [];
  const since = formatDate(Number(sinceSeconds) * 1000);
  const sunset = formatDate(Date.parse(headers.get('Sunset') ?? ''));
  const successor = linkTarget(headers.get('Link'), 'successor-version');
  return [
    `Animal Store: ${operation} is ` +
      `deprecated${since && ` since ${since}`}${sunset && ` and removed on ${sunset}`}.`,
    successor && `Use ${successor} instead.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function formatDate(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10);
}
