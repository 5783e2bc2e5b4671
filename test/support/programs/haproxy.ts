import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import getPort from 'get-port';
import { until } from '../eventually.js';
import { isExecutable } from './programs.js';

const PROGRAM = '/usr/sbin/haproxy';

export interface Haproxy {
  url: string;
  /** Waits until it sends requests to this port. */
  sends(port: number): Promise<void>;
  stop(): Promise<void>;
}

/** Returns whether this machine has HAProxy. In CI, throws if not. */
export function hasHaproxy(): boolean {
  const isThere = isExecutable(PROGRAM);
  if (!isThere && process.env['CI'] !== undefined) {
    throw new Error(`No HAProxy of Debian at ${PROGRAM}: install the package haproxy`);
  }
  if (!isThere) {
    process.stderr.write('Skipped: no HAProxy of Debian on this machine (package haproxy).\n');
  }
  return isThere;
}

/** Starts a load balancer that checks the readiness of these ports five times a second, and retries nothing. */
export async function startHaproxy(ports: readonly number[]): Promise<Haproxy> {
  const folder = await mkdtemp(path.join(tmpdir(), 'haproxy-'));
  const [port, statisticsPort] = [await getPort({ host: '127.0.0.1' }), await getPort({ host: '127.0.0.1' })];
  const settings = path.join(folder, 'haproxy.cfg');
  await writeFile(
    settings,
    `defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout http-keep-alive 30s
  retries 0
frontend public
  bind 127.0.0.1:${port}
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter 200ms fall 1 rise 1
${ports.map((replica) => `  server ${replica} 127.0.0.1:${replica}\n`).join('')}
frontend statistics
  bind 127.0.0.1:${statisticsPort}
  stats enable
  stats uri /
`,
  );
  const child = spawn(PROGRAM, ['-db', '-f', settings], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const statistics = async () => {
    if (child.exitCode !== null) {
      throw new Error(`HAProxy ended:\n${log}`);
    }
    const response = await fetch(`http://127.0.0.1:${statisticsPort}/;csv`).catch(() => null);
    return (await response?.text()) ?? '';
  };
  return {
    url: `http://127.0.0.1:${port}`,
    sends: (replica) => until(async () => isUp(await statistics(), replica)),
    stop: async () => {
      await end(child);
      await rm(folder, { recursive: true });
    },
  };
}

/** Reads the statistics, which are CSV with the names of the columns in the first line. */
function isUp(csv: string, replica: number): boolean {
  const [names = [], ...rows] = csv.split('\n').map((line) => line.replace(/^# /, '').split(','));
  const row = rows.find((columns) => columns[names.indexOf('svname')] === String(replica));
  return row?.[names.indexOf('status')] === 'UP';
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}
