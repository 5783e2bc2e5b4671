import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';
import { machineMs, type Post, type ReceivedResponse } from './post-to-receiver.js';
import type { ReceiverReply, ReceiverRequest } from './receiver-process.js';
import { WEBHOOKS_MAX } from './webhook.service.js';

/** The built module, even if this one runs from its source. */
const MODULE = fileURLToPath(new URL('../../dist/webhooks/receiver-process.js', import.meta.url));
const HEAP_MAX_MB = 64;
/** Node looks up names in half of its threads: the names of all webhooks may hang at once. */
const THREADS = 2 * WEBHOOKS_MAX;
/** What the process needs from the environment: it has no secrets of the service. */
const VARIABLE = new RegExp(
  '^(path|tz|systemroot|malloc_.*|ssl_cert_(file|dir)|openssl_(conf|modules)|ld_(library_path|preload)|' +
    'node_(options|extra_ca_certs|use_env_proxy|use_system_ca|tls_reject_unauthorized)|' +
    'node_(icu_data|no_warnings|path)|' +
    '(https?|no)_proxy|res_options|localdomain|hostaliases)$',
  'i',
);
/** Options of Node that the process does not get: it reads no file of variables, and awaits no debugger. */
const OMITTED = /^--(inspect|env-file)/;
/** Omitted options whose value may be the next argument. */
const OMITTED_WITH_NEXT = /^--(inspect-port|env-file|env-file-if-exists)$/;
const withoutOmitted = (options: string[]) =>
  options.filter((option, i) => !OMITTED.test(option) && !OMITTED_WITH_NEXT.test(options[i - 1] ?? ''));
/** The shortest time from one start to the next. */
const RESTART_MS = 5000;
/** How late a process that works may reply that there was no response in time. */
const LATE_MS = 1000;
const ERRORS_MAX_LENGTH = 1000;

/** Sends requests to receivers from a process of its own, which the first of them starts. */
export class ReceiverProcess {
  private readonly logger = new Logger('ReceiverProcess');
  private child: ChildProcess | null = null;
  private ended: Promise<unknown> = Promise.resolve();
  private startMs = -Infinity;
  private lastId = 0;
  /** What receives the reply to each request. */
  private readonly inFlight = new Map<number, (reply: ReceiverReply) => void>();

  /** Whether requests can be sent: not soon after a start whose process ended. */
  get isAvailable(): boolean {
    return this.child !== null || performance.now() - this.startMs >= RESTART_MS;
  }

  /**
   * Returns the response to a POST. If the process does not reply in time, it is killed.
   *
   * @throws an error that says why there is no response.
   */
  async post(post: Post): Promise<ReceivedResponse> {
    const child = (this.child ??= this.start());
    const id = (this.lastId += 1);
    // Timers run before replies are read, and immediates after.
    const late = () => setImmediate(() => this.inFlight.has(id) && this.killHanging(child));
    const timer = setTimeout(late, Math.max(0, post.endMs - machineMs()) + LATE_MS).unref();
    const reply = await new Promise<ReceiverReply>((resolve) => {
      this.inFlight.set(id, resolve);
      if (child.connected) {
        // A request that cannot be sent fails when the process is found to have ended.
        child.send({ id, post } satisfies ReceiverRequest, () => {});
      }
    });
    clearTimeout(timer);
    if ('failure' in reply) {
      throw new Error(reply.failure);
    }
    return reply.response;
  }

  /** Ends the process; requests in flight fail for this reason. */
  async end(reason: string): Promise<void> {
    const { child } = this;
    this.child = null;
    this.failAll(reason);
    child?.kill('SIGKILL');
    await this.ended;
  }

  private start(): ChildProcess {
    this.startMs = performance.now();
    const variables = Object.entries(process.env).filter(([name]) => VARIABLE.test(name));
    const child = fork(MODULE, {
      env: {
        ...Object.fromEntries(variables),
        NODE_OPTIONS: withoutOmitted(process.env['NODE_OPTIONS']?.split(' ') ?? []).join(' '),
        UV_THREADPOOL_SIZE: String(THREADS),
      },
      execArgv: [...withoutOmitted(process.execArgv), `--max-old-space-size=${HEAP_MAX_MB}`],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-ERRORS_MAX_LENGTH);
    });
    child.on('message', (reply: ReceiverReply) => this.receive(reply));
    this.ended = new Promise<Error | number>((resolve) => {
      child.once('close', resolve).on('error', resolve);
    }).then((end) => {
      const exit = child.signalCode ?? `exit code ${String(end)}`;
      this.onEnd(child, end instanceof Error ? end.message : exit, errors);
    });
    return child;
  }

  private receive(reply: ReceiverReply): void {
    this.inFlight.get(reply.id)?.(reply);
    this.inFlight.delete(reply.id);
  }

  private killHanging(child: ChildProcess): void {
    if (!child.killed && child.kill('SIGKILL')) {
      this.logger.warn('The process that sends webhooks hangs, so it is killed.');
    }
  }

  private onEnd(child: ChildProcess, reason: string, errors: string): void {
    if (this.child === child) {
      this.child = null;
      this.logger.warn(
        `The process that sends webhooks ended, and is started again: ${reason}\n${errors}`.trim(),
      );
    }
    this.failAll(`The process that sends webhooks ended: ${reason}`);
  }

  private failAll(failure: string): void {
    this.inFlight.forEach((_, id) => this.receive({ id, failure }));
  }
}
