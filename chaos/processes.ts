import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import path from 'node:path';
import type { FromProcess, ToProcess } from './clients/messages.js';

export const ROOT = path.join(import.meta.dirname, '..');
export const JITI = path.join(ROOT, 'node_modules', 'jiti', 'lib', 'jiti-cli.mjs');

/** Runs a script of this folder as a process, which can exchange messages with this one and ends with it. */
export function runScript(script: string, args: string[] = [], options: ForkOptions = {}): ChildProcess {
  return fork(JITI, [path.join(import.meta.dirname, script), ...args], options);
}

/** A client, or the administrator. */
export class LoadProcess {
  private readonly process: ChildProcess;
  private readonly ended: Promise<number | null>;
  private isEnding = false;

  /** @param onFailure runs if the process ends by itself. */
  constructor(script: string, onMessage: (message: FromProcess) => void, onFailure: (error: Error) => void) {
    this.process = runScript(script);
    this.process.on('message', (message) => onMessage(message as FromProcess));
    this.ended = new Promise((resolve) => {
      this.process.on('exit', (code) => {
        resolve(code);
        if (!this.isEnding || code !== 0) {
          onFailure(new Error(`${script} ended with code ${code}`));
        }
      });
    });
  }

  send(message: ToProcess): void {
    if (this.process.connected) {
      this.process.send(message);
    }
  }

  /** Waits for the responses to its requests, and for its ledger to be written. */
  async stop(): Promise<void> {
    this.isEnding = true;
    this.send({ type: 'stop' });
    await this.ended;
  }

  kill(): void {
    this.isEnding = true;
    this.process.removeAllListeners('exit').kill('SIGKILL');
  }
}
