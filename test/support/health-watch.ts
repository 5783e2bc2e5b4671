import { setTimeout as pause } from 'node:timers/promises';
import { send } from './http.js';

const INTERVAL_MS = 100;

/** What a path of health answered, and when, by `performance.now()`. */
export interface Health {
  /** Null where no answer came. */
  status: number | null;
  askedMs: number;
  answeredMs: number;
}

/** Asks a service all the time how it is. */
export class HealthWatch {
  readonly livez: Health[] = [];
  readonly readyz: Health[] = [];
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

  private async watch(url: string, seen: Health[]): Promise<void> {
    while (!this.isOver) {
      const askedMs = performance.now();
      const answer = await send(url).catch(() => null);
      seen.push({ status: answer?.status ?? null, askedMs, answeredMs: performance.now() });
      await pause(INTERVAL_MS);
    }
  }
}
