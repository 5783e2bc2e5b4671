import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { databaseReason } from '../database/availability.js';
import { PeriodicTask } from '../database/periodic-task.js';
import { loadSql, QueryRunner } from '../database/query-runner.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { Clock } from '../settings/clock.js';

const WRITE = loadSql(import.meta.url, 'write-heartbeat');
const DELETE = loadSql(import.meta.url, 'delete-replica');
const INTERVAL_MS = 5000;
/** The maximum time by which the deletion delays a shutdown. */
const DELETE_TIMEOUT_MS = 1000;

/**
 * Writes this replica into the table `replicas` every five seconds, and deletes it at shutdown. It logs one line when a heartbeat fails, and
 * one when heartbeats are written again.
 */
@Injectable()
export class ReplicaHeartbeat implements OnModuleInit, OnApplicationShutdown {
  /** Identifies this process in the table. */
  readonly id = randomUUID();
  private readonly logger = new Logger(ReplicaHeartbeat.name);
  private readonly startMs = performance.now();
  private readonly task: PeriodicTask;
  private isListed = false;
  private isFailing = false;

  constructor(
    private readonly queries: QueryRunner,
    private readonly counters: FallbackCounterStore,
    private readonly clock: Clock,
  ) {
    this.task = new PeriodicTask(
      INTERVAL_MS,
      async () => {
        await this.beat();
        return false;
      },
      () => {},
    );
  }

  onModuleInit(): void {
    this.task.start();
  }

  /** NestJS calls this before it disconnects Prisma, whose module is global. */
  async onApplicationShutdown(): Promise<void> {
    await this.task.stop();
    // While the database is away, the row stays, and its time shows that it is old.
    if (this.isListed && !this.isFailing) {
      await this.queries.run(DELETE, [this.id], DELETE_TIMEOUT_MS).catch(() => {});
    }
  }

  /**
   * Writes one heartbeat.
   *
   * @throws the database's error, which is logged unless the last heartbeat failed too.
   */
  async beat(): Promise<void> {
    const ageMs = performance.now() - this.startMs;
    const { countsLocallySince } = this.counters;
    try {
      const values = [this.id, hostname(), ageMs, countsLocallySince, this.clock.storeOffsetMs];
      await this.queries.run(WRITE, values);
    } catch (error) {
      if (!this.isFailing) {
        this.isFailing = true;
        this.logger.warn(`The heartbeat of this replica cannot be written: ${databaseReason(error)}`);
      }
      throw error;
    }
    this.isListed = true;
    if (this.isFailing) {
      this.isFailing = false;
      this.logger.warn('The heartbeat of this replica is written again');
    }
  }
}
