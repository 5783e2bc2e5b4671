import { open, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import { handOver, runPostgresCommand, type ServerAccount } from './postgres-command.js';
import { findPostmaster, removeStalePidFile } from './postmaster-pid.js';

/** Where a server lies, what runs it and as whom. All paths are absolute and without symbolic links. */
export interface ServerPlace {
  dataFolder: string;
  clusterFolder: string;
  account: ServerAccount | null;
  binaries: PostgresBinaries;
}

/** The only address the server listens on. */
export const HOST = '127.0.0.1';

const START_TIMEOUT_S = 60;
const STOP_TIMEOUT_S = 60;
const POLL_MS = 20;
const LOG_TAIL_BYTES = 4000;

/** Given at every start, so that they also hold for a cluster of an older version of this service. */
const SETTINGS = {
  listen_addresses: HOST,
  // The path of a socket has to be short, and ours may not be.
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  // Compiling costs more than it gains for statements as short as ours.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Another server was starting or stopping, or another program took the port: the next try may well succeed. */
const PASSING_TROUBLE =
  /could not bind|(lock|PID) file .* (already exists|is empty)|pre-existing shared memory block/;

/**
 * Starts the server of a cluster, and waits until it accepts connections.
 *
 * @param port a free one by default.
 * @returns null when it did, otherwise what went wrong when the next try may not meet that again.
 * @throws EmbeddedPostgresError with the end of the server's log when it will not start.
 */
export async function startServer(place: ServerPlace, port?: number): Promise<string | null> {
  const { account, binaries, clusterFolder, dataFolder } = place;
  await removeStalePidFile(clusterFolder);
  const logFile = logFileOf(place);
  const logStart = await openLog(logFile, account);
  const settings = Object.entries({ ...SETTINGS, port: port ?? (await findFreePort()) });
  const options = settings.map(([name, value]) => `-c ${name}=${value}`).join(' ');
  const result = await runPostgresCommand(
    account,
    binaries.pgCtl,
    ['start', '-w', '-t', String(START_TIMEOUT_S), '-D', clusterFolder, '-l', logFile, '-o', options],
    { cwd: dataFolder },
  );
  if (result.code === 0) {
    return null;
  }
  const log = await readLog(logFile, logStart);
  const failure =
    `Starting the embedded PostgreSQL in ${clusterFolder} failed (pg_ctl, exit code ${result.code}):\n` +
    `${result.output}\nThe end of ${logFile}:\n${log}`;
  if (PASSING_TROUBLE.test(result.output + log)) {
    return failure;
  }
  throw new EmbeddedPostgresError(failure);
}

/**
 * Stops the server with this process id, by a fast shutdown; nothing happens when it does not run any more.
 * Not by `pg_ctl stop`, which stops whatever server is there now, and goes on waiting when another process
 * starts it again at once.
 *
 * @throws EmbeddedPostgresError when it does not stop in time.
 */
export async function stopServer(place: ServerPlace, pid: number): Promise<void> {
  const { account, binaries, clusterFolder, dataFolder } = place;
  const runs = async () => (await findPostmaster(clusterFolder))?.pid === pid;
  if (!(await runs())) {
    return;
  }
  const { output } = await runPostgresCommand(account, binaries.pgCtl, ['kill', 'INT', String(pid)], {
    cwd: dataFolder,
    ownSession: true,
  });
  const deadline = Date.now() + STOP_TIMEOUT_S * 1000;
  while (await runs()) {
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        `The embedded PostgreSQL in ${clusterFolder} (process ${pid}) did not stop in ${STOP_TIMEOUT_S} s. ${output}`,
      );
    }
    await sleep(POLL_MS);
  }
}

/** The end of the server's log, for an error message. */
export function readServerLog(place: ServerPlace): Promise<string> {
  return readLog(logFileOf(place), 0);
}

function logFileOf(place: ServerPlace): string {
  return join(place.dataFolder, 'postgres.log');
}

/** Makes sure that the server can write its log and nobody else can read it; resolves to the bytes in it. */
async function openLog(logFile: string, account: ServerAccount | null): Promise<number> {
  const file = await open(logFile, 'a', 0o600);
  const { size } = await file.stat();
  await file.close();
  await handOver(logFile, account);
  return size;
}

/** The end of the log, and only what came after the byte `from`. */
async function readLog(logFile: string, from: number): Promise<string> {
  const log = await readFile(logFile).catch(() => Buffer.alloc(0));
  return log
    .subarray(Math.max(from, log.length - LOG_TAIL_BYTES))
    .toString()
    .trim();
}

/** Free a moment ago; when another program takes it before PostgreSQL does, the next try gets another. */
function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, HOST, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
