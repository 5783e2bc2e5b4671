import { setTimeout as pause } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  ServiceUnavailableException,
} from '@nestjs/common';
import {
  type HealthCheckResult,
  HealthCheckService,
  type HealthIndicatorFunction,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import { Connections } from '../server/connections.js';
import { CounterStoreHealth } from './counter-store.health.js';
import { DatabaseHealth } from './database.health.js';
import type { Health } from './health.schema.js';

/** Requests within this time share one check, as no key is needed to request it. */
const RESULT_LIFE_MS = 1000;
const REMINDER_INTERVAL_MS = 60_000;

/**
 * Checks the parts of the service on request, and by itself: every second until the service is ready, then every minute. Logs each
 * reason why it is not ready once, and repeats it every minute.
 */
@Injectable()
export class Readiness implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Readiness.name);
  private readonly stopping = new AbortController();
  private last: { result: Promise<HealthCheckResult>; startMs: number } | null = null;
  /** The reasons logged since the service was last ready, and the time of the last. */
  private readonly logged = new Set<string>();
  private loggedMs = 0;

  constructor(
    private readonly health: HealthCheckService,
    private readonly database: DatabaseHealth,
    private readonly counterStore: CounterStoreHealth,
    private readonly connections: Connections,
  ) {}

  /** Does not wait for the checks: until they succeed, the service listens and reports that it is not ready. */
  onApplicationBootstrap(): void {
    void this.watch();
  }

  onApplicationShutdown(): void {
    this.stopping.abort();
  }

  /** Checks all parts at once, or returns the result of a check that started within the last second. */
  async check(): Promise<Health> {
    const nowMs = performance.now();
    if (this.last === null || nowMs - this.last.startMs >= RESULT_LIFE_MS) {
      const result = this.run([() => this.database.check(), () => this.counterStore.check()]);
      this.last = { result, startMs: nowMs };
    }
    return this.healthOf(await this.last.result);
  }

  /** Does not check the counter store, whose absence does not affect readiness. */
  private async watch(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const { ready } = this.healthOf(await this.run([() => this.database.check()]));
      const restMs = ready ? REMINDER_INTERVAL_MS : RESULT_LIFE_MS;
      await pause(restMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  private async run(indicators: HealthIndicatorFunction[]): Promise<HealthCheckResult> {
    try {
      return await this.health.check(indicators);
    } catch (error) {
      if (error instanceof ServiceUnavailableException) {
        return error.getResponse() as HealthCheckResult;
      }
      throw error;
    }
  }

  /** Returns the health, and logs readiness if it changed. */
  private healthOf({ status, details }: HealthCheckResult): Health {
    const draining = this.connections.isDraining;
    const isWell = status === 'ok' || status === 'degraded';
    if (!draining) {
      // A shutdown is logged where it begins.
      this.log(isWell, details);
    }
    return { ready: isWell && !draining, draining, parts: details as Health['parts'] };
  }

  private log(isReady: boolean, parts: HealthIndicatorResult): void {
    const down = Object.values(parts).filter(({ status }) => status === 'down');
    const faults = down.map(({ message }) => String(message)).join('; ');
    const isDue = !this.logged.has(faults) || performance.now() - this.loggedMs >= REMINDER_INTERVAL_MS;
    if (isReady && this.logged.size > 0) {
      this.logged.clear();
      this.logger.warn('Ready');
    } else if (!isReady && isDue) {
      this.logged.add(faults);
      this.loggedMs = performance.now();
      this.logger.error(`Not ready: ${faults}`);
    }
  }
}
