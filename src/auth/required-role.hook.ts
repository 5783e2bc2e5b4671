import type { onRequestHookHandler } from 'fastify';
import { type KeyRole, roleForPath } from './rules/role.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The role that the path requires of a key, with a route or without; null for a public path. */
    requiredRole: KeyRole | null;
  }
}

export const setRequiredRole: onRequestHookHandler = (request, _reply, done) => {
  request.requiredRole = roleForPath(request.routeOptions.url ?? '');
  done();
};
