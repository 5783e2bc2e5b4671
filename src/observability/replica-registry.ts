import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { isSchemaFault } from '../database/availability.js';
import { PeriodicDatabaseTask } from '../database/periodic-task.js';
import { PrismaService } from '../database/prisma.service.js';
import { loadSql, namedStatement } from '../database/statement.js';
import { declareTables } from '../database/tables.js';
import { VERSION } from '../settings/version.js';
import type { Health, Replica } from './health.schema.js';

declareTables({ replicas: { privileges: 'SELECT, INSERT, UPDATE, DELETE' } });

const INTERVAL_MS = 5000;
const REPORT = loadSql<
  Omit<Replica, 'startedAt' | 'lastSeenAt'> & { startedAtMs: number; lastSeenAtMs: number }
>(import.meta.url, 'report-replica');
const REMOVE = namedStatement('remove-replica', 'DELETE FROM replicas WHERE id = $1::uuid');

/**
 * Reports to the other replicas on the database that this one serves, and its version, every five seconds;
 * and reads theirs.
 */
@Injectable()
export class ReplicaRegistry extends PeriodicDatabaseTask implements OnApplicationBootstrap {
  /** The replicas that serve, this one included, at the last report; null if that failed. */
  replicas: readonly Replica[] | null = null;
  private readonly id = randomUUID();
  private loggedVersions = VERSION;

  constructor(private readonly prisma: PrismaService) {
    super(INTERVAL_MS, () => this.report(), 'This replica could not report that it serves');
  }

  /** The versions that serve, each once. */
  get versions(): string[] {
    return [...new Set(this.replicas?.map(({ version }) => version))].toSorted();
  }

  /** A warning while replicas of several versions serve. */
  get warnings(): Health['warnings'] {
    const versions = this.versions.join(' and ');
    const message =
      `Replicas of the versions ${versions} serve together. Use what only one of these versions has once ` +
      'all replicas have it.';
    return this.versions.length > 1 ? [{ code: 'versions_mixed', message }] : [];
  }

  /** Does not wait: the service starts without its database too. */
  onApplicationBootstrap(): void {
    this.task.runNow();
  }

  override async onApplicationShutdown(): Promise<void> {
    await super.onApplicationShutdown();
    // Without the database, its row expires.
    await this.prisma.execute(REMOVE, this.id).catch(() => {});
  }

  /**
   * Reports once that this replica serves, and reads the others. Returns false: there is nothing more to do.
   *
   * @throws the database's error, unless a migration is pending.
   */
  async report(): Promise<false> {
    this.replicas = await this.readAll().catch((error: unknown) => {
      this.replicas = null;
      if (isSchemaFault(error)) {
        // The health check logs what the database lacks.
        return null;
      }
      throw error;
    });
    this.logVersions();
    return false;
  }

  private async readAll(): Promise<Replica[]> {
    const values = [this.id, VERSION, hostname(), process.uptime()];
    const rows = await this.prisma.query(REPORT, ...values);
    return rows.map(({ startedAtMs, lastSeenAtMs, ...replica }) => ({
      ...replica,
      startedAt: new Date(startedAtMs).toISOString(),
      lastSeenAt: new Date(lastSeenAtMs).toISOString(),
    }));
  }

  /** Logs each change of the versions that serve. */
  private logVersions(): void {
    const versions = this.versions.join(', ');
    if (this.replicas !== null && versions !== this.loggedVersions) {
      this.loggedVersions = versions;
      this.logger.warn(`Replicas of these versions serve now: ${versions}`);
    }
  }
}
