import { Injectable, Logger } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Authenticator } from '../auth/authenticator.js';
import { databaseReason, isDatabaseUnavailable } from '../database/availability.js';
import { networkOf } from '../rate-limit/rules/address.js';
import { withinDeadline } from '../rate-limit/rules/deadline.js';

const LOOK_UP_INTERVAL_MS = 1000;
const LOOK_UP_DEADLINE_MS = 1500;
/** Whoever has more addresses than that may try more keys; under `/v1` each of them may try more still. */
const MAX_NETWORKS = 1000;

/**
 * Who may read how the parts of the service are: administrators. As nothing counts the requests for health, they must be no way to
 * try keys: of those that are not remembered as an administrator's, one a second is looked up for each address. What cannot be a key takes no
 * turn.
 */
@Injectable()
export class DetailsAccess {
  private readonly logger = new Logger(DetailsAccess.name);
  /** Whose turn was less than a second ago. */
  private readonly lookedUp = new LRUCache<string, true>({ max: MAX_NETWORKS, ttl: LOOK_UP_INTERVAL_MS });

  constructor(private readonly authenticator: Authenticator) {}

  /** Never rejects: a key that cannot be judged now is as good as none. */
  async isGranted(request: FastifyRequest): Promise<boolean> {
    if (!this.authenticator.hasPossibleKey(request) || !this.mayLookUp(request)) {
      return false;
    }
    try {
      const { principal: client } = await withinDeadline(
        this.authenticator.authenticate(request.headers.authorization),
        LOOK_UP_DEADLINE_MS,
      );
      return client?.role === 'admin';
    } catch (error) {
      if (!isDatabaseUnavailable(error)) {
        throw error;
      }
      this.logger.debug(`Whose key asks for health is not known: ${databaseReason(error)}`);
      return false;
    }
  }

  private mayLookUp(request: FastifyRequest): boolean {
    if (this.authenticator.lastKnownPrincipal(request)?.role === 'admin') {
      return true;
    }
    const network = networkOf(request.ip);
    const isTurn = !this.lookedUp.has(network);
    if (isTurn) {
      this.lookedUp.set(network, true);
    }
    return isTurn;
  }
}
