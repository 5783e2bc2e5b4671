import type { FastifyReply, FastifyRequest } from 'fastify';

/** A step of every response, errors included; NestJS's interceptors run only if a handler does. */
export interface ResponseHook {
  /** May return another body. */
  onSend(request: FastifyRequest, reply: FastifyReply, body: unknown): unknown;
}
