import { Injectable } from '@nestjs/common';
import type { FastifyRequest, preValidationHookHandler } from 'fastify';
import { ConcurrencyLimit } from './concurrency-limit.js';
import type { ResponseHook } from '../responses/response-hook.js';

/** Takes a slot for each request that has arrived, and frees it once the response is made. */
@Injectable()
export class SlotHook implements ResponseHook {
  constructor(private readonly limit: ConcurrencyLimit) {}

  readonly preValidation: preValidationHookHandler = (request, _reply, done) =>
    done(this.limit.takeSlot(request));

  onSend(request: FastifyRequest): void {
    this.limit.freeSlot(request);
  }
}
