import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** How a process ended, and what it wrote. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A process whose output is kept. */
export class KeptOutput {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;

  constructor(protected readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(child, 'close').then(([code, signal]) => ({
      code,
      signal,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** What it has written so far. */
  get output(): string {
    return this.stdout + this.stderr;
  }

  get pid(): number {
    if (this.child.pid === undefined) {
      throw new Error('The process did not start');
    }
    return this.child.pid;
  }
}
