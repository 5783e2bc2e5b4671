import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.js';
import type { Admission } from '../rate-limit/admission.js';
import { rateLimitError, RateLimiter } from '../rate-limit/rate-limiter.js';
import { Authenticator } from './authenticator.js';
import { isAdministrative } from './protected-path.js';
import { forbidden } from './role.guard.js';

/** What a request under a protected path is told, whatever it asks for. */
export interface Judgement {
  admission: Admission;
  /** Why it goes no further, if so. */
  refusal: ApiError | null;
}

/**
 * Judges requests in the order of the contract: credential, rate, role. A request that its guards have seen
 * is not counted again; one that reached no guard (an unknown path, a body that is no JSON) is counted here.
 */
@Injectable()
export class Gate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly rateLimiter: RateLimiter,
  ) {}

  /** @throws the database's error when the key cannot be looked up. */
  async judge(request: FastifyRequest): Promise<Judgement> {
    const caller = await this.authenticator.authenticate(request);
    const admission = await this.rateLimiter.admit(request, caller);
    if (!admission.admitted) {
      return { admission, refusal: rateLimitError(admission, caller) };
    }
    if (caller.client === null) {
      return { admission, refusal: caller.refusal };
    }
    if (isAdministrative(request) && caller.client.role !== 'admin') {
      return { admission, refusal: forbidden() };
    }
    return { admission, refusal: null };
  }

  /** The numbers to tell who could not be judged: those that this replica last knew. Nothing is counted. */
  lastKnown(request: FastifyRequest): Admission {
    return this.rateLimiter.lastKnown(request, this.authenticator.lastKnownClient(request));
  }
}
