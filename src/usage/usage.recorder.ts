import { randomUUID } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../clock.js';
import { databaseReason } from '../database/availability.js';
import { operationOf } from '../http/request-path.js';
import { type AnsweredRequest, Tally } from './tally.js';
import { type UsageBatch, UsageJournal } from './usage.journal.js';

/** Half of the second that usage may be late, or lost by a crash; the other half is the statement's. */
const FLUSH_INTERVAL_MS = 500;
/** Few enough for a statement that takes a moment only. */
const ENTRIES_PER_BATCH = 2_000;
/** What may wait while the database is away: 50 000 entries, which take about 15 MB. */
const MAX_WAITING_BATCHES = 25;

/**
 * Records what known clients ask for: adds it up in memory, and appends it to the journal in batches, beside the way of the requests.
 * A batch that could not be written, or of which nobody knows whether it was, is tried again as it is.
 */
@Injectable()
export class UsageRecorder implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(UsageRecorder.name);
  /** Stands for this process in the database, which knows by it which batches it has. */
  private readonly id = randomUUID();
  private gathering = new Tally(ENTRIES_PER_BATCH);
  /** Full, or tried already; the oldest first. */
  private readonly sealed: UsageBatch[] = [];
  private batchNumber = 0;
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | null = null;
  private failing = false;
  /** Requests that found no room. */
  leftOut = 0;
  /** Requests that found no room since recording last worked. */
  private unrecorded = 0;

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
    // The first may be one that was under way already, and knows nothing of what was answered since.
    await this.flush();
    await this.flush();
    const lost = this.waitingRequests() + this.unrecorded;
    if (lost > 0) {
      this.logger.error(`The usage of ${lost} requests could not be written before the end`);
    } else if (this.batchNumber > 0) {
      await this.foldAtEnd();
    }
  }

  /** Entries that are not in the journal yet. */
  get waitingEntries(): number {
    return [...this.sealed, this.gathering].reduce((sum, { entries }) => sum + entries.length, 0);
  }

  /** Records a request whose answer is made, if its key is known to be valid. */
  record(request: FastifyRequest, { statusCode }: FastifyReply): void {
    const client = request.authentication?.principal;
    if (client) {
      this.count({
        client,
        operation: operationOf(request),
        deprecated: request.routeOptions.config.deprecation !== undefined,
        status: statusCode,
        // The minute of its usage is the one whose window it was counted in, unless the counter store was away.
        atMs: request.decision?.nowMs ?? this.clock.now(),
      });
    }
  }

  /** Writes what was recorded until now, or joins the writing that is under way. Never rejects: a failure is logged. */
  flush(): Promise<void> {
    this.underWay ??= this.write().finally(() => {
      this.underWay = null;
    });
    return this.underWay;
  }

  private count(request: AnsweredRequest): void {
    if (this.gathering.add(request)) {
      return;
    }
    if (this.sealed.length < MAX_WAITING_BATCHES - 1) {
      this.seal();
      this.gathering.add(request);
      return;
    }
    this.leftOut += 1;
    this.unrecorded += 1;
    if (this.unrecorded === 1) {
      const entries = MAX_WAITING_BATCHES * ENTRIES_PER_BATCH;
      this.logger.error(
        `No more usage is recorded than fits the ${entries} entries which wait for the database; how many requests are left out is told once it is back`,
      );
    }
  }

  private async write(): Promise<void> {
    try {
      // What a failed attempt left goes first; what was gathered meanwhile goes right behind it.
      await this.writeSealed();
      this.seal();
      await this.writeSealed();
    } catch (error) {
      if (!this.failing) {
        this.failing = true;
        this.logger.warn(`Usage cannot be written, and waits until it can: ${databaseReason(error)}`);
      }
      return;
    }
    if (this.failing || this.unrecorded > 0) {
      const leftOut = this.unrecorded === 0 ? '' : `; ${this.unrecorded} requests were not recorded`;
      this.logger.warn(`Usage is written again${leftOut}`);
      this.failing = false;
      this.unrecorded = 0;
    }
  }

  private async writeSealed(): Promise<void> {
    for (let batch = this.sealed[0]; batch !== undefined; batch = this.sealed[0]) {
      await this.journal.append(batch);
      this.sealed.shift();
    }
  }

  private seal(): void {
    if (this.gathering.entries.length > 0) {
      this.batchNumber += 1;
      this.sealed.push({
        recorderId: this.id,
        number: this.batchNumber,
        entries: this.gathering.entries,
      });
      this.gathering = new Tally(ENTRIES_PER_BATCH);
    }
  }

  /** What is journaled is safe, but a release without a journal would not see it. No longer than one statement takes. */
  private async foldAtEnd(): Promise<void> {
    try {
      await this.journal.foldSome();
    } catch (error) {
      this.logger.warn(`Usage stays in the journal for now: ${databaseReason(error)}`);
    }
  }

  private waitingRequests(): number {
    return [...this.sealed, this.gathering]
      .flatMap(({ entries }) => entries)
      .reduce(
        (sum, entry) => sum + entry.succeeded + entry.redirected + entry.clientErrors + entry.serverErrors,
        0,
      );
  }
}
