import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { findOnPath } from '../programs/programs.js';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];

/** Returns the browser of this machine. Without one, its tests are skipped with a message; in CI they fail. */
export function findBrowser(): string | undefined {
  const program = findOnPath(...PROGRAMS);
  if (program === undefined && process.env['CI'] !== undefined) {
    throw new Error('No browser on this machine: install the package chromium');
  }
  if (program === undefined) {
    process.stderr.write('Skipped what needs a browser: it is not on this machine (package chromium).\n');
  }
  return program;
}

interface Message {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
}

/** A page of a real browser, controlled by the DevTools protocol over a pipe. */
export class BrowserPage {
  /** Errors and warnings in the page's console, such as violations of its content security policy. */
  readonly complaints: string[] = [];
  private readonly waiting = new Map<number, (message: Message) => void>();
  private lastId = 0;
  private sessionId: string | undefined;
  private rest = '';

  private constructor(
    private readonly child: ChildProcess,
    private readonly profile: string,
  ) {
    const pipe = child.stdio[4] as Readable;
    pipe.setEncoding('utf8').on('data', (text: string) => {
      const messages = (this.rest + text).split('\0');
      this.rest = messages.pop() ?? '';
      messages.forEach((message) => this.receive(JSON.parse(message) as Message));
    });
  }

  static async open(program: string): Promise<BrowserPage> {
    const profile = await mkdtemp(path.join(tmpdir(), 'animal-store-browser-'));
    const child = spawn(
      program,
      // Root, as in a container, has no sandbox.
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--remote-debugging-pipe',
        `--user-data-dir=${profile}`,
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    const page = new BrowserPage(child, profile);
    const { targetId } = await page.command('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await page.command('Target.attachToTarget', { targetId, flatten: true });
    page.sessionId = String(sessionId);
    await Promise.all(['Log.enable', 'Runtime.enable', 'Page.enable'].map((method) => page.command(method)));
    return page;
  }

  async goTo(url: string): Promise<void> {
    await this.command('Page.navigate', { url });
  }

  /** Sets the width of the screen and the preferred colour scheme. */
  async emulate({ width, scheme }: { width: number; scheme: string }): Promise<void> {
    const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: false };
    await this.command('Emulation.setDeviceMetricsOverride', metrics);
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.command('Emulation.setEmulatedMedia', { features });
  }

  /** Returns the value of an expression in the page, or what its promise resolves to. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.command('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      allowUnsafeEvalBlockedByCSP: false,
    });
    if (exceptionDetails !== undefined) {
      throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    }
    return (result as { value?: unknown }).value;
  }

  /** Returns a screenshot as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.command('Page.captureScreenshot');
    return Buffer.from(String(data), 'base64');
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
    await rm(this.profile, { recursive: true, force: true, maxRetries: 10 });
  }

  private command(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const id = (this.lastId += 1);
    const { sessionId } = this;
    (this.child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ result = {}, error }) =>
        error === undefined ? resolve(result) : reject(new Error(`${method}: ${error.message}`)),
      );
    });
  }

  private receive(message: Message): void {
    if (message.id !== undefined) {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
      return;
    }
    const { entry, type, exceptionDetails } = message.params ?? {};
    if (message.method === 'Log.entryAdded' && (entry as { level: string }).level !== 'verbose') {
      this.complaints.push(JSON.stringify(entry));
    }
    if (message.method === 'Runtime.exceptionThrown') {
      this.complaints.push(JSON.stringify(exceptionDetails));
    }
    if (message.method === 'Runtime.consoleAPICalled' && (type === 'error' || type === 'warning')) {
      this.complaints.push(JSON.stringify(message.params));
    }
  }
}
