import { Injectable, Logger } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Authenticator } from '../auth/authenticator.js';
import { databaseReason, isDatabaseUnavailable } from '../database/availability.js';
import { withinDeadline } from '../rate-limit/deadline.js';

const LOOK_UP_INTERVAL_MS = 1000;
const LOOK_UP_DEADLINE_MS = 1500;

/**
 * Who may read how the parts of the service are: administrators. As nothing counts the requests for health, they must be no way to
 * try keys: one that is not remembered as an administrator's is looked up once a second at the most, whoever asks.
 */
@Injectable()
export class DetailsAccess {
  private readonly logger = new Logger(DetailsAccess.name);
  private lookedUpMs = -Infinity;

  constructor(private readonly authenticator: Authenticator) {}

  /** Never rejects: a key that cannot be judged now is as good as none. */
  async isGranted(request: FastifyRequest): Promise<boolean> {
    const { authorization } = request.headers;
    if (authorization === undefined || !this.mayLookUp(request)) {
      return false;
    }
    try {
      const { client } = await withinDeadline(
        this.authenticator.identify(authorization),
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
    const nowMs = performance.now();
    if (this.authenticator.lastKnownClient(request)?.role === 'admin') {
      return true;
    }
    const isTime = nowMs - this.lookedUpMs >= LOOK_UP_INTERVAL_MS;
    if (isTime) {
      this.lookedUpMs = nowMs;
    }
    return isTime;
  }
}
