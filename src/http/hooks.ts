import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.js';

/** A step of every request before the guards. It may respond, or return the error of a request that goes no further. */
export interface RequestHook {
  onRequest(request: FastifyRequest, reply: FastifyReply): ApiError | null;
}

/** A step of every response, errors included; an interceptor of NestJS runs only if a handler does. May return another body. */
export interface ResponseInterceptor {
  intercept(request: FastifyRequest, reply: FastifyReply, body: unknown): unknown;
}

/** A longer body is sent as a `Buffer`, because Node keeps two copies of an unsent string. */
const LARGE_LENGTH = 16 * 1024;

/** Runs these steps, in this order, as hooks of Fastify. */
export function addHooks(
  fastify: FastifyInstance,
  requestHooks: RequestHook[],
  responseInterceptors: ResponseInterceptor[],
): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    for (const hook of requestHooks) {
      const error = hook.onRequest(request, reply);
      if (error !== null) {
        return done(error);
      }
      if (reply.sent) {
        return;
      }
    }
    done();
  });
  // Not async, because its promise would keep the body of an unread response in memory.
  fastify.addHook('onSend', (request, reply, payload: unknown, done) => {
    let body = payload;
    try {
      for (const interceptor of responseInterceptors) {
        const replaced = interceptor.intercept(request, reply, body);
        body = replaced === undefined ? body : replaced;
      }
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, typeof body === 'string' && body.length >= LARGE_LENGTH ? Buffer.from(body) : body);
  });
}
