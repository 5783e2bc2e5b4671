import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { interruption } from '../interruption.js';
import { Refusal } from '../refusal.js';

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Runs git in this folder, and returns what it wrote. Ctrl-C does not end it. */
export async function git(...args: string[]): Promise<string> {
  // In a process group of its own, which a terminal does not interrupt.
  const options = { detached: true, maxBuffer: MAX_OUTPUT_BYTES };
  return (await promisify(execFile)('git', args, options)).stdout.trim();
}

/**
 * Runs a program, which writes on this terminal, to its end. An interruption ends it, and all that it
 * started.
 *
 * @throws Refusal if it fails.
 */
export async function run(program: string, ...args: string[]): Promise<void> {
  interruption.throwIfAborted();
  const child = spawn(program, args, { stdio: 'inherit', detached: true });
  const end = () => process.kill(-(child.pid as number), 'SIGTERM');
  interruption.addEventListener('abort', end);
  const [code] = await once(child, 'exit').finally(() => interruption.removeEventListener('abort', end));
  interruption.throwIfAborted();
  if (code !== 0) {
    throw new Refusal(`Failed: ${[program, ...args].join(' ')}`);
  }
}
