import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findKnownKey } from '../../auth/principal.js';
import { databaseReason } from '../../database/access/availability.js';
import { PrismaService } from '../../database/access/prisma.service.js';
import { loadSql } from '../../database/access/statement.js';
import { PeriodicTask } from '../../database/batches/periodic-task.js';
import type { ResponseHook } from '../../http/responses/response-hook.js';
import { operationName } from '../../http/routes/request-line.js';
import { loggablePath, withoutKeys } from '../../http/rules/loggable.js';
import { addressText } from '../../http/rules/network.js';
import { Clock } from '../../process/clock.js';
import { ENVIRONMENT, type Environment } from '../../process/settings/environment.js';
import { AddedRequests, FailedRequestBatch, STORED_PER_MINUTE_MAX } from '../rules/failed-request-batch.js';
import { MESSAGE_MAX_LENGTH } from './failed-request.schemas.js';

const RECORD = loadSql(import.meta.url, 'record-failed-requests');
/** Half of the second by which a failed request may be late, or that a crash may lose. */
const FLUSH_INTERVAL_MS = 500;
const CONTROLS = /\p{Cc}/gu;

/**
 * Records the requests that need a key and failed, in batches, outside the request path. A batch whose write
 * failed, or has an unknown outcome, is retried unchanged.
 */
@Injectable()
export class FailedRequestRecorder extends PeriodicTask implements ResponseHook {
  /** Requests that were not even counted, because the batch was full, since that was last logged. */
  private dropped = 0;
  private readonly id = randomUUID();
  /** The number of the batch in flight. */
  private number = 0;
  private readonly added = new AddedRequests();
  private batch = new FailedRequestBatch(this.added);
  private inFlight: FailedRequestBatch | null = null;

  constructor(
    private readonly prisma: PrismaService,
    private readonly clock: Clock,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'FAILED_REQUEST_RETENTION'>,
  ) {
    super(FLUSH_INTERVAL_MS, () => this.write(), 'Failed requests cannot be recorded and are kept in memory');
  }

  /** NestJS calls this after the last response. */
  override async onApplicationShutdown(): Promise<void> {
    await super.onApplicationShutdown();
    try {
      while (await this.write()) {
        // There is more.
      }
    } catch (error) {
      this.logger.error(`Failed requests could not be recorded before the end: ${databaseReason(error)}`);
    }
  }

  onSend(request: FastifyRequest, reply: FastifyReply): void {
    const { failure, requiredRole } = request;
    if (failure === null || requiredRole === null || this.environment.FAILED_REQUEST_RETENTION === 0) {
      return;
    }
    const key = findKnownKey(request);
    // By the clock of the counter store, unless that was unavailable.
    const requestedAtMs = request.decision?.nowMs ?? this.clock.now();
    // The holder of a key that is denied must not use up what is stored of its quota.
    const isDenied = request.authentication?.principal === null;
    const counted = isDenied ? null : (key?.quota.id ?? null);
    const isCounted = this.batch.add(counted, requestedAtMs, () => ({
      id: randomUUID(),
      requestedAtMs,
      requestId: request.id,
      method: request.method,
      path: storable(loggablePath(request)),
      operation: operationName(request),
      status: reply.statusCode,
      code: failure.code,
      message: storable(withoutKeys(failure.message).slice(0, MESSAGE_MAX_LENGTH)),
      durationMs: Math.round(reply.elapsedTime * 10) / 10,
      keyId: key?.keyId ?? null,
      quotaId: key?.quota.id ?? null,
      clientAddress: addressText(request.ip),
    }));
    this.dropped += Number(!isCounted);
  }

  /** Writes everything recorded so far. A failure is logged. */
  async flush(): Promise<void> {
    // A write in flight may have begun before the last request.
    await this.running;
    this.runNow();
    await this.running;
  }

  /** Returns whether there may be more to write. */
  private async write(): Promise<boolean> {
    if (this.inFlight === null) {
      this.inFlight = this.batch;
      this.batch = new FailedRequestBatch(this.added);
      this.number += 1;
    }
    const { groups } = this.inFlight;
    if (groups.length > 0) {
      const values = [this.id, this.number, JSON.stringify(groups), STORED_PER_MINUTE_MAX];
      await this.prisma.sql.execute(RECORD, ...values);
    }
    this.inFlight = null;
    if (this.dropped > 0) {
      this.logger.warn(`Failed requests that were not recorded: ${this.dropped}`);
      this.dropped = 0;
    }
    return groups.length > 0;
  }
}

/** Returns a text that PostgreSQL stores: a client's text may be quoted in it. */
function storable(text: string): string {
  return text.replace(CONTROLS, ' ').toWellFormed();
}
