import type { FastifyInstance } from 'fastify';
import { deprecationHeaders } from './headers.js';

/** Has every response of a deprecated route tell so, errors too. The header texts are made once, with the route. */
export function tellDeprecations(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const { deprecation } = route.config ?? {};
    if (deprecation !== undefined) {
      const headers = deprecationHeaders(deprecation);
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
