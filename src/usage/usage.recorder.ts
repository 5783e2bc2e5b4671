import { randomUUID } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../settings/clock.js';
import { databaseReason } from '../database/availability.js';
import { operationOf } from '../http/request-path.js';
import { type CompletedRequest, UsageCounts } from './rules/usage-counts.js';
import { type UsageBatch, UsageJournal } from './usage.journal.js';

/** Half of the second by which usage may be late, or that a crash may lose; the other half is for the statement. */
const FLUSH_INTERVAL_MS = 500;
/** Few enough that one statement is fast. */
const ENTRIES_PER_BATCH = 2_000;
/** The limit while the database is away: 50 000 entries, about 15 MB. */
const MAX_WAITING_BATCHES = 25;

/**
 * Records the requests of authenticated clients: counts them in memory, and appends the counts to the journal in batches, outside the
 * request path. A batch whose write failed, or has an unknown outcome, is retried unchanged.
 */
@Injectable()
export class UsageRecorder implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(UsageRecorder.name);
  /** Identifies this process in the database, so that no batch is appended twice. */
  private readonly id = randomUUID();
  private current = new UsageCounts(ENTRIES_PER_BATCH);
  /** Batches that are full, or were tried already; the oldest first. Their entries no longer change. */
  private readonly sealed: UsageBatch[] = [];
  private batchNumber = 0;
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | null = null;
  private failing = false;
  /** Requests that were not recorded because the batches were full. */
  dropped = 0;
  /** The same since the last successful write. */
  private recentlyDropped = 0;

  constructor(
    private readonly journal: UsageJournal,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** NestJS calls this after the last response, and before it disconnects Prisma, whose module is global. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    // The first may join a flush that started before the last responses.
    await this.flush();
    await this.flush();
    const lost = this.waitingRequests() + this.recentlyDropped;
    if (lost > 0) {
      this.logger.error(`The usage of ${lost} requests could not be written before the end`);
    } else if (this.batchNumber > 0) {
      await this.aggregateAtEnd();
    }
  }

  /** The number of entries that are not in the journal yet. */
  get waitingEntries(): number {
    return [...this.sealed, this.current].reduce((sum, { entries }) => sum + entries.length, 0);
  }

  /** Records a request whose response is complete, if it has a valid key. */
  record(request: FastifyRequest, { statusCode }: FastifyReply): void {
    const principal = request.authentication?.principal;
    if (principal) {
      this.count({
        principal,
        operation: operationOf(request),
        deprecated: request.routeOptions.config.deprecation !== undefined,
        status: statusCode,
        // Usage falls in the same minute as the rate-limit window, unless the counter store was away.
        atMs: request.decision?.nowMs ?? this.clock.now(),
      });
    }
  }

  /** Writes everything recorded so far, or joins the flush in flight. Never rejects: a failure is logged. */
  flush(): Promise<void> {
    this.flushing ??= this.write().finally(() => {
      this.flushing = null;
    });
    return this.flushing;
  }

  private count(request: CompletedRequest): void {
    if (this.current.add(request)) {
      return;
    }
    if (this.sealed.length < MAX_WAITING_BATCHES - 1) {
      this.seal();
      this.current.add(request);
      return;
    }
    this.dropped += 1;
    this.recentlyDropped += 1;
    if (this.recentlyDropped === 1) {
      const entries = MAX_WAITING_BATCHES * ENTRIES_PER_BATCH;
      this.logger.error(
        `Usage is no longer recorded: ${entries} entries already wait for the database; the number of lost requests is logged once it is back`,
      );
    }
  }

  private async write(): Promise<void> {
    try {
      // Batches of a failed attempt go first, then the requests counted since.
      await this.writeSealed();
      this.seal();
      await this.writeSealed();
    } catch (error) {
      if (!this.failing) {
        this.failing = true;
        this.logger.warn(`Usage cannot be written and is kept in memory: ${databaseReason(error)}`);
      }
      return;
    }
    if (this.failing || this.recentlyDropped > 0) {
      const dropped =
        this.recentlyDropped === 0 ? '' : `; ${this.recentlyDropped} requests were not recorded`;
      this.logger.warn(`Usage is written again${dropped}`);
      this.failing = false;
      this.recentlyDropped = 0;
    }
  }

  private async writeSealed(): Promise<void> {
    for (let batch = this.sealed[0]; batch !== undefined; batch = this.sealed[0]) {
      await this.journal.append(batch);
      this.sealed.shift();
    }
  }

  private seal(): void {
    if (this.current.entries.length > 0) {
      this.batchNumber += 1;
      this.sealed.push({
        recorderId: this.id,
        number: this.batchNumber,
        entries: this.current.entries,
      });
      this.current = new UsageCounts(ENTRIES_PER_BATCH);
    }
  }

  /** Runs one statement, as a release without a journal would not read what stays in it. */
  private async aggregateAtEnd(): Promise<void> {
    try {
      await this.journal.aggregateSome();
    } catch (error) {
      this.logger.warn(`Usage stays in the journal for now: ${databaseReason(error)}`);
    }
  }

  private waitingRequests(): number {
    return [...this.sealed, this.current]
      .flatMap(({ entries }) => entries)
      .reduce(
        (sum, entry) => sum + entry.succeeded + entry.redirected + entry.clientErrors + entry.serverErrors,
        0,
      );
  }
}
