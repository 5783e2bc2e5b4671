import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { interruption } from '../interruption.js';
import { Refusal } from '../refusal.js';

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
