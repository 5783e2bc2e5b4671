import type { onSendHookHandler, RouteOptions } from 'fastify';
import { lifecycleHeaders } from './rules/lifecycle.js';

/**
 * Adds the deprecation and stability headers to every response of a route; in `Link`, the links that the
 * handler sets come first.
 */
export function addLifecycleHeaders(route: RouteOptions): void {
  const headers = Object.entries(lifecycleHeaders(route.config ?? {}));
  const addHeaders: onSendHookHandler = (_request, reply, _payload, done) => {
    for (const [name, value] of headers) {
      reply.header(name, name === 'Link' ? [reply.getHeader('Link') ?? [], value].flat().join(', ') : value);
    }
    done();
  };
  if (headers.length > 0) {
    route.onSend = [route.onSend ?? [], addHeaders].flat();
  }
}
