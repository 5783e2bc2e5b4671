import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.js';

/** RFC 9110, section 7.2, without the comma: by it two hosts are joined that stand in two headers. */
const HOST = /^[\w.~%!$&'()*+;=:[\]-]*$/;

/**
 * Refuses what Node lets pass though a proxy before us may have read it otherwise, and closes its connection: nothing is begun of
 * what stands behind it, as nobody can be sure that it was sent as a request.
 */
export function refuseAmbiguity(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    const fault = faultOf(raw);
    if (fault !== undefined) {
      reply.header('Connection', 'close');
    }
    done(fault);
  });
}

function faultOf({ headers, httpVersion }: IncomingMessage): ApiError | undefined {
  if (httpVersion === '1.1' && headers.host === undefined) {
    return new ApiError('invalid_request', 'An HTTP/1.1 request needs the header Host.');
  }
  if (!HOST.test(headers.host ?? '')) {
    return new ApiError('invalid_request', 'The header Host must be one host, with a port or without.');
  }
  // Only HTTP/1.1 has it (RFC 9112, section 6.1).
  return httpVersion !== '1.1' && headers['transfer-encoding'] !== undefined
    ? new ApiError('invalid_request', 'Only an HTTP/1.1 request may have the header Transfer-Encoding.')
    : undefined;
}
