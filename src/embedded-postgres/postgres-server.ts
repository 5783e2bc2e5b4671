import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { handOver, runPostgresCommand } from './postgres-command.js';
import { findPostmaster, HOST, removeStalePidFile } from './postmaster-pid.js';
import type { ServerConfig } from './server-config.js';

/** No socket, because its path would be too long in some data folders; no jit, because compilation costs more than it saves short statements. */
const SETTINGS = `-c listen_addresses=${HOST} -c unix_socket_directories= -c jit=off`;
const STOP_TIMEOUT_S = 60;
const POLL_MS = 20;

/**
 * Starts the server of a cluster, and waits until it accepts connections.
 *
 * @param port a free port by default.
 * @throws EmbeddedPostgresError with the end of the server's log.
 */
export async function startServer(config: ServerConfig, port?: number): Promise<void> {
  const { clusterFolder, dataFolder } = config;
  const logFile = join(dataFolder, 'postgres.log');
  await writeFile(logFile, '', { flag: 'a', mode: 0o600 });
  await handOver(logFile, config);
  const { size } = await stat(logFile);
  await removeStalePidFile(clusterFolder);
  const settings = `${SETTINGS} -c port=${port ?? (await findFreePort())}`;
  const start = ['start', '-w', '-D', clusterFolder, '-l', logFile, '-o', settings];
  try {
    await runPostgresCommand(config, 'pg_ctl', start);
  } catch (error) {
    const log = (await readFile(logFile)).subarray(size).toString();
    throw new EmbeddedPostgresError(
      `${(error as Error).message}\nThe end of ${logFile}:\n${log}` +
        `For data of another major version see docs/operating.md. To start empty, move ${clusterFolder} away.`,
      { cause: error },
    );
  }
}

/**
 * Stops the server with this process id by a fast shutdown. `pg_ctl stop -w` would go on waiting if another process starts the server
 * again immediately.
 *
 * @throws EmbeddedPostgresError if the server does not stop in time.
 */
export async function stopServer(config: ServerConfig, pid: number): Promise<void> {
  const { clusterFolder } = config;
  const stop = ['stop', '-m', 'fast', '-W', '-D', clusterFolder];
  // Fails if the server has already ended.
  await runPostgresCommand(config, 'pg_ctl', stop).catch(() => undefined);
  const deadline = Date.now() + STOP_TIMEOUT_S * 1000;
  while ((await findPostmaster(clusterFolder))?.pid === pid) {
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        `The embedded PostgreSQL in ${clusterFolder} (process ${pid}) did not stop in ${STOP_TIMEOUT_S} s.`,
      );
    }
    await sleep(POLL_MS);
  }
}

/** Returns a port that is free now. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
