import type { FastifyInstance } from 'fastify';
import { lifecycleHeaders } from './headers.js';

/** Has every response of a route tell that it is deprecated or not stable, errors too. The texts are made once, with the route. */
export function tellLifecycles(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const headers = lifecycleHeaders(route.config ?? {});
    if (Object.keys(headers).length > 0) {
      route.onSend = [
        ...[route.onSend ?? []].flat(),
        (_request, reply, _payload, done) => {
          reply.headers(headers);
          done();
        },
      ];
    }
  });
}
