import { setTimeout as pause } from 'node:timers/promises';
import { send } from '../support/http/http.js';

const INTERVAL_MS = 100;

/** A request for health, with times of `performance.now()`. */
export interface HealthCheck {
  /** Null without a response. */
  status: number | null;
  sentMs: number;
  endedMs: number;
}

/** Requests the health of a service all the time. */
export class HealthWatch {
  readonly livez: HealthCheck[] = [];
  readonly readyz: HealthCheck[] = [];
  private isOver = false;
  private readonly watching: Promise<unknown>;

  constructor(url: string) {
    this.watching = Promise.all([
      this.watch(`${url}/livez`, this.livez),
      this.watch(`${url}/readyz`, this.readyz),
    ]);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.watching;
  }

  private async watch(url: string, checks: HealthCheck[]): Promise<void> {
    while (!this.isOver) {
      const sentMs = performance.now();
      const response = await send(url).catch(() => null);
      checks.push({ status: response?.status ?? null, sentMs, endedMs: performance.now() });
      await pause(INTERVAL_MS);
    }
  }
}
