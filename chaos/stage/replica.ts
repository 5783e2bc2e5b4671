import { readdir } from 'node:fs/promises';
import { setPriority } from 'node:os';
import path from 'node:path';
import { type Build, THIS_BUILD } from '../../dev/release/build.js';
import { until } from '../../test/support/eventually.js';
import { send } from '../../test/support/http/http.js';
import { FAKETIME } from '../../test/support/time/faketime.js';
import { ServiceProcess } from '../../test/support/service/service-process.js';
import type { Guard } from './guard.js';
import { READY_DEADLINE_MS } from './server.js';

/**
 * Serving replicas, like clients, have a lower priority than the servers, which run on separate machines in
 * production. Starting replicas do not, so that a fault on a loaded machine is over after seconds.
 */
const PRIORITY = 5;

/** A replica of the built service, which keeps its port through all restarts. */
export class Replica {
  private process: ServiceProcess | null = null;
  /** What runs from the next start on. */
  build: Build = THIS_BUILD;

  constructor(
    readonly name: string,
    readonly port: number,
    private readonly settings: Record<string, string>,
    private readonly guard: Guard,
    private readonly priority = PRIORITY,
  ) {}

  /**
   * Starts it, and returns once it is ready.
   *
   * @param clockAheadMs how far its clock is ahead of the others, or behind if negative.
   */
  async start(clockAheadMs = 0): Promise<void> {
    const clock = {
      LD_PRELOAD: FAKETIME ?? '',
      FAKETIME: `${clockAheadMs < 0 ? '' : '+'}${clockAheadMs / 1000}s`,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const settings = { ...this.settings, PORT: String(this.port), ...(clockAheadMs !== 0 && clock) };
    const service = new ServiceProcess(path.join(this.build.folder, 'dist/main.js'), settings);
    this.process = service;
    this.guard.watch(this.name, service.pid);
    const isReady = async () =>
      (await send(`http://127.0.0.1:${this.port}/readyz`, { patienceMs: 5000 })).status === 200;
    await service.listening();
    await until(isReady, READY_DEADLINE_MS);
    // A process has a priority for each of its threads.
    for (const thread of await readdir(`/proc/${service.pid}/task`)) {
      setPriority(Number(thread), this.priority);
    }
  }

  async restart(clockAheadMs = 0): Promise<void> {
    await this.end('SIGTERM');
    await this.start(clockAheadMs);
  }

  /** Ends it by SIGKILL, or by SIGTERM in good order. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.process?.kill(signal);
    this.process = null;
    this.guard.forget(this.name);
  }

  freeze(): void {
    this.signal('SIGSTOP');
  }

  goOn(): void {
    this.signal('SIGCONT');
  }

  private signal(signal: NodeJS.Signals): void {
    if (this.process !== null) {
      process.kill(this.process.pid, signal);
    }
  }
}
