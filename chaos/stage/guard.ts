import type { ChildProcess } from 'node:child_process';
import { runScript } from '../processes.js';
import type { Guarded } from './guardian.js';

/** Reports to a guardian process what must not outlive this one, even if that is killed. */
export class Guard {
  private readonly guardian: ChildProcess = runScript('stage/guardian.ts');
  private readonly pids = new Map<string, number>();
  private readonly folders: string[] = [];

  /** Guards the process that runs under a name now, in place of an earlier one. */
  watch(name: string, pid: number): void {
    this.pids.set(name, pid);
    this.report();
  }

  /** Removes a process that has ended, because its number may be given to another. */
  forget(name: string): void {
    this.pids.delete(name);
    this.report();
  }

  removeAtEnd(folder: string): void {
    this.folders.push(folder);
    this.report();
  }

  close(): void {
    this.guardian.disconnect();
  }

  private report(): void {
    const guarded: Guarded = { pids: [...this.pids.values()], folders: this.folders };
    this.guardian.send(guarded);
  }
}
