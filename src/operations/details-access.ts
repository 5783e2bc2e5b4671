import { Injectable, Logger } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Authenticator } from '../auth/authenticator.js';
import { databaseReason, isDatabaseUnavailable } from '../database/availability.js';
import { networkOf } from '../rate-limit/rules/address.js';
import { withinDeadline } from '../rate-limit/rules/deadline.js';

const LOOK_UP_INTERVAL_MS = 1000;
const LOOK_UP_DEADLINE_MS = 1500;
/** A client with more networks can try more keys than intended here; under `/v1`, each network can try more anyway. */
const MAX_NETWORKS = 1000;

/**
 * Decides who may read the details of the service's health: administrators only. Health requests are not rate limited, so key guessing
 * is limited here: unless the cache has the key as an administrator's, each network gets one lookup a second. Malformed keys do not use it up.
 */
@Injectable()
export class DetailsAccess {
  private readonly logger = new Logger(DetailsAccess.name);
  /** The networks that had a lookup less than a second ago. */
  private readonly lookedUp = new LRUCache<string, true>({ max: MAX_NETWORKS, ttl: LOOK_UP_INTERVAL_MS });

  constructor(private readonly authenticator: Authenticator) {}

  /** Returns whether the request has an administrator's key; false if the database is unavailable. */
  async isAllowed(request: FastifyRequest): Promise<boolean> {
    if (!this.authenticator.hasPossibleKey(request) || !this.mayLookUp(request)) {
      return false;
    }
    try {
      const { principal } = await withinDeadline(
        this.authenticator.authenticate(request.headers.authorization),
        LOOK_UP_DEADLINE_MS,
      );
      return principal?.role === 'admin';
    } catch (error) {
      if (!isDatabaseUnavailable(error)) {
        throw error;
      }
      this.logger.debug(`The key of a health request cannot be verified: ${databaseReason(error)}`);
      return false;
    }
  }

  private mayLookUp(request: FastifyRequest): boolean {
    if (this.authenticator.lastKnownPrincipal(request)?.role === 'admin') {
      return true;
    }
    const network = networkOf(request.ip);
    const mayLookUp = !this.lookedUp.has(network);
    if (mayLookUp) {
      this.lookedUp.set(network, true);
    }
    return mayLookUp;
  }
}
