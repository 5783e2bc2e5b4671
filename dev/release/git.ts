import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.join(import.meta.dirname, '..', '..');
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Runs git in this repository, and returns what it wrote. Ctrl-C does not end it. */
export async function git(...args: string[]): Promise<string> {
  // In a process group of its own, which a terminal does not interrupt.
  const options = { cwd: ROOT, detached: true, maxBuffer: MAX_OUTPUT_BYTES };
  return (await promisify(execFile)('git', args, options)).stdout.trim();
}
