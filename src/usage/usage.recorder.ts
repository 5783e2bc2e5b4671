import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { operationName } from '../http/routes/request-line.js';
import type { ResponseHook } from '../http/responses/response-hook.js';
import { Clock } from '../process/clock.js';
import { databaseReason } from '../database/access/availability.js';
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
export class UsageRecorder implements ResponseHook, OnModuleInit, OnApplicationShutdown, MetricsSource {
  /** Requests that were not recorded because the batches were full. */
  dropped = 0;
  private readonly logger = new Logger(UsageRecorder.name);
  /**
   * Batches that are not in the journal yet, the oldest first. Requests are added to the newest, unless it is
   * full or was tried.
   */
  private readonly queued: UsageCounts[] = [];
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private isFailing = false;
  /** Requests dropped since the last successful write. */
  private recentlyDropped = 0;

  constructor(
    private readonly journal: UsageJournal,
    private readonly clock: Clock,
  ) {}

  addMetrics(metrics: MetricsRegistry): void {
    metrics.gauge('usage_entries_queued', 'Usage entries that are not written yet.', [], () => [
      [this.queuedEntries],
    ]);
    metrics.counter('usage_requests_dropped_total', 'Requests whose usage was dropped.', [], () => [
      [this.dropped],
    ]);
  }

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** NestJS calls this after the last response, and before it disconnects Prisma, whose module is global. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flushing;
    await this.flush();
    const lost = this.queued.reduce((sum, { requests }) => sum + requests, this.recentlyDropped);
    if (lost > 0) {
      this.logger.error(`The usage of ${lost} requests could not be written before the end`);
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

  /** Writes everything recorded so far, or joins the flush in flight. A failure is logged. */
  flush(): Promise<void> {
    return (this.flushing ??= this.write().finally(() => {
      this.flushing = undefined;
    }));
  }

  private async write(): Promise<void> {
    try {
      for (const batch of this.queued.slice()) {
        // It is sealed only now, so that the newest batch fills up while the database is unavailable.
        batch.isSealed = true;
        await this.journal.append(batch);
        this.queued.shift();
      }
    } catch (error) {
      if (!this.isFailing) {
        this.isFailing = true;
        this.logger.warn(`Usage cannot be written and is kept in memory: ${databaseReason(error)}`);
      }
      return;
    }
    if (this.isFailing || this.recentlyDropped > 0) {
      this.logger.warn(`Usage is written again; requests dropped meanwhile: ${this.recentlyDropped}`);
      this.isFailing = false;
      this.recentlyDropped = 0;
    }
  }
}
