import { once } from 'node:events';
import { readFile, realpath, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, relative } from 'node:path';

/** The state of a PostgreSQL, from its `postmaster.pid`. */
export interface Postmaster {
  pid: number;
  clusterFolder: string;
  port: number;
  /** True while the server accepts connections, until it begins to stop. */
  ready: boolean;
}

/** The only address the server listens on. */
export const HOST = '127.0.0.1';

const FILE = 'postmaster.pid';

/** Parses the text of a `postmaster.pid`. Returns null if the text is empty or incomplete. */
export function parsePostmasterPid(text: string): Postmaster | null {
  const [pid, clusterFolder = '', , port, , , , status] = text.split('\n').map((line) => line.trim());
  const postmaster = { pid: Number(pid), clusterFolder, port: Number(port), ready: status === 'ready' };
  return postmaster.pid > 0 && postmaster.port > 0 ? postmaster : null;
}

/**
 * Returns the PostgreSQL that runs on this cluster, or null. Ignores the `postmaster.pid` of a crashed server, even if its process id now
 * belongs to another program, and one that was copied with the cluster of a running server.
 *
 * @throws the error of the file system if the file exists but cannot be read.
 */
export async function findPostmaster(clusterFolder: string): Promise<Postmaster | null> {
  const postmaster = await readPidFile(clusterFolder);
  return postmaster !== null && (await runsOn(clusterFolder, postmaster)) ? postmaster : null;
}

/**
 * Removes the `postmaster.pid` of a crashed server. PostgreSQL does not start if another program of the same account has the process id,
 * as is likely after the machine crashed.
 */
export async function removeStalePidFile(clusterFolder: string): Promise<void> {
  const postmaster = await readPidFile(clusterFolder);
  if (postmaster?.ready && !(await runsOn(clusterFolder, postmaster))) {
    await rm(join(clusterFolder, FILE), { force: true });
  }
}

async function readPidFile(clusterFolder: string): Promise<Postmaster | null> {
  try {
    return parsePostmasterPid(await readFile(join(clusterFolder, FILE), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return null;
    }
    throw error;
  }
}

/** A server listens from the first moments of its start until its process ends, also while it is not ready. */
async function runsOn(clusterFolder: string, postmaster: Postmaster): Promise<boolean> {
  if (relative(await realpath(clusterFolder), postmaster.clusterFolder) !== '') {
    return false;
  }
  const socket = connect(postmaster.port, HOST);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}
