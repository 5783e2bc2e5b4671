import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH'];
const REQUEST_HEADERS = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match', 'X-Request-Id'];
const PREFLIGHT_LIFE_SECONDS = 600;

/**
 * Lets pages of these origins read the answers (Fetch, section 3.3). A preflight is answered here: it carries no key, and is
 * not counted.
 *
 * @param exposedHeaders the response headers that those pages may read.
 */
export async function shareWithOrigins(
  fastify: FastifyInstance,
  origins: readonly string[],
  exposedHeaders: readonly string[],
): Promise<void> {
  const options: FastifyCorsOptions = {
    origin: [...origins],
    methods: METHODS,
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: [...exposedHeaders],
    maxAge: PREFLIGHT_LIFE_SECONDS,
  };
  await fastify.register(cors, {
    // Any other OPTIONS is a method like any other, and refused in the form of this service.
    delegator: (request, callback) =>
      callback(null, {
        ...options,
        preflight:
          request.headers.origin !== undefined &&
          request.headers['access-control-request-method'] !== undefined,
      }),
  });
}
