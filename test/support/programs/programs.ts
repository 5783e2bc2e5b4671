import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../eventually.js';
import { KeptOutput } from './kept-output.js';

/** Debian has the programs of administrators here; they are not on the `PATH` of others. */
const OF_ADMINISTRATORS = '/usr/sbin';
const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;

/** Returns the path of the first of these programs on this machine, if there is one. */
export const locateProgram = (...names: readonly string[]): string | undefined =>
  [...(process.env['PATH'] ?? '').split(path.delimiter), OF_ADMINISTRATORS]
    .flatMap((folder) => names.map((name) => path.join(folder, name)))
    .find((file) => isExecutable(file));

/** Returns the path of the first of these programs on this machine. Without one, logs it; in CI, throws. */
export function findProgram(debianPackage: string, ...names: readonly string[]): string | undefined {
  const program = locateProgram(...names);
  if (program === undefined) {
    reportMissing(`the package ${debianPackage}`);
  }
  return program;
}

/** Logs that tests are skipped on this machine. @throws Error in CI, where no test may be skipped. */
export function reportMissing(what: string): void {
  if (process.env['CI'] !== undefined) {
    throw new Error(`This machine lacks ${what}, which tests need`);
  }
  process.stderr.write(`Skipped what needs ${what}: this machine lacks it.\n`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the command for another account, if this process is root: some programs reject root. */
export const asNobody = (command: readonly string[]): readonly string[] =>
  IS_ROOT ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', ...command] : command;

/** Creates a temporary folder for a program that `asNobody` runs. */
export async function createFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), prefix));
  if (IS_ROOT) {
    await chown(folder, NOBODY, NOBODY);
  }
  return folder;
}

/** A program that runs in a temporary folder. */
export interface Program {
  process: ChildProcess;
  stop: (signal?: NodeJS.Signals) => Promise<void>;
}

/**
 * Starts a program in a folder of its own, with these files in it, and waits until it is ready.
 *
 * @param isReady gets what the program has written.
 * @throws Error if it ends before, or is not ready in time.
 */
export async function startProgram(
  [command = '', ...args]: readonly string[],
  files: Record<string, string>,
  isReady: (output: string) => boolean | Promise<boolean>,
  deadlineMs?: number,
): Promise<Program> {
  const folder = await createFolder(`${path.basename(command)}-`);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(folder, name), text);
  }
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const program = new KeptOutput(child);
  // What it has started itself may keep its output open.
  const exited = once(child, 'exit');
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await until(async () => child.exitCode === null && (await isReady(program.output)), deadlineMs);
  } catch (error) {
    await stop('SIGKILL');
    throw new Error(`${command} did not start:\n${program.output}`, { cause: error });
  }
  return { process: child, stop };
}
