import { PatroniCluster } from '../../test/support/programs/patroni.js';
import { type Failover, type FailoverGroup, FailoverWatch } from './failover-watch.js';
import type { Guard } from './guard.js';
import type { DatabaseServer } from './server.js';

const NAME = 'postgres';

/**
 * A PostgreSQL with a synchronous standby, which Patroni promotes when the primary is gone. A fault of the
 * server or the link hits the current primary, for all others: HAProxy, the standby and the store of
 * Patroni.
 */
export class PatroniServers implements DatabaseServer, FailoverGroup {
  readonly name = NAME;
  private target: string;

  private constructor(
    private readonly cluster: PatroniCluster,
    private readonly watch: FailoverWatch<string>,
    private readonly guard: Guard,
  ) {
    this.target = watch.primary;
  }

  static async create(guard: Guard): Promise<PatroniServers> {
    const cluster = await PatroniCluster.start();
    guard.removeAtEnd(cluster.folder);
    const primary = await cluster.primary();
    if (primary === undefined) {
      throw new Error('Patroni made no server the primary');
    }
    const watch = new FailoverWatch(NAME, primary, () => cluster.primary());
    const created = new PatroniServers(cluster, watch, guard);
    await created.settle();
    return created;
  }

  url(database: string): string {
    return this.cluster.url(database);
  }

  /** The server that is the primary now; the proxy still leads to it after a failover. */
  get proxy() {
    const { primary } = this.watch;
    let isCut = false;
    return {
      ...this.cluster.proxies(primary).postgres,
      goAway: () => {
        isCut = true;
        this.cluster.cutOff(primary);
      },
      comeBack: async () => {
        if (isCut) {
          await this.watch.replaced(primary);
        }
        await this.cluster.connectAgain(primary);
      },
    };
  }

  /** Starts the server that was killed, once the other is the primary. */
  async start(): Promise<void> {
    await this.watch.replaced(this.target);
    await this.cluster.restart(this.target);
  }

  async kill(): Promise<void> {
    this.target = this.watch.primary;
    this.guard.forget(`server ${this.target}`);
    this.guard.forget(`patroni ${this.target}`);
    await this.cluster.kill(this.target);
  }

  async freeze(): Promise<void> {
    this.target = this.watch.primary;
    await this.cluster.freeze(this.target);
  }

  /** Resumes the frozen server, which still considers itself the primary, once the other is the primary. */
  async goOn(): Promise<void> {
    await this.watch.replaced(this.target);
    this.cluster.goOn(this.target);
  }

  async failOver(): Promise<void> {
    this.target = this.watch.primary;
    await this.cluster.switchOver();
    await this.watch.replaced(this.target);
  }

  /** Waits until there are a primary and a synchronous standby. */
  async settle(): Promise<Failover[]> {
    await this.cluster.settle();
    (await this.cluster.processes()).forEach((pid, name) => this.guard.watch(name, pid));
    return this.watch.settle();
  }

  async close(): Promise<void> {
    await this.watch.close();
    await this.cluster.remove();
  }
}
