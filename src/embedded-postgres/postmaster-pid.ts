import { execFile } from 'node:child_process';
import { link, readFile, rename, stat, unlink } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

/** The state of a running PostgreSQL, from its `postmaster.pid`. */
export interface Postmaster {
  pid: number;
  /** Null until the server has opened a port. */
  port: number | null;
  /** True while the server accepts connections, until it begins to stop. */
  ready: boolean;
}

const FILE = 'postmaster.pid';
const PORT_LINE = 3;
const STATUS_LINE = 7;
/** A starting server writes the file immediately, so a file that is incomplete after this time stays so. */
const MAX_WRITE_MS = 5000;

/** Parses the text of a `postmaster.pid`. Returns null if the text is empty or incomplete. */
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
 * Returns the PostgreSQL that runs on this cluster, or null. A `postmaster.pid` of a crashed server is ignored, even if its process id
 * now belongs to another program.
 *
 * @throws the error of the file system if the file exists but cannot be read.
 */
export async function findPostmaster(clusterFolder: string): Promise<Postmaster | null> {
  const postmaster = parsePostmasterPid(await readPidFile(clusterFolder));
  return postmaster !== null && (await runsOn(clusterFolder, postmaster.pid)) ? postmaster : null;
}

/**
 * Removes a `postmaster.pid` that certainly does not belong to a server on this cluster. PostgreSQL does so itself if the process is
 * gone, but does not start if another program of the same account has the process id, or if a crash left the file empty.
 */
export async function removeStalePidFile(clusterFolder: string): Promise<void> {
  const path = join(clusterFolder, FILE);
  const text = await readPidFile(clusterFolder);
  const postmaster = parsePostmasterPid(text);
  const stale =
    postmaster === null ? (await ageMs(path)) > MAX_WRITE_MS : !(await runsOn(clusterFolder, postmaster.pid));
  if (!stale) {
    return;
  }
  // Moved first and then read again: a server that started meanwhile gets its file back.
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

/** Returns the age of a file; zero if it does not exist. */
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

/** Returns whether the process is a PostgreSQL server on this cluster. Returns true in doubt, which leaves the decision to PostgreSQL. */
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
 * Reads the command line, which every account may read. It is empty for a process that has ended but was not reaped, as can happen in a
 * container.
 */
async function linuxProcessRunsOn(clusterFolder: string, pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const words = commandLine.split('\0');
  if (basename(words[0] ?? '') !== 'postgres') {
    return false;
  }
  // The working folder of a server is its cluster, even after the folder is moved, but reading it may not be permitted. The -D of the
  // command line is the path at the start.
  const named = words[words.indexOf('-D') + 1] ?? '';
  const folder = (await identity(`/proc/${pid}/cwd`)) ?? (await identity(named));
  return folder === null || folder === (await identity(clusterFolder));
}

async function identity(folder: string): Promise<string | null> {
  const facts = await stat(folder).catch(() => null);
  return facts && `${facts.dev}:${facts.ino}`;
}

/** Returns whether a process with this id exists, of any account. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
