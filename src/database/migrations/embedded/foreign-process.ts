import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Returns the id that `postmaster.pid` names if it has passed to another program since the server was
 * killed; null if it is a server of this cluster, or no process.
 *
 * @throws the error of a process that cannot be examined.
 */
export async function findForeignProcess(cluster: string): Promise<number | null> {
  const [pid = '', folder = ''] = (await readLock(cluster)).split('\n');
  const command = /^\d+$/.test(pid) ? await readCommand(pid) : null;
  // The server has its data folder as an argument, and writes it into the file. A zombie has no arguments.
  return command === null || command.includes(folder) ? null : Number(pid);
}

async function readLock(cluster: string): Promise<string> {
  try {
    return await readFile(join(cluster, 'postmaster.pid'), 'utf8');
  } catch (error) {
    return nothingIf(error, 'ENOENT');
  }
}

/** Returns the command line of a process; null if there is none. */
async function readCommand(pid: string): Promise<string | null> {
  try {
    if (process.platform === 'linux') {
      return await readFile(`/proc/${pid}/cmdline`, 'utf8');
    }
    // On Windows, PostgreSQL itself finds out whether the process is one of its own.
    return process.platform === 'win32'
      ? null
      : (await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', pid])).stdout;
  } catch (error) {
    // `ps` exits with 1 if there is no such process.
    return nothingIf(error, 'ENOENT', 'ESRCH', 1) || null;
  }
}

/** Returns the empty text for an error with one of these codes. @throws any other error. */
function nothingIf(error: unknown, ...codes: unknown[]): string {
  if (error instanceof Error && 'code' in error && codes.includes(error.code)) {
    return '';
  }
  throw error;
}
