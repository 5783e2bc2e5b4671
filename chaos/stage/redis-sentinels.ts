import { SentinelGroup } from '../../test/support/programs/sentinel-group.js';
import { type Failover, type FailoverGroup, FailoverWatch } from './failover-watch.js';
import type { Guard } from './guard.js';
import { READY_DEADLINE_MS, type Server } from './server.js';

const NAME = 'redis';

/**
 * A Redis whose master three Sentinels replace. A fault of the server or the link hits the current master,
 * for all others: replicas, Sentinels and the other servers.
 */
export class RedisSentinels implements Server, FailoverGroup {
  readonly name = NAME;
  /** The port of the server that the last fault happened to. */
  private target: number;

  private constructor(
    private readonly group: SentinelGroup,
    private readonly watch: FailoverWatch<number>,
    private readonly guard: Guard,
  ) {
    this.target = watch.primary;
    group.processes().forEach((pid, name) => guard.watch(name, pid));
  }

  static async create(guard: Guard): Promise<RedisSentinels> {
    const group = await SentinelGroup.start('chaos');
    const watch = new FailoverWatch(NAME, await group.masterPort(), async (found) => {
      const port = await group.masterPort();
      // A promoted server counts as the master once it has a replica, because the former master has no
      // replica then. It closes its connections when it is promoted.
      return port === found || (await group.acceptsWrites().catch(() => false)) ? port : undefined;
    });
    await group.onFailover(() => watch.announce());
    return new RedisSentinels(group, watch, guard);
  }

  /** The setting `COUNTER_STORE_URL`. */
  get url(): string {
    return this.group.url;
  }

  get proxy() {
    return this.group.at(this.watch.primary).address;
  }

  /** Starts the server that was killed, once another is the master: it has lost its counts. */
  async start(): Promise<void> {
    await this.watch.replaced(this.target);
    await this.group.restart(this.target);
    this.guard.watch(`server ${this.target}`, this.group.at(this.target).server.pid);
  }

  async kill(): Promise<void> {
    this.target = this.watch.primary;
    this.guard.forget(`server ${this.target}`);
    await this.group.kill(this.target);
  }

  async freeze(): Promise<void> {
    this.target = this.watch.primary;
    this.group.at(this.target).server.pause();
  }

  async goOn(): Promise<void> {
    this.group.at(this.target).server.goOn();
  }

  async failOver(): Promise<void> {
    this.target = this.watch.primary;
    await this.group.failOver();
    await this.watch.replaced(this.target);
  }

  /** Waits until a master has all its replicas. */
  async settle(): Promise<Failover[]> {
    await this.group.settle(READY_DEADLINE_MS);
    return this.watch.settle();
  }

  async close(): Promise<void> {
    await this.watch.close();
    await this.group.stop();
  }
}
