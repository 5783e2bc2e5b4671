import { until } from '../../test/support/eventually.js';
import {
  type RedisProgram,
  type RedisServer as RunningRedis,
  startRedis,
} from '../../test/support/programs/redis.js';
import type { Guard } from './guard.js';
import { READY_DEADLINE_MS, type Server } from './server.js';

/** A Redis whose counts survive a crash of its process, as operators need it. */
export class RedisServer implements Server {
  constructor(
    readonly name: string,
    private readonly program: RedisProgram,
    private running: RunningRedis,
    /** The settings of each start. */
    private readonly settings: Record<string, string>,
    private readonly guard: Guard,
  ) {
    guard.watch(name, running.pid);
  }

  /** The settings with which a server keeps its counts in a folder. */
  static settings(folder: string): Record<string, string> {
    return { dir: folder, appendonly: 'yes', appendfsync: 'everysec' };
  }

  async start(): Promise<void> {
    const { program, settings, running } = this;
    this.running = await startRedis(settings, { program, port: running.port, deadlineMs: READY_DEADLINE_MS });
    this.guard.watch(this.name, this.running.pid);
    if (this.settings['cluster-enabled'] === 'yes') {
      const info = () => this.running.operator.call('CLUSTER', 'INFO');
      await until(async () => String(await info()).includes('cluster_state:ok'), READY_DEADLINE_MS);
    }
  }

  async kill(): Promise<void> {
    this.guard.forget(this.name);
    await this.running.stop();
  }

  async freeze(): Promise<void> {
    this.running.pause();
  }

  async goOn(): Promise<void> {
    this.running.goOn();
    await this.running.operator.ping();
  }

  close(): Promise<void> {
    return this.kill();
  }
}
