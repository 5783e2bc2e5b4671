import type { Middleware } from 'openapi-fetch';
import { AnimalStoreError } from './error.js';
import type { ClientDeprecationEvent } from './hooks.js';
import { linkTargets } from './link-header.js';

/** The operations that a client of this process has warned of. */
const warned = new Set<string>();

/** Warns once of each deprecated operation that is called, as the headers of its responses declare it. */
export function deprecationWarning(onDeprecation: (event: ClientDeprecationEvent) => void): Middleware {
  const warnOnce = (operation: string, headers: Headers) => {
    if (headers.has('Deprecation') && !warned.has(operation)) {
      warned.add(operation);
      onDeprecation(readDeprecation(operation, headers));
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

/** Reads `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the links to the successors. */
function readDeprecation(operation: string, headers: Headers): ClientDeprecationEvent {
  const [, sinceSeconds] = /^@(-?\d+)/.exec(headers.get('Deprecation') ?? '') ?? [];
  const facts = {
    operation,
    deprecatedAt: validDate(Number(sinceSeconds) * 1000),
    sunsetAt: validDate(Date.parse(headers.get('Sunset') ?? '')),
    successors: linkTargets(headers.get('Link'), 'successor-version'),
  };
  return { ...facts, message: describeDeprecation(facts) };
}

function describeDeprecation({
  operation,
  deprecatedAt,
  sunsetAt,
  successors,
}: Omit<ClientDeprecationEvent, 'message'>): string {
  const deprecated =
    deprecatedAt === null ? 'is deprecated' : `has been deprecated since ${formatDate(deprecatedAt)}`;
  const removed = sunsetAt !== null && sunsetAt.getTime() <= Date.now() ? 'was' : 'will be';
  const sunset = sunsetAt === null ? '' : ` and ${removed} removed on ${formatDate(sunsetAt)}`;
  // The nearest is the first; the others do less than the operation did.
  const replacement = successors.length === 0 ? '' : ` Use ${successors[0]} instead.`;
  return `Animal Store: ${operation} ${deprecated}${sunset}.${replacement}`;
}

function validDate(ms: number): Date | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : date;
}

const formatDate = (date: Date) => date.toISOString().slice(0, 10);
