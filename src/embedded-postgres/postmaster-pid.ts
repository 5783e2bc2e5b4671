import { execFile } from 'node:child_process';
import { link, readFile, rename, stat, unlink } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

/** What a running PostgreSQL says of itself in `postmaster.pid`. */
export interface Postmaster {
  pid: number;
  /** Null while it has not yet opened one. */
  port: number | null;
  /** True once it accepts connections, and until it begins to stop. */
  ready: boolean;
}

const FILE = 'postmaster.pid';
const PORT_LINE = 3;
const STATUS_LINE = 7;
/** A server that starts writes the file at once; one that is not complete after this never will be. */
const LONGEST_WRITE_MS = 5000;

/** Reads the text of a `postmaster.pid`, or null when it is not (yet) one. */
export function parsePostmasterPid(text: string): Postmaster | null {
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  const port = Number(lines[PORT_LINE]);
  if (!Number.isSafeInteger(pid) || pid < 1) {
    return null;
  }
  return { pid, port: port > 0 ? port : null, ready: lines[STATUS_LINE] === 'ready' };
}

/**
 * The PostgreSQL that runs on this cluster now, or null. A `postmaster.pid` that a crash left behind counts as
 * none, even when its process id belongs to another program by now.
 *
 * @throws the error of the file system when the file is there but may not be read.
 */
export async function findPostmaster(clusterFolder: string): Promise<Postmaster | null> {
  const postmaster = parsePostmasterPid(await readPidFile(clusterFolder));
  return postmaster !== null && (await runsOn(clusterFolder, postmaster.pid)) ? postmaster : null;
}

/**
 * Removes a `postmaster.pid` that is certainly not of a server on this cluster. PostgreSQL does so itself when
 * the process is gone, but refuses to start when its id has been given to another program of the same account,
 * or when a crash left the file empty.
 */
export async function removeStalePidFile(clusterFolder: string): Promise<void> {
  const path = join(clusterFolder, FILE);
  const text = await readPidFile(clusterFolder);
  const postmaster = parsePostmasterPid(text);
  const stale =
    postmaster === null
      ? (await ageMs(path)) > LONGEST_WRITE_MS
      : !(await runsOn(clusterFolder, postmaster.pid));
  if (!stale) {
    return;
  }
  // Moved first and looked at again: a server that started meanwhile gets its file back.
  const moved = `${path}.stale-${process.pid}`;
  try {
    await rename(path, moved);
    if ((await readFile(moved, 'utf8')) !== text) {
      await link(moved, path);
    }
    await unlink(moved);
  } catch (error) {
    ignoreMissing(error);
  }
}

/** Zero for a file that is not there. */
async function ageMs(path: string): Promise<number> {
  const facts = await stat(path).catch(() => null);
  return facts === null ? 0 : Date.now() - facts.mtimeMs;
}

async function readPidFile(clusterFolder: string): Promise<string> {
  try {
    return await readFile(join(clusterFolder, FILE), 'utf8');
  } catch (error) {
    ignoreMissing(error);
    return '';
  }
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
    throw error;
  }
}

/** Whether the process is a PostgreSQL server on this cluster. In doubt it is, as PostgreSQL then decides. */
async function runsOn(clusterFolder: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) {
    return false;
  }
  if (platform() === 'linux') {
    return linuxProcessRunsOn(clusterFolder, pid);
  }
  if (platform() === 'win32') {
    return true;
  }
  const command = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(
    () => null,
  );
  return command === null || (command.stdout.includes('postgres') && command.stdout.includes(clusterFolder));
}

/**
 * Looks at the command line, which every account may read and which is empty for a process that has ended but
 * was not reaped, as happens below a container's first process.
 */
async function linuxProcessRunsOn(clusterFolder: string, pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const words = commandLine.split('\0');
  if (basename(words[0] ?? '') !== 'postgres') {
    return false;
  }
  // The working folder of a server is its cluster. It stays right when the folder is moved, but we may not
  // be allowed to see it; the -D of the command line is what pg_ctl was given.
  const named = words[words.indexOf('-D') + 1] ?? '';
  const folder = (await identity(`/proc/${pid}/cwd`)) ?? (await identity(named));
  return folder === null || folder === (await identity(clusterFolder));
}

async function identity(folder: string): Promise<string | null> {
  const facts = await stat(folder).catch(() => null);
  return facts && `${facts.dev}:${facts.ino}`;
}

/** Whether there is a process with this id, of whatever account. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
