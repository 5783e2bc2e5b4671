// Which core runs what: the server has one for itself, and PostgreSQL, the load and the bench share the other.

import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { processTree } from './processes.js';

const SERVER_CORE = '0';
const OTHER_CORE = '1';

const canPin = availableParallelism() > 1 && isThere('taskset');

/** How the machine is shared out, for the report. */
export const sharing = canPin
  ? `server on core ${SERVER_CORE}; PostgreSQL and load on core ${OTHER_CORE}`
  : 'nothing is pinned to a core (that needs two of them and taskset)';

/** Whether a program is installed. */
export function isThere(program) {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The command that runs a program on the server's core. */
export function onServerCore(program, args) {
  return canPin ? ['taskset', ['-c', SERVER_CORE, program, ...args]] : [program, args];
}

/** Moves a process, its threads and its children, present and future, to the core that is not the server's. */
export function keepOffServerCore(pid) {
  if (!canPin) {
    return;
  }
  for (const each of processTree(pid)) {
    execFileSync('taskset', ['-acp', OTHER_CORE, String(each)], { stdio: 'ignore' });
  }
}
