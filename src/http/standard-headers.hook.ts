import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestHook } from './hooks.js';
import { SECURITY_HEADERS } from './security-headers.js';

/** Adds the request id and the security headers to every response. */
@Injectable()
export class StandardHeadersHook implements RequestHook {
  onRequest(request: FastifyRequest, reply: FastifyReply): null {
    reply.header('X-Request-Id', request.id).headers(SECURITY_HEADERS);
    return null;
  }
}
