import { maxHeaderSize } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { RouteOptions } from 'fastify';
import FindMyWay, { type HTTPMethod } from 'find-my-way';
import { ENVIRONMENT, type Environment } from '../../process/settings/environment.js';

/** A path parameter may be as long as all headers, so that the router rejects none. */
export const ROUTER_OPTIONS = { maxParamLength: maxHeaderSize };

export const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** Finds the methods of a path for `Allow`. */
@Injectable()
export class AllowedMethods {
  /** Of Fastify's own kind, so that paths match alike. */
  private readonly router = FindMyWay(ROUTER_OPTIONS);
  private readonly methods = new Set<HTTPMethod>();

  constructor(@Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'EXPERIMENTAL'>) {}

  addRoute({ method, url, config = {} }: Pick<RouteOptions, 'method' | 'url' | 'config'>): void {
    const isOffered = config.stability !== 'experimental' || this.environment.EXPERIMENTAL;
    // `/` exists for browsers only.
    if (isOffered && config.isFallback !== true && url !== '/') {
      for (const each of [method].flat() as HTTPMethod[]) {
        this.methods.add(each);
        this.router.on(each, url, () => {});
      }
    }
  }

  /** Returns the methods of a path's routes, in alphabetical order. */
  find(path: string): string[] {
    return [...this.methods].filter((method) => this.router.find(method, path) !== null).toSorted();
  }
}
