import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { operationName } from '../http/routes/request-line.js';
import type { ResponseHook } from '../http/responses/response-hook.js';
import { Clock } from '../process/clock.js';
import { databaseReason } from '../database/access/availability.js';
import { PeriodicTask } from '../database/batches/periodic-task.js';
import type { MetricsRegistry, MetricsSource } from '../process/metrics-registry.js';
import { type CompletedRequest, UsageCounts } from './rules/usage-counts.js';
import { UsageJournal } from './usage.journal.js';

/**
 * Half of the second by which usage may be late, or that a crash may lose; the other half is for the
 * statement.
 */
const FLUSH_INTERVAL_MS = 500;
/** The maximum entries of a batch, which one statement still writes quickly. */
const ENTRIES_PER_BATCH = 2_000;
/** The limit while the database is unavailable: 50,000 entries, about 15 MB. */
const MAX_BATCHES = 25;

/**
 * Records the requests of authenticated clients: counts them in memory, and appends the counts to the journal
 * in batches, outside the request path. A batch whose write failed, or has an unknown outcome, is retried
 * unchanged.
 */
@Injectable()
export class UsageRecorder extends PeriodicTask implements ResponseHook, MetricsSource {
  /** Requests that were not recorded because the batches were full. */
  dropped = 0;
  /**
   * Batches that are not in the journal yet, the oldest first. Requests are added to the newest, unless it is
   * full or was tried.
   */
  private readonly queued: UsageCounts[] = [];
  /** Requests dropped since the last successful write. */
  private recentlyDropped = 0;

  constructor(
    private readonly journal: UsageJournal,
    private readonly clock: Clock,
  ) {
    super(FLUSH_INTERVAL_MS, () => this.write(), 'Usage cannot be written and is kept in memory');
  }

  addMetrics(metrics: MetricsRegistry): void {
    metrics.gauge('usage_entries_queued', 'Usage entries that are not written yet.', [], () => [
      [this.queuedEntries],
    ]);
    metrics.counter('usage_requests_dropped_total', 'Requests whose usage was dropped.', [], () => [
      [this.dropped],
    ]);
  }

  /** NestJS calls this after the last response, and before it disconnects Prisma, whose module is global. */
  override async onApplicationShutdown(): Promise<void> {
    await super.onApplicationShutdown();
    const failure = await this.write().catch((error: unknown) => databaseReason(error));
    const lost = this.queued.reduce((sum, { requests }) => sum + requests, this.recentlyDropped);
    if (lost > 0) {
      const reason = failure === undefined ? '' : `: ${failure}`;
      this.logger.error(`The usage of ${lost} requests could not be written before the end${reason}`);
    }
  }

  get queuedEntries(): number {
    return this.queued.reduce((sum, { size }) => sum + size, 0);
  }

  onSend(request: FastifyRequest, { statusCode }: FastifyReply): void {
    const principal = request.authentication?.principal;
    if (principal) {
      this.record({
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

  record(request: CompletedRequest): void {
    if (this.queued.at(-1)?.add(request)) {
      return;
    }
    if (this.queued.length < MAX_BATCHES) {
      const batch = new UsageCounts(ENTRIES_PER_BATCH);
      batch.add(request);
      this.queued.push(batch);
      return;
    }
    this.dropped += 1;
    this.recentlyDropped += 1;
    if (this.recentlyDropped === 1) {
      this.logger.error(
        `Usage is no longer recorded: ${this.queuedEntries} entries are queued already; ` +
          'the number of lost requests is logged once the database is back',
      );
    }
  }

  /** Writes everything recorded so far. A failure is logged. */
  async flush(): Promise<void> {
    // A write in flight may have begun before the last request.
    await this.running;
    this.runNow();
    await this.running;
  }

  private async write(): Promise<void> {
    for (const batch of this.queued.slice()) {
      // It is sealed only now, so that the newest batch fills up while the database is unavailable.
      batch.isSealed = true;
      await this.journal.append(batch);
      this.queued.shift();
    }
    if (this.isFailing || this.recentlyDropped > 0) {
      this.logger.warn(`Usage is written again; requests dropped meanwhile: ${this.recentlyDropped}`);
      this.recentlyDropped = 0;
    }
  }
}
