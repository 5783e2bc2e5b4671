import type { FastifyRequest } from 'fastify';

/** The roles of keys. */
export const KEY_ROLES = ['client', 'admin'] as const;
/** Which keys may call a path: those of clients, or of administrators. */
export type KeyRole = (typeof KEY_ROLES)[number];

declare module 'fastify' {
  interface FastifyRequest {
    /** The role that the path requires of a key, with a route or without; null for a public path. */
    requiredRole: KeyRole | null;
  }
  interface FastifyContextConfig {
    /** Whether the route serves all paths that have no other route. */
    isFallback?: boolean;
  }
}

/** The paths that need a key, and are counted. */
const CLIENT_PATH = /^\/v1(\/|$)/;
const ADMIN_PATH = /^\/admin(\/|$)/;
/** The name of every request without an operation, because its path may be anything. */
const NO_OPERATION = 'none';
/** The methods that OpenTelemetry's conventions for HTTP know. */
const KNOWN_METHODS = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '));

/** Returns the path of a request target, whose absolute form starts with a host (RFC 9112, section 3.2.2). */
export function targetPath(target: string): string {
  const withoutHost = target.replace(/^https?:\/\/[^/?]*/i, '');
  return withoutHost.split(/[?#]/, 1)[0] || '/';
}

/** Matches a target that Fastify's router or NestJS may reject before the guards run. */
const UNROUTABLE = /^[^/]|%|\/(?=[/?#]|$)/;

/**
 * Returns the path and query of a request target in a form that always has a route, because guards protect
 * routes only. A path segment that cannot be decoded is escaped, so `/v1/pets/%zz` is the path of an animal
 * named `%zz`. If the path needs a key, the slash before its first empty segment is doubled, so `/v1/pets/`
 * is not the path of an animal without a name.
 */
export function routableTarget(target: string): string {
  if (!UNROUTABLE.test(target)) {
    return target;
  }
  const query = /\?.*/s.exec(target)?.[0] ?? '';
  const path = targetPath(target).split('/').map(decodable).join('/');
  const isPublic = roleForPath(decodeURI(path)) === null;
  return (isPublic ? path : path.replace(/\/(?=\/|$)/, '//')) + query;
}

function decodable(segment: string): string {
  try {
    decodeURI(segment);
    return segment;
  } catch {
    return segment.replaceAll('%', '%25');
  }
}

/** Returns the role that a path requires of a key; null for a public path. */
export function roleForPath(path: string): KeyRole | null {
  if (CLIENT_PATH.test(path)) {
    return 'client';
  }
  return ADMIN_PATH.test(path) ? 'admin' : null;
}

/** Returns the role that a request requires, by the path of its route. */
export function findRequiredRole({ routeOptions }: FastifyRequest): KeyRole | null {
  return roleForPath(routeOptions.url ?? '');
}

/** Returns the name that the OpenAPI document has for the operation of a request, or `none`. */
export function operationName({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): string {
  return routeOptions.config.operation ?? NO_OPERATION;
}

/** Returns a method that OpenTelemetry's conventions know, or `_OTHER`. */
export function knownMethod(method: string): string {
  return KNOWN_METHODS.has(method) ? method : '_OTHER';
}

/** Returns the scheme of a request, whatever text a proxy's header has for it. */
export function urlScheme(protocol: string): 'http' | 'https' {
  return protocol === 'https' ? 'https' : 'http';
}

/** Returns the path of a request's route; empty if only the fallback route matches. */
export function routePath({ url = '', config }: FastifyRequest['routeOptions']): string {
  return config.isFallback === true ? '' : url;
}

/** Returns the path of a route in the form of the OpenAPI document, such as `/v1/pets/{petId}`. */
export function routeTemplate(url: string): string {
  return url.replaceAll(/:(\w+)/g, '{$1}');
}
