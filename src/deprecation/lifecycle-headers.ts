import type { onSendHookHandler, RouteOptions } from 'fastify';
import { lifecycleHeaders } from './rules/lifecycle.js';

/** Adds the deprecation and stability headers to every response of a route; links that its handler sets stay before those of the deprecation. */
export function addLifecycleHeaders(route: RouteOptions): void {
  const headers = Object.entries(lifecycleHeaders(route.config ?? {}));
  const addHeaders: onSendHookHandler = ({ is404 }, reply, _payload, done) => {
    // The response to `/v1/pets/`, whose parameter is empty, is none of the route, but passes its hooks.
    for (const [name, value] of is404 ? [] : headers) {
      reply.header(name, name === 'Link' ? [reply.getHeader('Link') ?? [], value].flat().join(', ') : value);
    }
    done();
  };
  if (headers.length > 0) {
    route.onSend = [route.onSend ?? [], addHeaders].flat();
  }
}
