import type { onSendHookHandler, RouteOptions } from 'fastify';
import { deprecationLinks, lifecycleHeaders } from './rules/lifecycle.js';

/** Adds the lifecycle headers to every response of a route; in `Link`, after the links of the handler. */
export function addLifecycleHeaders(route: RouteOptions): void {
  const lifecycle = route.config ?? {};
  const headers = Object.entries(lifecycleHeaders(lifecycle));
  const addHeaders: onSendHookHandler = (request, reply, _payload, done) => {
    for (const [name, value] of headers) {
      reply.header(name, value);
    }
    if (lifecycle.deprecation !== undefined) {
      const links = deprecationLinks(lifecycle.deprecation, request.params as Record<string, string>);
      reply.header('Link', [reply.getHeader('Link') ?? [], links].flat().join(', '));
    }
    done();
  };
  if (headers.length > 0) {
    route.onSend = [route.onSend ?? [], addHeaders].flat();
  }
}
