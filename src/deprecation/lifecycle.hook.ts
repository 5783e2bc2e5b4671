import type { FastifyInstance } from 'fastify';
import { lifecycleHeaders } from './headers.js';

/**
 * Has every response of a route tell that it is deprecated or not stable, errors too. The texts are made once, with the
 * route. Links that the handler has set stay before those of the deprecation.
 */
export function tellLifecycles(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const { Link: links, ...headers } = lifecycleHeaders(route.config ?? {});
    if (links === undefined && Object.keys(headers).length === 0) {
      return;
    }
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request, reply, _payload, done) => {
        // An empty parameter is handed on, as there is nothing at such a path; Fastify then still calls the route's hook.
        if (!request.is404) {
          reply.headers(headers);
          if (links !== undefined) {
            reply.header('Link', [reply.getHeader('Link') ?? [], links].flat().join(', '));
          }
        }
        done();
      },
    ];
  });
}
