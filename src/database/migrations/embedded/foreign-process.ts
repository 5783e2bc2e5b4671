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
  const lock = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(nullIf('ENOENT'));
  const [pid = '', folder = ''] = (lock ?? '').split('\n');
  const command = /^\d+$/.test(pid) ? await readCommand(pid) : null;
  // The server has its data folder as an argument, and writes it into the file. A zombie has no arguments.
  return command === null || command.includes(folder) ? null : Number(pid);
}

async function readCommand(pid: string): Promise<string | null> {
  if (process.platform === 'linux') {
    return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(nullIf('ENOENT', 'ESRCH'));
  }
  // On Windows, PostgreSQL itself finds out whether the process is one of its own.
  const ps =
    process.platform === 'win32' ? null : promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', pid]);
  // `ps` exits with 1 if there is no such process.
  return (await ps?.then(({ stdout }) => stdout).catch(nullIf(1))) || null;
}

/** Returns a handler of errors: null for those with one of these codes; it throws any other. */
function nullIf(...codes: unknown[]) {
  return (error: { code?: unknown }): null => {
    if (codes.includes(error.code)) {
      return null;
    }
    throw error;
  };
}
