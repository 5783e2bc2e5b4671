import { spawn } from 'node:child_process';
import path from 'node:path';
import { until } from '../eventually.js';
import { send } from '../http/http.js';
import { type Ended, KeptOutput } from '../programs/kept-output.js';

export type { Ended };

const ROOT = path.join(__dirname, '..', '..', '..');
const PSEUDO_TERMINAL = path.join(__dirname, 'pseudo-terminal.py');
const PATIENCE_MS = 30_000;

/** Settings of this machine that the service must not inherit. */
export const CLEAN = {
  DATABASE_URL: '',
  DIRECT_DATABASE_URL: '',
  COUNTER_STORE_URL: '',
  APP_ENV: '',
  NODE_ENV: '',
  HOST: '',
  PORT: '0',
  METRICS_PORT: '',
  OTEL_EXPORTER_OTLP_ENDPOINT: '',
  LOG_LEVEL: 'info',
};

/** The terminal of a process. */
interface TerminalOptions {
  columns: number;
  /** The text typed at each prompt. */
  input?: string;
}

/** The built service, or one of its commands, as a process. */
export class ServiceProcess extends KeptOutput {
  /**
   * @param script below `dist`; of another build, its whole path.
   * @param terminal to run it on one, whose whole output is then on standard output.
   */
  constructor(
    script: string,
    env: Record<string, string>,
    args: string[] = [],
    terminal: TerminalOptions | null = null,
  ) {
    const node = [process.execPath, '--max-old-space-size=512', path.resolve(ROOT, 'dist', script), ...args];
    const [command = '', ...rest] = [...(terminal === null ? [] : onTerminal(terminal)), ...node];
    super(
      spawn(command, rest, {
        env: { ...process.env, ...CLEAN, ...env },
        // A group of its own, as a terminal gives it: Ctrl-C reaches the whole group.
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  }

  /** Returns the address on which it listens. */
  async listening(): Promise<string> {
    const match = await this.waitForOutput(/Animal Store listens on (http:\/\/[^\s,]+)/);
    return match[1] ?? '';
  }

  /** Returns the address on which it listens, once it is ready. */
  async ready(): Promise<string> {
    const url = await this.listening();
    await until(async () => (await send(`${url}/readyz`)).status === 200);
    return url;
  }

  /** Waits until standard output matches, and returns the match. */
  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match !== null) {
        return match;
      }
      const ended = await Promise.race([this.ended, new Promise((resolve) => setTimeout(resolve, 20, null))]);
      if (ended !== null || Date.now() > deadline) {
        throw new Error(`The process never wrote ${String(pattern)}:\n${this.stdout}\n${this.stderr}`);
      }
    }
  }

  kill(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }

  /** Sends SIGINT to every process of the group, as Ctrl-C does. */
  interrupt(): Promise<Ended> {
    process.kill(-this.pid, 'SIGINT');
    return this.ended;
  }
}

function onTerminal({ columns, input = '' }: TerminalOptions): string[] {
  return ['python3', PSEUDO_TERMINAL, String(columns), input];
}

/** Runs a command of the service to its end. */
export function run(script: string, env: Record<string, string>, ...args: string[]): Promise<Ended> {
  return new ServiceProcess(script, env, args).ended;
}
