import { setTimeout as pause } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { RemovalWatch } from '../deprecation/removal-watch.js';
import { FallbackCounterStore } from '../rate-limit/stores/fallback-counter-store.js';
import { Connections } from '../http/connections/connections.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { VERSION } from '../process/version.js';
import { DatabaseHealth, type DatabaseParts } from './database.health.js';
import type { Health } from './health.schema.js';
import { ReplicaRegistry } from './replica-registry.js';
import { SequenceWatch } from './sequence-watch.js';
import { MINUTE_MS } from '../process/time-units.js';

const RETRY_MS = 1000;
const REMINDER_INTERVAL_MS = MINUTE_MS;

/**
 * Checks the components of the service on request, and by itself: every second until the service is ready,
 * then every minute. Logs each reason why it is not ready once, and repeats it every minute.
 */
@Injectable()
export class Readiness implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(Readiness.name);
  private readonly stopping = new AbortController();
  /** The reasons logged since the service was last ready. */
  private readonly logged = new Set<string>();
  private loggedMs = 0;

  constructor(
    private readonly database: DatabaseHealth,
    private readonly counters: FallbackCounterStore,
    private readonly connections: Connections,
    private readonly removals: RemovalWatch,
    private readonly registry: ReplicaRegistry,
    private readonly sequences: SequenceWatch,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'COUNTER_STORE_URL'>,
  ) {}

  /** Does not wait: until the checks succeed, the service listens and reports that it is not ready. */
  onApplicationBootstrap(): void {
    void this.watch();
  }

  /** Before the pools are closed, which a check in flight would report as an outage. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  async check(): Promise<Health> {
    const database = await this.database.check();
    const ready = this.reportReadiness(database);
    const status = this.connections.isDraining ? 'draining' : ready ? 'ready' : 'not_ready';
    const { replicas } = this.registry;
    return {
      status,
      version: VERSION,
      ...(replicas !== null && { replicas: [...replicas] }),
      warnings: [
        ...this.removals.warnings,
        ...this.registry.warnings,
        ...this.sequences.warnings,
        ...this.counters.warnings,
      ],
      components: { ...database, counterStore: this.checkCounterStore() },
    };
  }

  private checkCounterStore(): Health['components']['counterStore'] {
    const kind = this.environment.COUNTER_STORE_URL === undefined ? 'postgresql' : 'redis';
    const { outage } = this.counters;
    if (outage === null) {
      return { status: 'up', kind };
    }
    const { since, error } = outage;
    const message = `the counter store is unavailable, so this replica counts locally: ${error.message}`;
    return { status: 'degraded', kind, degradedAt: since.toISOString(), message };
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const ready = this.reportReadiness(await this.database.check());
      const restMs = ready ? REMINDER_INTERVAL_MS : RETRY_MS;
      await pause(restMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Returns whether the service is ready, and logs why it is not; a shutdown is logged when it begins. */
  private reportReadiness({ database, migrations }: DatabaseParts): boolean {
    if (this.connections.isDraining || this.stopping.signal.aborted) {
      return false;
    }
    const problem = database.message ?? migrations?.message;
    if (problem === undefined) {
      if (this.logged.size > 0) {
        this.logged.clear();
        this.logger.warn('Ready');
      }
    } else if (!this.logged.has(problem) || performance.now() - this.loggedMs >= REMINDER_INTERVAL_MS) {
      this.logged.add(problem);
      this.loggedMs = performance.now();
      this.logger.error(`Not ready: ${problem}`);
    }
    return problem === undefined;
  }
}
