import type { FastifyReply, FastifyRequest } from 'fastify';

/** Adds headers to every response, errors included; an interceptor of NestJS runs only if a handler does. `app.module.ts` lists them. */
export interface ResponseInterceptor {
  intercept(request: FastifyRequest, reply: FastifyReply): void;
}

/** Injection token of the list of `ResponseInterceptor`s. */
export const RESPONSE_INTERCEPTORS = Symbol('response interceptors');
