import { setTimeout as pause } from 'node:timers/promises';
import { SentinelGroup } from '../../test/support/counters/sentinel-group.js';
import { until } from '../../test/support/eventually.js';
import { monotonicMs } from '../ledger.js';
import type { Guard } from './guard.js';
import type { Server } from './server.js';

const WATCH_INTERVAL_MS = 50;
const PATIENCE_MS = 60_000;

/** A time in which another server took over from `target`, by the monotonic clock: what was counted in it may be lost. */
export interface Failover {
  target: string;
  startMs: number;
  endMs: number;
}

/**
 * A Redis whose master three Sentinels replace. As a server, and as a link, it is the one that is master when a fault begins, for everybody:
 * replicas, Sentinels and the other servers.
 */
export class RedisSentinels implements Server {
  readonly name = 'redis';
  /** The port of the server that the last fault happened to. */
  private target: number;
  /** When Sentinels announced a failover that is not over yet. */
  private announcedMs: number | null = null;
  private failovers: Failover[] = [];
  private watching = Promise.resolve();
  private isClosed = false;

  private constructor(
    private readonly group: SentinelGroup,
    private master: number,
    private readonly guard: Guard,
  ) {
    this.target = master;
    group.processes().forEach((pid, name) => guard.watch(name, pid));
  }

  static async create(guard: Guard): Promise<RedisSentinels> {
    const group = await SentinelGroup.start('prove');
    const created = new RedisSentinels(group, await group.masterPort(), guard);
    await group.onFailover(() => (created.announcedMs ??= monotonicMs()));
    created.watching = created.watch();
    return created;
  }

  /** The setting `COUNTER_STORE`. */
  get url(): string {
    return this.group.url;
  }

  get proxy() {
    return this.group.at(this.master).address;
  }

  /** Starts the server that was killed, once another is the master: it has lost its counts. */
  async start(): Promise<void> {
    await this.waitForFailover();
    await this.group.restart(this.target);
    this.guard.watch(`server ${this.target}`, this.group.at(this.target).server.pid);
  }

  async kill(): Promise<void> {
    this.target = this.master;
    this.guard.forget(`server ${this.target}`);
    await this.group.kill(this.target);
  }

  async freeze(): Promise<void> {
    this.target = this.master;
    this.group.at(this.target).server.pause();
  }

  async goOn(): Promise<void> {
    this.group.at(this.target).server.goOn();
  }

  /** Has another server take over from the master, which works, and waits until it has. */
  async failOver(): Promise<void> {
    this.target = this.master;
    await this.group.failOver();
    await this.waitForFailover();
  }

  /** Waits until a master has all its replicas. Returns the failovers since the last call. */
  async settle(): Promise<Failover[]> {
    await this.group.settle(PATIENCE_MS);
    await until(async () => (await this.group.masterPort()) === this.master);
    return this.failovers.splice(0);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.watching;
    await this.group.stop();
  }

  private async waitForFailover(): Promise<void> {
    await until(() => this.master !== this.target, PATIENCE_MS);
  }

  /** Observes which server is the master: another is once it has a replica, because none is left then to the one before. */
  private async watch(): Promise<void> {
    const startedMs = monotonicMs();
    while (!this.isClosed) {
      const port = await this.group.masterPort();
      // A server that is promoted closes its connections.
      if (port !== this.master && (await this.group.acceptsWrites().catch(() => false))) {
        this.failovers.push({
          target: this.name,
          startMs: this.announcedMs ?? startedMs,
          endMs: monotonicMs(),
        });
        this.announcedMs = null;
        this.master = port;
      }
      await pause(WATCH_INTERVAL_MS);
    }
  }
}
