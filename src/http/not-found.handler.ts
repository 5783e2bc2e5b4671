import { Inject, Injectable } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import FindMyWay, { type HTTPMethod } from 'find-my-way';
import { ApiError } from '../errors/api-error.js';
import { ROUTER_OPTIONS } from '../server/server-options.js';
import { ENVIRONMENT, type Environment } from '../settings/environment.js';
import { publicPrefix } from '../settings/public-prefix.js';
import { targetPath } from './request-line.js';

/** Handles requests without a route. They pass the global guards first, so those that need a key are counted before 404 or 405. */
@Injectable()
export class NotFoundHandler {
  /** The routes by path, for `Allow`; of Fastify's own kind, so that paths match alike. */
  private readonly router = FindMyWay(ROUTER_OPTIONS);
  private readonly methods = new Set<HTTPMethod>();
  /** The path of the reference, as clients have it. */
  private readonly docs: string;

  constructor(
    private readonly contexts: ExternalContextCreator,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {
    this.docs = `${publicPrefix(environment)}/docs`;
  }

  /** Fastify calls the handler if its router finds no route, and NestJS if a parameter is empty, as in `/v1/pets/`. */
  addTo(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ method, url, config }) => {
      const isOffered = config?.stability !== 'experimental' || this.environment.EXPERIMENTAL;
      // `/` exists for browsers only.
      if (isOffered && url !== '/') {
        [method].flat().forEach((each) => this.addRoute(each as HTTPMethod, url));
      }
    });
    const options = { guards: true, interceptors: false, filters: false };
    const handle = (request: unknown) => this.handle(request as FastifyRequest);
    const defaults = [undefined, undefined, undefined, undefined] as const;
    fastify.setNotFoundHandler(this.contexts.create(this, handle, 'handle', ...defaults, options));
  }

  /** @throws ApiError `method_not_allowed` if the path has routes of other methods, else `not_found`. */
  handle({ method, url, originalUrl }: FastifyRequest): never {
    const methods = this.findMethods(targetPath(url));
    const path = targetPath(originalUrl);
    // A route with an empty parameter, as in `/v1/pets/`, has the method but no resource.
    if (methods.length === 0 || methods.includes(method)) {
      const message = `There is nothing at ${path}. The operations are listed at ${this.docs}.`;
      throw new ApiError('not_found', message);
    }
    const Allow = methods.join(', ');
    const message = `${path} does not allow ${method}. It allows ${Allow}.`;
    throw new ApiError('method_not_allowed', message, { headers: { Allow } });
  }

  private addRoute(method: HTTPMethod, path: string): void {
    this.methods.add(method);
    this.router.on(method, path, () => {});
  }

  /** Returns the methods of a path's routes, in alphabetical order. */
  private findMethods(path: string): string[] {
    const matches = (method: HTTPMethod) => {
      const params = this.router.find(method, path)?.params;
      // NestJS takes no empty parameter: `/v1/pets/` is not `/v1/pets/:petId`; but a wildcard may be empty.
      return params && Object.entries(params).every(([name, value]) => name === '*' || value !== '');
    };
    return [...this.methods].filter(matches).toSorted();
  }
}
