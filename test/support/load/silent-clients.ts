import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const SCRIPT = path.join(__dirname, 'silent-clients.py');

/** Connections whose clients send requests and read nothing, twenty from each address. */
export class SilentClients {
  private child: ChildProcess | null = null;

  /** Opens `count` connections, and sends `text` on each. */
  async open(url: string, count: number, text: string): Promise<void> {
    this.child ??= spawn('python3', [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdin, stdout } = this.child;
    stdin?.write(`${JSON.stringify({ port: Number(new URL(url).port), count, text })}\n`);
    await once(stdout ?? this.child, 'data');
  }

  /** Closes all. */
  async close(): Promise<void> {
    if (this.child !== null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      this.child = null;
      await ended;
    }
  }
}
