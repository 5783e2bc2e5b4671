import type { FastifyRequest } from 'fastify';

const PROTECTED = /^\/(v1|admin)(\/|$)/;
const ADMINISTRATIVE = /^\/admin(\/|$)/;
/** The name of every request without an operation, since its path may be anything. */
const NO_OPERATION = 'none';

/** Returns the path of a request target, whose absolute form starts with a host (RFC 9112, section 3.2.2). */
export function targetPath(target: string): string {
  const withoutHost = target.replace(/^https?:\/\/[^/?]*/i, '');
  return withoutHost.split(/[?#]/, 1)[0] || '/';
}

/**
 * Returns the path and query of a request target, in a form that the router never refuses: a path segment that cannot be
 * decoded is escaped, so `/v1/pets/%zz` is the path of an animal named `%zz`.
 */
export function routableTarget(target: string): string {
  if (target.startsWith('/') && !target.includes('%')) {
    return target;
  }
  const query = /\?.*/s.exec(target)?.[0] ?? '';
  return targetPath(target).split('/').map(decodable).join('/') + query;
}

function decodable(segment: string): string {
  try {
    decodeURI(segment);
    return segment;
  } catch {
    return segment.replaceAll('%', '%25');
  }
}

/** Returns whether a request needs an API key and is counted, also where it has no route. */
export function isProtected(request: FastifyRequest): boolean {
  return PROTECTED.test(pathOf(request));
}

/** Returns whether a request needs an administrator's key, also where it has no route. */
export function isAdministrative(request: FastifyRequest): boolean {
  return ADMINISTRATIVE.test(pathOf(request));
}

/** Returns the route's path, or the decoded path of a request without a route. */
function pathOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.url ?? decodeURI(targetPath(url));
}

/** Returns the name that the OpenAPI document has for the operation of a request, or `none`. */
export function operationOf({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): string {
  return routeOptions.config.operation ?? NO_OPERATION;
}
