import type { FastifyRequest } from 'fastify';
import { pathAskedFor } from '../http/path-asked-for.js';

const PROTECTED = /^\/(v1|admin)(\/|$)/;
const ADMINISTRATIVE = /^\/admin(\/|$)/;

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

/** The route's own path, else the path asked for, decoded as far as it can be. */
function pathOf(request: FastifyRequest): string {
  const route = request.routeOptions.url;
  if (route !== undefined) {
    return route;
  }
  const path = pathAskedFor(request.url);
  try {
    return decodeURI(path);
  } catch {
    // A malformed escape is what the caller is told of; its path is judged as it stands.
    return path;
  }
}
