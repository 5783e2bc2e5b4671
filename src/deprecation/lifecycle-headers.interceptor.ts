import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResponseInterceptor } from '../http/hooks.js';
import { lifecycleHeaders } from './rules/lifecycle.js';

/** Adds the deprecation and stability headers of the route; links that the handler has set stay before those of the deprecation. */
@Injectable()
export class LifecycleHeadersInterceptor implements ResponseInterceptor {
  /** By the route's configuration, so that each text is made once. */
  private readonly headers = new WeakMap<object, [name: string, value: string][]>();

  intercept({ routeOptions: { config } }: Pick<FastifyRequest, 'routeOptions'>, reply: FastifyReply): void {
    let headers = this.headers.get(config);
    if (headers === undefined) {
      headers = Object.entries(lifecycleHeaders(config));
      this.headers.set(config, headers);
    }
    for (const [name, value] of headers) {
      reply.header(name, name === 'Link' ? [reply.getHeader('Link') ?? [], value].flat().join(', ') : value);
    }
  }
}
