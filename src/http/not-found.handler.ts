import { Injectable } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { AllowedMethods } from './allowed-methods.js';
import { targetPath } from './request-path.js';

/** Handles requests without a route. They pass the global guards first, so those that need a key are counted before 404 or 405. */
@Injectable()
export class NotFoundHandler {
  constructor(
    private readonly allowedMethods: AllowedMethods,
    private readonly contexts: ExternalContextCreator,
  ) {}

  /** Fastify calls the handler if its router finds no route, and NestJS if a parameter is empty, as in `/v1/pets/`. */
  addTo(fastify: FastifyInstance): void {
    const options = { guards: true, interceptors: false, filters: false };
    const guarded: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> = this.contexts.create(
      this,
      (request: unknown) => this.handle(request as FastifyRequest),
      'handle',
      undefined,
      undefined,
      undefined,
      undefined,
      options,
    );
    fastify.setNotFoundHandler(guarded);
  }

  handle(request: FastifyRequest): never {
    throw this.createError(request);
  }

  private createError({ method, url, originalUrl }: FastifyRequest): ApiError {
    const methods = this.allowedMethods.of(targetPath(url));
    const path = targetPath(originalUrl);
    // A route with an empty parameter, as in `/v1/pets/`, has the method but no resource.
    if (methods.length === 0 || methods.includes(method)) {
      return new ApiError('not_found', `There is nothing at ${path}. The operations are listed at /docs.`);
    }
    const Allow = methods.join(', ');
    const message = `${path} does not allow ${method}. It allows ${Allow}.`;
    return new ApiError('method_not_allowed', message, { headers: { Allow } });
  }
}
