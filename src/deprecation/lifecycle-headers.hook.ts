import type { onSendHookHandler, RouteOptions } from 'fastify';
import { lifecycleHeaders } from './rules/lifecycle.js';

/**
 * Adds the deprecation and stability headers to every response of a route; in `Link`, the links that the
 * handler sets come first.
 */
export function addLifecycleHeaders(route: RouteOptions): void {
  const lifecycle = route.config ?? {};
  const addHeaders: onSendHookHandler = (request, reply, _payload, done) => {
    const headers = lifecycleHeaders(lifecycle, request.params as Record<string, string>);
    for (const [name, value] of Object.entries(headers)) {
      reply.header(name, name === 'Link' ? [reply.getHeader('Link') ?? [], value].flat().join(', ') : value);
    }
    done();
  };
  if (Object.keys(lifecycleHeaders(lifecycle)).length > 0) {
    route.onSend = [route.onSend ?? [], addHeaders].flat();
  }
}
