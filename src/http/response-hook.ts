import type { FastifyReply, FastifyRequest } from 'fastify';

/** A step of every response, errors included; an interceptor of NestJS runs only if a handler does. May return another body. */
export interface ResponseHook {
  onSend(request: FastifyRequest, reply: FastifyReply, body: unknown): unknown;
}
