import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually, until } from '../eventually.js';
import { freePort } from './free-port.js';
import { asNobody, createFolder, reportMissing } from './programs.js';

const DEBIAN = '/usr/lib/postgresql';
const execute = promisify(execFile);

/** The folder with the programs of the oldest version on this machine, if there is one. */
export const [POSTGRES_PROGRAMS] = (existsSync(DEBIAN) ? readdirSync(DEBIAN) : [])
  .toSorted()
  .map((major) => path.join(DEBIAN, major, 'bin'));

/** Whether this machine has it. */
export const hasDebianPostgres = POSTGRES_PROGRAMS !== undefined;

/** Tests on the PostgreSQL of Debian, which has all its programs. Skipped if there is none, but not in CI. */
export function describeOnDebianPostgres(name: string, tests: () => void): void {
  if (!hasDebianPostgres) {
    reportMissing('the package postgresql');
  }
  (hasDebianPostgres ? describe : describe.skip)(name, tests);
}

/**
 * A server of Debian's PostgreSQL, as an operator runs it: on its own, with a folder of data and a superuser.
 */
export class DebianPostgres {
  private frozen: number[] = [];

  private constructor(
    /** Of the server's account; what a test puts beside the data goes with it. */
    readonly folder: string,
    readonly port: number,
    /** The data that it starts on. A test may have it go on with others. */
    public data: string,
  ) {}

  /** A new server, which is not started yet, with lines for its `postgresql.conf`. */
  static async create(...settings: string[]): Promise<DebianPostgres> {
    const folder = await createFolder('debian-postgres-');
    const port = await freePort();
    const server = new DebianPostgres(folder, port, path.join(folder, 'data'));
    await server.shell('initdb -D "$PGDATA" -U postgres -A trust -E UTF8 --no-sync');
    await server.configure(
      'listen_addresses = localhost',
      `port = ${server.port}`,
      "unix_socket_directories = ''",
      'fsync = off',
      ...settings,
    );
    return server;
  }

  configure(...settings: string[]): Promise<void> {
    return appendFile(path.join(this.data, 'postgresql.conf'), `${settings.join('\n')}\n`);
  }

  async start(): Promise<void> {
    await this.shell(`pg_ctl -D "$PGDATA" -w -l '${this.folder}/log' start`);
  }

  async stop(): Promise<void> {
    await this.shell('pg_ctl -D "$PGDATA" -w -m fast stop');
  }

  /** Stops all of its processes with SIGSTOP. The kernel still accepts connections, but nothing responds. */
  async freeze(): Promise<void> {
    this.frozen = await freezeServer(this.data);
  }

  goOn(): void {
    this.frozen.splice(0).forEach((pid) => signal(pid, 'SIGCONT'));
  }

  /** Kills all of its processes at once, as if the machine crashed. */
  async kill(): Promise<void> {
    await this.freeze();
    const killed = this.frozen.splice(0);
    killed.forEach((pid) => process.kill(pid, 'SIGKILL'));
    await until(() => !killed.some((pid) => signal(pid, 0)));
  }

  /** The process that starts all others. */
  postmaster(): Promise<number> {
    return findPostmaster(this.data);
  }

  /** Stops it if it runs, and removes all of it. */
  async remove(): Promise<void> {
    this.goOn();
    await this.shell(
      'pg_ctl -D "$PGDATA" status >/dev/null && pg_ctl -D "$PGDATA" -w -m immediate stop || true',
    );
    await rm(this.folder, { recursive: true });
  }

  url(database = 'postgres', user = 'postgres'): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /**
   * Runs commands as the server's account, because PostgreSQL refuses to be root, with its programs at hand.
   *
   * @returns what they wrote on standard output.
   * @throws Error with what they wrote, when one of them fails.
   */
  async shell(commands: string, environment: Record<string, string> = {}): Promise<string> {
    const [program = '', ...args] = asNobody(['sh', '-euc', commands]);
    const env = {
      PATH: `${POSTGRES_PROGRAMS}:${process.env['PATH']}`,
      HOME: this.folder,
      PGDATA: this.data,
      ...environment,
    };
    const { stdout } = await execute(program, args, { env, cwd: this.folder });
    return stdout;
  }
}

/** Stops all processes of a server with SIGSTOP. Returns their identifiers. */
export async function freezeServer(data: string): Promise<number[]> {
  const postmaster = await findPostmaster(data);
  // This process first, so that it starts no others.
  process.kill(postmaster, 'SIGSTOP');
  const children = await listChildren(postmaster);
  // One may have ended.
  return [postmaster, ...children.filter((child) => signal(child, 'SIGSTOP'))];
}

/** Returns the process of a server that starts all others. Waits for one that is being restarted. */
export async function findPostmaster(data: string): Promise<number> {
  const file = await eventually(() => readFile(path.join(data, 'postmaster.pid'), 'utf8'));
  return Number(file.split('\n')[0]);
}

/** Returns the processes that a process has started. */
export async function listChildren(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(/\s+/).filter(Boolean).map(Number);
}

/** Sends a signal, or only checks if it is 0. Returns whether there is such a process. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') {
      return false;
    }
    throw error;
  }
}
