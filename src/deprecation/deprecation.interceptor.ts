import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { Clock } from '../clock.js';
import { deprecationHeaders } from './headers.js';
import { removalError } from './removal.js';

/** Tells of the deprecation on what a deprecated operation answers, and ends the operation when its time has come. */
@Injectable()
export class DeprecationInterceptor implements NestInterceptor {
  constructor(private readonly clock: Clock) {}

  /** @throws ApiError `endpoint_removed` from the removal on. */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { deprecation } = http.getRequest<FastifyRequest>().routeOptions.config;
    if (deprecation !== undefined) {
      const error = removalError(deprecation, this.clock.now());
      if (error !== null) {
        throw error;
      }
      http.getResponse<FastifyReply>().headers(deprecationHeaders(deprecation));
    }
    return next.handle();
  }
}
