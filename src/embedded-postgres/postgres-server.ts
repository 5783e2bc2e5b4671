import { open, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import { handOver, runPostgresCommand, type ServerAccount } from './postgres-command.js';
import { findPostmaster, removeStalePidFile } from './postmaster-pid.js';

/** The folders, account and programs of a server. All paths are absolute and without symbolic links. */
export interface ServerConfig {
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

/** Passed at every start, so that they also apply to a cluster that an older version of this service created. */
const SETTINGS = {
  listen_addresses: HOST,
  // The path of a socket must be short, and that of the data folder may be long.
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  // For short statements, compilation costs more than it saves.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Output of a failure that a retry may resolve: another server was starting or stopping, or another program took the port. */
const TEMPORARY_FAILURE =
  /could not bind|(lock|PID) file .* (already exists|is empty)|pre-existing shared memory block/;

/**
 * Starts the server of a cluster, and waits until it accepts connections.
 *
 * @param port a free port by default.
 * @returns null on success, or the message of a failure that a retry may resolve.
 * @throws EmbeddedPostgresError with the end of the server's log for any other failure.
 */
export async function startServer(config: ServerConfig, port?: number): Promise<string | null> {
  const { account, binaries, clusterFolder, dataFolder } = config;
  await removeStalePidFile(clusterFolder);
  const logFile = logFileOf(config);
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
  if (TEMPORARY_FAILURE.test(result.output + log)) {
    return failure;
  }
  throw new EmbeddedPostgresError(failure);
}

/**
 * Stops the server with this process id by a fast shutdown, if it still runs. `pg_ctl stop` would stop whatever server runs now, and
 * would keep waiting if another process restarts the server immediately.
 *
 * @throws EmbeddedPostgresError if the server does not stop in time.
 */
export async function stopServer(config: ServerConfig, pid: number): Promise<void> {
  const { account, binaries, clusterFolder, dataFolder } = config;
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

/** Returns the end of the server's log, for an error message. */
export function readServerLog(config: ServerConfig): Promise<string> {
  return readLog(logFileOf(config), 0);
}

function logFileOf(config: ServerConfig): string {
  return join(config.dataFolder, 'postgres.log');
}

/** Creates the log so that only the server's account can read and write it. Resolves to its size in bytes. */
async function openLog(logFile: string, account: ServerAccount | null): Promise<number> {
  const file = await open(logFile, 'a', 0o600);
  const { size } = await file.stat();
  await file.close();
  await handOver(logFile, account);
  return size;
}

/** Returns the end of the log, from the byte `from` at the earliest. */
async function readLog(logFile: string, from: number): Promise<string> {
  const log = await readFile(logFile).catch(() => Buffer.alloc(0));
  return log
    .subarray(Math.max(from, log.length - LOG_TAIL_BYTES))
    .toString()
    .trim();
}

/** Returns a port that is free now. If another program takes it before PostgreSQL does, the next attempt gets another. */
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
