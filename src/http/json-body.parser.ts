import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { parseJsonBody } from './json-body.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, where it was read. */
    bodyBytes: Buffer | null;
  }
}

/** Reads bodies of JSON, and of no other type. */
export function readJsonBodies(fastify: FastifyInstance): void {
  fastify.decorateRequest('bodyBytes', null);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    request.bodyBytes = body as Buffer;
    try {
      // Many clients name the type where there is no body; whether one is needed the route says.
      done(null, body.length === 0 ? undefined : parseJsonBody(request.bodyBytes));
    } catch (error) {
      done(new ApiError('invalid_request', `The body is not JSON: ${(error as SyntaxError).message}.`));
    }
  });
}
