import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route serves all paths that have no other route. */
    isFallback?: boolean;
  }
}

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
 * routes only. A path segment that cannot be decoded is escaped, so `%zz` is an id. If the path needs a key,
 * the slash before its first empty segment is doubled, so `/v1/pets/` is not the path of an empty id.
 */
export function routableTarget(target: string, isPublic: (path: string) => boolean): string {
  if (!UNROUTABLE.test(target)) {
    return target;
  }
  const query = /\?.*/s.exec(target)?.[0] ?? '';
  const path = targetPath(target).split('/').map(decodable).join('/');
  return (isPublic(decodeURI(path)) ? path : path.replace(/\/(?=\/|$)/, '//')) + query;
}

function decodable(segment: string): string {
  try {
    decodeURI(segment);
    return segment;
  } catch {
    return segment.replaceAll('%', '%25');
  }
}

/** Returns the `operationId` of a request, or `none`. */
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
