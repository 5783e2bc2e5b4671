import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Runs a program of this machine to its end, and returns what it wrote on standard output. */
export async function command(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: MAX_OUTPUT_BYTES });
  return stdout.trim();
}
