import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { operationName } from '../http/routes/request-line.js';
import type { ResponseHook } from '../http/responses/response-hook.js';
import { Clock } from '../process/clock.js';
import { UsageRecorder } from './usage.recorder.js';

/** Records each request with a valid key once its response is made. */
@Injectable()
export class UsageHook implements ResponseHook {
  constructor(
    private readonly recorder: UsageRecorder,
    private readonly clock: Clock,
  ) {}

  onSend(request: FastifyRequest, { statusCode }: FastifyReply): void {
    const principal = request.authentication?.principal;
    if (principal) {
      this.recorder.record({
        keyId: principal.keyId,
        quotaId: principal.quota.id,
        operation: operationName(request),
        deprecated: request.routeOptions.config.deprecation !== undefined,
        status: statusCode,
        // By the clock of the counter store, unless that was unavailable.
        atMs: request.decision?.nowMs ?? this.clock.now(),
      });
    }
  }
}
