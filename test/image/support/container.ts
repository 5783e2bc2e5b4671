import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Network } from './network.js';

const STOP_GRACE_MS = 20_000;

/** The options of a container. */
export interface ContainerOptions {
  network: Network;
  /** By this name the others find it. */
  service: string;
  /** The files it sees as `/`. */
  root: string;
  command: string[];
  workingDir?: string;
  env?: Record<string, string>;
  /** User and group, by number. */
  user?: number;
  /** Whether its files can be written. */
  writable?: boolean;
  /** Folders in memory. */
  tmpfs?: string[];
  /** What it sees of this machine besides: its path there, by its path in the container. */
  files?: Record<string, string>;
  /** Likewise, and may be written. */
  folders?: Record<string, string>;
}

/** How a process ended, and what it said. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command as a container engine does: with its own files, processes, network and host name, as process 1, as its user, and
 * without any right of root. (`buildah run` can neither make the files read-only nor pass signals on.)
 */
export class Container {
  private stdout = '';
  private stderr = '';
  readonly ended: Promise<Ended>;
  private hasEnded = false;

  private constructor(
    child: ChildProcess,
    private readonly options: ContainerOptions,
    readonly address: string,
    namespace: string,
    private readonly processId: Promise<number>,
  ) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(child, 'close').then(async ([code]) => {
      this.hasEnded = true;
      await options.network.leave({ namespace, address });
      return { code, stdout: this.stdout, stderr: this.stderr };
    });
  }

  static async start(options: ContainerOptions): Promise<Container> {
    const { network, root, service, writable = false, tmpfs = [], folders = {} } = options;
    const files = { ...network.files, ...options.files };
    if (root !== '/') {
      await Promise.all(Object.keys(files).map((file) => makeMountPoint(path.join(root, file))));
    }
    const { namespace, address } = await network.join(service);
    const sandbox = [
      '--unshare-pid',
      '--unshare-ipc',
      '--unshare-uts',
      '--as-pid-1',
      '--die-with-parent',
      '--hostname',
      service,
      '--info-fd',
      '3',
      writable ? '--bind' : '--ro-bind',
      root,
      '/',
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      ...tmpfs.flatMap((folder) => ['--perms', '1777', '--tmpfs', folder]),
      ...Object.entries(files).flatMap(([inside, outside]) => ['--ro-bind', outside, inside]),
      ...Object.entries(folders).flatMap(([inside, outside]) => ['--bind', outside, inside]),
      '--chdir',
      options.workingDir ?? '/',
      '--clearenv',
      ...variables(options).flatMap(([name, value]) => ['--setenv', name, value]),
    ];
    const child = spawn(
      'ip',
      ['netns', 'exec', namespace, 'bwrap', ...sandbox, '--', ...asUser(options.user), ...options.command],
      { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] },
    );
    const processId = readProcessId(child.stdio[3] as Readable);
    // Reported to the caller that awaits it.
    processId.catch(() => {});
    return new Container(child, options, address, namespace, processId);
  }

  get isRunning(): boolean {
    return !this.hasEnded;
  }

  get said(): string {
    return this.stdout + this.stderr;
  }

  /** Runs another command in it, as `docker exec` does and health checks do. */
  async exec(...args: string[]): Promise<Ended> {
    const { options } = this;
    const child = spawn(
      'nsenter',
      [
        '--target',
        String(await this.processId),
        '--mount',
        '--pid',
        '--net',
        '--ipc',
        '--uts',
        `--wdns=${options.workingDir ?? '/'}`,
        'env',
        '-i',
        ...variables(options).map(([name, value]) => `${name}=${value}`),
        ...asUser(options.user),
        ...args,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      allOf(child.stdout),
      allOf(child.stderr),
    ]);
    return { code, stdout, stderr };
  }

  /** Ends it as engines do: who does not end on SIGTERM is killed. */
  async stop(): Promise<Ended> {
    const killing = setTimeout(() => void this.kill('SIGKILL'), STOP_GRACE_MS);
    try {
      return await (this.isRunning ? this.kill('SIGTERM') : this.ended);
    } finally {
      clearTimeout(killing);
    }
  }

  /** Sends process 1 a signal, from outside. */
  async kill(signal: NodeJS.Signals): Promise<Ended> {
    process.kill(await this.processId, signal);
    return this.ended;
  }
}

/** As engines do, who lay a layer of their own over the image. */
async function makeMountPoint(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await appendFile(file, '');
}

/**
 * Returns the id of process 1 on this machine. Bubblewrap writes it in pieces, and starts the command only once all is read.
 */
function readProcessId(information: Readable): Promise<number> {
  return new Promise((resolve, reject) => {
    let received = '';
    information.setEncoding('utf8').on('data', (part: string) => {
      received += part;
      const [, id] = /"child-pid": (\d+)\b[^]/.exec(received) ?? [];
      if (id !== undefined) {
        resolve(Number(id));
      }
    });
    information.once('close', () => reject(new Error('The container did not start')));
  });
}

function variables({ env = {} }: ContainerOptions): [string, string][] {
  return Object.entries({ PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env });
}

/** As an engine does it for `cap_drop: [ALL]` and `no-new-privileges`. The program replaces this one, as process 1. */
function asUser(user = 0): string[] {
  return [
    'setpriv',
    `--reuid=${user}`,
    `--regid=${user}`,
    '--clear-groups',
    '--bounding-set=-all',
    '--inh-caps=-all',
    '--no-new-privs',
    '--',
  ];
}

async function allOf(stream: NodeJS.ReadableStream): Promise<string> {
  let all = '';
  for await (const part of stream) {
    all += String(part);
  }
  return all;
}
