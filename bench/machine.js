// Pins processes to cores, and reads from /proc what they use.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Refusal } from '../dev/refusal.js';
import { locateProgram } from '../test/support/programs/programs.js';

export const SERVER_CORE = '0';
/** The core of PostgreSQL, Redis, the load and the bench itself. */
export const OTHER_CORE = '1';

const PROGRAMS = {
  wrk: 'wrk',
  'redis-server': 'redis-server',
  taskset: 'util-linux',
};
const TICK_US = 10_000;
const KIB = 1024;

/** @throws Refusal when the machine cannot run the bench. */
export function requireMachine() {
  if (process.platform !== 'linux' || availableParallelism() < 2) {
    throw new Refusal('The bench needs Linux and two cores, because it pins processes and reads /proc.');
  }
  for (const [program, debian] of Object.entries(PROGRAMS)) {
    if (locateProgram(program) === undefined) {
      throw new Refusal(`The bench needs ${program}: \`apt-get install ${debian}\`.`);
    }
  }
}

/** Moves a process, its threads and its children, present and future, to a core. */
export function moveToCore(core, pid) {
  for (const each of processTree(pid)) {
    try {
      execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', core, String(each)], {
        stdio: 'ignore',
      });
    } catch {
      // The process has ended.
    }
  }
}

/** Returns the microseconds of CPU that a process and all below it have used, ended children included. */
export function cpuUs(pid) {
  const ticks = processTree(pid).map((each) => {
    const stat = read(`/proc/${each}/stat`);
    // utime, stime, cutime and cstime of proc_pid_stat(5); the name in parentheses may contain anything.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
    return fields.reduce((sum, field) => sum + Number(field), 0);
  });
  return ticks.reduce((sum, each) => sum + each, 0) * TICK_US;
}

/** Returns the megabytes of memory that a process holds. */
export function residentMb(pid) {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return (Number(kib) * KIB) / 1e6;
}

function processTree(pid) {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
  return [pid, ...children.map(Number).flatMap(processTree)];
}

/** Returns the text of a file, empty when its process has ended. */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
