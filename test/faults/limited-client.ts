import { setTimeout as pause } from 'node:timers/promises';
import { send } from '../support/http/http.js';

const REST_MS = 40;

/** A client that exceeds its limit all the time. */
export class LimitedClient {
  /** The requests that were allowed, by the end of their minute. */
  private readonly allowed = new Map<string | null, number>();
  private isOver = false;
  private readonly sending: Promise<void>;

  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {
    this.sending = this.run();
  }

  /** Stops, and returns the most requests that were allowed in one minute. */
  async stop(): Promise<number> {
    this.isOver = true;
    await this.sending;
    return Math.max(0, ...this.allowed.values());
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      const { status, headers } = await send(`${this.url}/v1/pets?limit=1`, { key: this.key });
      if (status === 200) {
        const minute = headers.get('x-ratelimit-reset');
        this.allowed.set(minute, (this.allowed.get(minute) ?? 0) + 1);
      }
      await pause(REST_MS);
    }
  }
}
