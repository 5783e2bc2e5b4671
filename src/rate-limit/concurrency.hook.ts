import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.js';
import type { RequestHook, ResponseInterceptor } from '../http/hooks.js';
import { operationOf } from '../http/request-path.js';
import { ConcurrencyLimit } from '../server/concurrency-limit.js';
import { Connections, SHUTTING_DOWN } from '../server/connections.js';
import { RateLimiter } from './rate-limiter.js';

/** Takes a slot of the operation for each request that needs a key, and frees it once the response is made. */
@Injectable()
export class ConcurrencyHook implements RequestHook, ResponseInterceptor {
  constructor(
    private readonly connections: Connections,
    private readonly concurrencyLimit: ConcurrencyLimit,
    private readonly rateLimiter: RateLimiter,
  ) {}

  onRequest(request: FastifyRequest): ApiError | null {
    if (this.connections.refusing.aborted) {
      return SHUTTING_DOWN;
    }
    return request.requiredRole === null
      ? null
      : this.concurrencyLimit.take(request, operationOf(request), () => this.rateLimiter.bucketKey(request));
  }

  intercept(request: FastifyRequest): void {
    this.concurrencyLimit.release(request);
  }
}
