import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.js';

/** RFC 9110, section 7.2, without the comma: by it two hosts are joined that stand in two headers. */
const HOST = /^[\w.~%!$&'()*+;=:[\]-]*$/;

/**
 * Refuses what Node lets pass though a proxy before us may have read it otherwise, and all that its connection has behind it:
 * nobody can be sure that it was sent as a request.
 */
export function refuseAmbiguity(fastify: FastifyInstance): void {
  const refused = new WeakSet<Socket>();
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    if (refused.has(raw.socket)) {
      // Node reads on until the refusal is sent. Then the connection closes, without another answer.
      reply.hijack();
      return;
    }
    const fault = faultOf(raw);
    if (fault !== undefined) {
      refused.add(raw.socket);
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
