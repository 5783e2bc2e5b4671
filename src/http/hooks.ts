import { Inject, Injectable, type Provider, type Type } from '@nestjs/common';
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
const REQUEST_HOOKS = Symbol('request hooks');
const RESPONSE_INTERCEPTORS = Symbol('response interceptors');

/** Provides the steps before the guards, in this order. */
export const requestHooks = (...hooks: Type<RequestHook>[]): Provider => inOrder(REQUEST_HOOKS, hooks);

/** Provides the steps of every response, in this order. */
export const responseInterceptors = (...interceptors: Type<ResponseInterceptor>[]): Provider =>
  inOrder(RESPONSE_INTERCEPTORS, interceptors);

function inOrder(provide: symbol, inject: Type[]): Provider {
  return { provide, inject, useFactory: (...steps: unknown[]) => steps };
}

/** Runs the steps that `app.module.ts` lists as hooks of Fastify. */
@Injectable()
export class Hooks {
  constructor(
    @Inject(REQUEST_HOOKS) private readonly hooks: RequestHook[],
    @Inject(RESPONSE_INTERCEPTORS) private readonly interceptors: ResponseInterceptor[],
  ) {}

  addTo(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      for (const hook of this.hooks) {
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
        for (const interceptor of this.interceptors) {
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
}
