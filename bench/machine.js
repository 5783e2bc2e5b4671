// Which core runs what: the server has one for itself, and PostgreSQL, the load and the bench share the other.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { processTree } from './processes.js';
import { Refusal } from './refusal.js';

export const SERVER_CORES = '0';
export const OTHER_CORES = '1';

export const canPin = availableParallelism() > 1 && isThere('taskset');

/** How the machine is shared out, for the report. */
export const sharing = canPin
  ? `server on core ${SERVER_CORES}, PostgreSQL and load on core ${OTHER_CORES}`
  : 'nothing is pinned to a core (that needs two of them, and taskset)';

/** Whether a program is installed. */
export function isThere(program) {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .some((folder) => existsSync(path.join(folder, program)));
}

/** @throws Refusal */
export function requireWrk() {
  if (!isThere('wrk')) {
    throw new Refusal(
      'The load comes from wrk, which is not installed: `apt-get install wrk`, or `brew install wrk`.',
    );
  }
}

/** The command that runs a program on some cores, as taskset names them. */
export function onCores(cores, program, args) {
  return canPin ? ['taskset', ['--cpu-list', cores, program, ...args]] : [program, args];
}

/** Moves a process, its threads and its children, present and future, to some cores. */
export function moveToCores(cores, pid) {
  if (!canPin) {
    return;
  }
  for (const each of processTree(pid)) {
    try {
      execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(each)], {
        stdio: 'ignore',
      });
    } catch {
      // It has ended meanwhile.
    }
  }
}
