import getPort from 'get-port';
import { documented } from '../documented-commands.js';
import { asNobody, findProgram, type Program, startProgram } from '../programs/programs.js';

const PGBOUNCER = findProgram('pgbouncer', 'pgbouncer');

/** The documented settings of pooling. */
export const DOCUMENTED = documented('operating.md', 'PgBouncer');

export interface PgBouncer extends Pick<Program, 'stop'> {
  /** The address of the database behind it. */
  url: string;
}

/** Tests with the PgBouncer of Debian. Skipped if there is none, but not in CI. */
export const describeOnPgBouncer = PGBOUNCER === undefined ? describe.skip : describe;

/** Starts a PgBouncer in front of a database, not as root, which it rejects. */
export async function startPgBouncer(databaseUrl: string, pooling = DOCUMENTED): Promise<PgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const listenPort = await getPort({ host: '127.0.0.1' });
  const settings = `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
${pooling}`;
  const { stop } = await startProgram(
    asNobody([PGBOUNCER ?? '', 'pgbouncer.ini']),
    { 'pgbouncer.ini': settings },
    (output) => output.includes('process up'),
  );
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${listenPort}`;
  return { url: url.href, stop };
}
