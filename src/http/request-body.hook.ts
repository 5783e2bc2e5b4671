import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Connections, SHUTTING_DOWN } from '../server/connections.js';
import type { RequestHook, ResponseInterceptor } from './hooks.js';
import { isUnread, RequestBodies, RequestBody } from './request-body.js';

/** Collects the body of a request that needs a key while its guards run, and stops with the response. */
@Injectable()
export class RequestBodyHook implements RequestHook, ResponseInterceptor {
  constructor(
    private readonly bodies: RequestBodies,
    connections: Connections,
  ) {
    connections.startsNoMore.addEventListener('abort', () => bodies.abandon(SHUTTING_DOWN));
  }

  onRequest(request: FastifyRequest, reply: FastifyReply): null {
    if (request.requiredRole !== null) {
      this.bodies.collect(request, reply);
    }
    return null;
  }

  intercept(request: FastifyRequest, reply: FastifyReply): void {
    if (request.body instanceof RequestBody) {
      request.body.end(null);
    }
    // The rest of the body would be read as the next request.
    if (reply.statusCode >= 400 && request.requiredRole !== null && isUnread(request.raw)) {
      reply.header('Connection', 'close');
    }
  }
}
