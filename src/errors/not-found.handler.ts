import { Injectable } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AdministratorsOnly } from '../auth/administrators-only.decorator.js';
import { ApiError } from './api-error.js';
import { AllowedMethods } from '../http/allowed-methods.js';
import { isAdministrative, isProtected, targetPath } from '../http/request-path.js';

/** Handles requests without a route. Those to protected paths pass the global guards first, and so are counted before 404 or 405. */
@Injectable()
export class NotFoundHandler {
  constructor(
    private readonly allowedMethods: AllowedMethods,
    private readonly contexts: ExternalContextCreator,
  ) {}

  /** Fastify calls the handler if its router finds no route, and NestJS if a parameter is empty, as in `/v1/pets/`. */
  addTo(fastify: FastifyInstance): void {
    const underV1 = this.guarded('underV1');
    const underAdmin = this.guarded('underAdmin');
    fastify.setNotFoundHandler((request, reply) => {
      if (!isProtected(request)) {
        throw this.errorOf(request);
      }
      return isAdministrative(request) ? underAdmin(request, reply) : underV1(request, reply);
    });
  }

  underV1(request: FastifyRequest): never {
    throw this.errorOf(request);
  }

  @AdministratorsOnly()
  underAdmin(request: FastifyRequest): never {
    throw this.errorOf(request);
  }

  private guarded(
    name: 'underV1' | 'underAdmin',
  ): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
    const options = { guards: true, interceptors: false, filters: false };
    const handler = this[name] as (...args: unknown[]) => unknown;
    return this.contexts.create(this, handler, name, undefined, undefined, undefined, undefined, options);
  }

  private errorOf({ method, url, originalUrl }: FastifyRequest): ApiError {
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
