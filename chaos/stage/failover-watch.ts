import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../test/support/eventually.js';
import { monotonicMs } from '../ledger.js';
import { READY_DEADLINE_MS } from './server.js';

const WATCH_INTERVAL_MS = 100;

/**
 * A time in which another server took over from `target`, by the monotonic clock: what was counted in it may
 * be lost.
 */
export interface Failover {
  target: string;
  startMs: number;
  endMs: number;
}

/** Servers with a primary, from which another can take over. */
export interface FailoverGroup {
  readonly name: string;
  /** Has another server take over from the primary, which works, and waits until it has. */
  failOver(): Promise<void>;
  /** Waits until the group is whole. Returns the failovers since the last call. */
  settle(): Promise<Failover[]>;
}

/** Observes which server of a group is the primary. */
export class FailoverWatch<Server> {
  private readonly failovers: Failover[] = [];
  private readonly watching: Promise<void>;
  private announcedMs: number | null = null;
  private isClosed = false;

  /** @param find returns the server that is the primary; undefined while there is none. */
  constructor(
    private readonly target: string,
    private found: Server,
    private readonly find: (found: Server) => Promise<Server | undefined>,
  ) {
    this.watching = this.watch();
  }

  get primary(): Server {
    return this.found;
  }

  /** Notes that a failover begins, for one whose primary is seen until it is over. */
  announce(): void {
    this.announcedMs ??= monotonicMs();
  }

  /** Waits until another server is the primary. */
  async replaced(primary: Server): Promise<void> {
    await until(() => this.found !== primary, READY_DEADLINE_MS);
  }

  /** Waits until the primary is the one that was found. Returns the failovers since the last call. */
  async settle(): Promise<Failover[]> {
    await until(async () => (await this.find(this.found)) === this.found, READY_DEADLINE_MS);
    return this.failovers.splice(0);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.watching;
  }

  private async watch(): Promise<void> {
    let seenMs = monotonicMs();
    while (!this.isClosed) {
      const lookMs = monotonicMs();
      const primary = await this.find(this.found);
      if (primary === this.found) {
        seenMs = lookMs;
      } else if (primary !== undefined) {
        this.failovers.push({
          target: this.target,
          startMs: this.announcedMs ?? seenMs,
          endMs: monotonicMs(),
        });
        this.announcedMs = null;
        this.found = primary;
      }
      await pause(WATCH_INTERVAL_MS);
    }
  }
}
