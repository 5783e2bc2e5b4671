import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { ResponseHook } from '../http/responses/response-hook.js';

/**
 * Turns a response into 500 if its handler did not wait for the rate-limit decision: it may have data for a
 * denied client.
 */
@Injectable()
export class DecisionCheckHook implements ResponseHook {
  onSend({ pendingDecision }: FastifyRequest): void {
    if (pendingDecision !== null) {
      throw new Error(
        'The handler must wait by dataIfAllowed(), because its operation is served while it is counted',
      );
    }
  }
}
