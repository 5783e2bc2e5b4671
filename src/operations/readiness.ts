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
import { Connections } from '../http/connections.js';
import { CounterStoreHealth } from './counter-store.health.js';
import { DatabaseHealth } from './database.health.js';

/** Whoever asks within this time gets the same answer: nobody needs a key to ask. */
const ANSWER_LIFE_MS = 1000;
const REMINDER_INTERVAL_MS = 60_000;

/** Whether this replica should be sent requests, and how its parts are. */
export interface Standing {
  isReady: boolean;
  parts: HealthIndicatorResult;
  isDraining: boolean;
  /** Why it should not be sent any, in words. */
  reasons: string[];
}

/**
 * Asks the parts of the service how they are: when it is asked, and by itself every minute, or every second from the start until it
 * is ready. Why it is not is told to the log: each reason once, and from time to time.
 */
@Injectable()
export class Readiness implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Readiness.name);
  private readonly stopping = new AbortController();
  private last: { answer: Promise<HealthCheckResult>; askedMs: number } | null = null;
  /** The reasons told since the service was ready last, and when the last was. */
  private readonly told = new Set<string>();
  private toldMs = 0;

  constructor(
    private readonly health: HealthCheckService,
    private readonly database: DatabaseHealth,
    private readonly counterStore: CounterStoreHealth,
    private readonly connections: Connections,
  ) {}

  /** Nobody waits for it: the service listens already, and says that it is not ready. */
  onApplicationBootstrap(): void {
    void this.watch();
  }

  onApplicationShutdown(): void {
    this.stopping.abort();
  }

  /** Takes no longer than the slowest part. */
  async check(): Promise<Standing> {
    const nowMs = performance.now();
    if (this.last === null || nowMs - this.last.askedMs >= ANSWER_LIFE_MS) {
      const answer = this.ask([() => this.database.check(), () => this.counterStore.check()]);
      this.last = { answer, askedMs: nowMs };
    }
    return this.judge(await this.last.answer);
  }

  /** What counts is degraded without its store, not unready, and so is not asked here. */
  private async watch(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const { isReady } = this.judge(await this.ask([() => this.database.check()]));
      const restMs = isReady ? REMINDER_INTERVAL_MS : ANSWER_LIFE_MS;
      await pause(restMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  private async ask(indicators: HealthIndicatorFunction[]): Promise<HealthCheckResult> {
    try {
      return await this.health.check(indicators);
    } catch (error) {
      if (error instanceof ServiceUnavailableException) {
        return error.getResponse() as HealthCheckResult;
      }
      throw error;
    }
  }

  private judge({ status, details }: HealthCheckResult): Standing {
    const { isDraining } = this.connections;
    const isWell = status === 'ok' || status === 'degraded';
    const down = Object.values(details).filter((part) => part.status === 'down');
    const reasons = [
      ...(isDraining ? ['this replica is shutting down'] : []),
      ...down.map(({ message }) => String(message)),
    ];
    const standing = { isReady: isWell && !isDraining, parts: details, isDraining, reasons };
    this.tell(standing);
    return standing;
  }

  /** Of a shutdown the log is told by who begins it. */
  private tell({ isReady, isDraining, reasons }: Standing): void {
    const faults = reasons.join('; ');
    const isDue = !this.told.has(faults) || performance.now() - this.toldMs >= REMINDER_INTERVAL_MS;
    if (isReady && this.told.size > 0) {
      this.told.clear();
      this.logger.warn('Ready');
    } else if (!isReady && !isDraining && isDue) {
      this.told.add(faults);
      this.toldMs = performance.now();
      this.logger.error(`Not ready: ${faults}`);
    }
  }
}
