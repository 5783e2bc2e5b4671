import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Adds headers to every response, made by a handler, a guard, the filter or the shutdown. `app.module.ts` lists the
 * interceptors, and one hook of Fastify runs them in that order. NestJS's own run only where a handler is reached.
 */
export interface ResponseInterceptor {
  intercept(request: FastifyRequest, reply: FastifyReply): void;
}

/** Dependency-injection token of the list of `ResponseInterceptor`s. */
export const RESPONSE_INTERCEPTORS = Symbol('response interceptors');
