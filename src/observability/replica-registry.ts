import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { isSchemaFault } from '../database/access/availability.js';
import { PeriodicTask } from '../database/batches/periodic-task.js';
import { PrismaService } from '../database/access/prisma.service.js';
import { SchemaState } from '../database/migrations/schema-state.js';
import { readServerTimeMs } from '../database/access/server-time.js';
import { Connections } from '../http/connections/connections.js';
import { MINUTE_MS } from '../process/time-units.js';
import { VERSION } from '../process/version.js';
import { DatabaseHealth } from './database.health.js';
import type { Health, Replica } from './health.schema.js';

const INTERVAL_MS = 5000;
/** A replica that reported last longer ago, or as long in the future, is gone: a clock may be set back. */
const LIFE_MS = MINUTE_MS;

/** Puts 1.9.0 before 1.10.0. */
const VERSIONS = new Intl.Collator('en', { numeric: true });
const LIST = new Intl.ListFormat('en');

/**
 * Reports to the other replicas every five seconds that this one serves, and reads their reports. A replica
 * that lacks a migration, or drains, does not serve.
 */
@Injectable()
export class ReplicaRegistry extends PeriodicTask implements OnApplicationBootstrap {
  /** The replicas that serve, this one included, at the last report; null if there was none. */
  replicas: readonly Replica[] | null = null;
  private readonly id = randomUUID();
  private isListed = false;
  private loggedVersions = VERSION;

  constructor(
    private readonly prisma: PrismaService,
    private readonly schema: SchemaState,
    private readonly health: DatabaseHealth,
    private readonly connections: Connections,
  ) {
    super(INTERVAL_MS, () => this.report(), 'This replica could not report that it serves');
  }

  get versions(): string[] {
    return [...new Set(this.replicas?.map(({ version }) => version))].toSorted(VERSIONS.compare);
  }

  get warnings(): Health['warnings'] {
    const versions = LIST.format(this.versions);
    const message =
      `Replicas of the versions ${versions} serve together. Use what only one of these versions has once ` +
      'all replicas have it.';
    return this.versions.length > 1 ? [{ code: 'versions_mixed', message }] : [];
  }

  /** Does not wait: the service starts without its database too. */
  onApplicationBootstrap(): void {
    void this.health.check().then(() => this.runNow());
  }

  override async onApplicationShutdown(): Promise<void> {
    await super.onApplicationShutdown();
    // Without the database, its row expires.
    await this.withdraw().catch(() => {});
  }

  /**
   * Reports once that this replica serves, or removes its report if it does not.
   *
   * @throws the database's error, unless a migration is pending.
   */
  async report(): Promise<void> {
    const serves = this.schema.isUsable === true && !this.connections.isDraining;
    this.replicas = await (serves ? this.readAll() : this.withdraw()).catch((error: unknown) => {
      this.replicas = null;
      if (isSchemaFault(error)) {
        // The health check logs what the database lacks.
        return null;
      }
      throw error;
    });
    this.logVersions();
  }

  /** All times are the database's. */
  private async readAll(): Promise<Replica[]> {
    this.isListed = true;
    const { id, prisma } = this;
    const nowMs = await readServerTimeMs(prisma);
    const seen = { version: VERSION, host: hostname(), lastSeenAt: new Date(nowMs) };
    const startedAt = new Date(nowMs - process.uptime() * 1000);
    await prisma.replica.upsert({ where: { id }, create: { id, startedAt, ...seen }, update: seen });
    const lastSeenAt = { gte: new Date(nowMs - LIFE_MS), lte: new Date(nowMs + LIFE_MS) };
    // Locked rows are skipped, so that no session delays the report.
    await prisma.$executeRaw`
      DELETE FROM replicas WHERE id = ANY (ARRAY(
        SELECT id FROM replicas WHERE last_seen_at NOT BETWEEN ${lastSeenAt.gte} AND ${lastSeenAt.lte}
        FOR UPDATE SKIP LOCKED))`;
    const replicas = await prisma.replica.findMany({
      where: { lastSeenAt },
      orderBy: [{ startedAt: 'asc' }, { id: 'asc' }],
    });
    return replicas.map((replica) => ({
      ...replica,
      startedAt: replica.startedAt.toISOString(),
      lastSeenAt: replica.lastSeenAt.toISOString(),
    }));
  }

  private async withdraw(): Promise<null> {
    if (this.isListed) {
      await this.prisma.replica.deleteMany({ where: { id: this.id } });
      this.isListed = false;
    }
    return null;
  }

  private logVersions(): void {
    const versions = this.versions.join(', ');
    if (this.replicas !== null && versions !== this.loggedVersions) {
      this.loggedVersions = versions;
      this.logger.warn(`Replicas of these versions serve now: ${versions}`);
    }
  }
}
