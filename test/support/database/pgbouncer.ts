import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { documented } from '../documented-commands.js';
import { until } from '../eventually.js';
import getPort from 'get-port';

const PGBOUNCER = '/usr/sbin/pgbouncer';
const NOBODY = 65_534;

/** The documented settings of pooling. */
export const DOCUMENTED = documented('operating.md', 'PgBouncer');

export interface PgBouncer {
  /** The address of the database behind it. */
  url: string;
  stop(): Promise<void>;
}

/** Tests with the PgBouncer of Debian. Skipped if there is none, but not in CI. */
export function describeOnPgBouncer(name: string, tests: () => void): void {
  if (existsSync(PGBOUNCER)) {
    describe(name, tests);
  } else if (process.env['CI'] !== undefined) {
    throw new Error(`No PgBouncer of Debian at ${PGBOUNCER}: install the package pgbouncer`);
  } else {
    process.stderr.write('Skipped: no PgBouncer of Debian on this machine (package pgbouncer).\n');
    describe.skip(name, tests);
  }
}

/** Starts a PgBouncer in front of a database, not as root, which it rejects. */
export async function startPgBouncer(databaseUrl: string, pooling = DOCUMENTED): Promise<PgBouncer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pgbouncer-'));
  if (process.getuid?.() === 0) {
    await chown(folder, NOBODY, NOBODY);
  }
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const listenPort = await getPort({ host: '127.0.0.1' });
  const settings = path.join(folder, 'pgbouncer.ini');
  await writeFile(
    settings,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
${pooling}`,
  );
  const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  const command = [...(process.getuid?.() === 0 ? asNobody : []), PGBOUNCER, settings];
  const [program = PGBOUNCER, ...args] = command;
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  await until(() => {
    if (child.exitCode !== null) {
      throw new Error(`PgBouncer did not start:\n${log}`);
    }
    return log.includes('process up');
  });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${listenPort}`;
  return {
    url: url.href,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
