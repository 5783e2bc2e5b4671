import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { ResponseHook } from './response-hook.js';

/**
 * Makes a response 500 if its handler did not wait for the decision, because it may be data for a client that
 * is denied.
 */
@Injectable()
export class DecisionCheckHook implements ResponseHook {
  onSend({ pendingDecision }: FastifyRequest): void {
    if (pendingDecision !== null) {
      throw new Error(
        'The handler must wait by whenAllowed(), because its operation is served while it is counted',
      );
    }
  }
}
