import type { FastifyRequest } from 'fastify';
import { pathAskedFor } from './path-asked-for.js';

const PROTECTED = /^\/(v1|admin)(\/|$)/;
const ADMINISTRATIVE = /^\/admin(\/|$)/;

/**
 * Returns the path and query of a request target, in a form that the router never refuses: a path segment that cannot be
 * decoded stands for itself, character by character. The path of an animal named `%zz` then is the path of an animal.
 */
export function routableTarget(target: string): string {
  if (target.startsWith('/') && !target.includes('%')) {
    return target;
  }
  const query = /\?.*/s.exec(target)?.[0] ?? '';
  return pathAskedFor(target).split('/').map(decodable).join('/') + query;
}

function decodable(segment: string): string {
  try {
    decodeURI(segment);
    return segment;
  } catch {
    return segment.replaceAll('%', '%25');
  }
}

/** Whether this path needs an API key and is counted. */
export function isProtectedPath(path: string): boolean {
  return PROTECTED.test(path);
}

/** Whether every request of this path needs an API key and is counted, also where no route is. */
export function isProtected(request: FastifyRequest): boolean {
  return isProtectedPath(pathOf(request));
}

/** Whether this path needs an administrator's key. */
export function isAdministrative(request: FastifyRequest): boolean {
  return ADMINISTRATIVE.test(pathOf(request));
}

/** The route's own path, else the decoded path of the request. */
function pathOf(request: FastifyRequest): string {
  const route = request.routeOptions.url;
  if (route !== undefined) {
    return route;
  }
  return decodeURI(pathAskedFor(request.url));
}
