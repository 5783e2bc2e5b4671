// What Linux tells of processes in /proc. Elsewhere nothing is told: null.

import { readFileSync } from 'node:fs';

const TICK_US = 10_000;
const KIB = 1024;

/** A process and all below it. */
export function processTree(pid) {
  const children = read(`/proc/${pid}/task/${pid}/children`) ?? '';
  return [pid, ...children.split(' ').filter(Boolean).map(Number).flatMap(processTree)];
}

/** Microseconds of CPU that a process has used, all threads together. */
export function cpuUs(pid) {
  const fields = statOf(pid);
  return fields && (fields.user + fields.system) * TICK_US;
}

/** The same of a process and all below it, those included that have ended and were waited for. */
export function cpuUsOfTree(pid) {
  const all = processTree(pid)
    .map(statOf)
    .filter((fields) => fields !== null);
  return all.length === 0
    ? null
    : all.reduce((sum, fields) => sum + fields.user + fields.system + fields.ended, 0) * TICK_US;
}

/** Microseconds that all processors were busy since the machine started, whoever had them. */
export function busyUs() {
  const fields = read('/proc/stat')?.split('\n', 1)[0].trim().split(/\s+/).slice(1).map(Number);
  if (fields === undefined) {
    return null;
  }
  const [user, nice, system, , , irq, softIrq, steal] = fields;
  return (user + nice + system + irq + softIrq + steal) * TICK_US;
}

/** Bytes of memory that a process holds. */
export function residentBytes(pid) {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '');
  return line && Number(line[1]) * KIB;
}

/** Clock ticks of a process, see proc_pid_stat(5); the name in parentheses may hold anything. */
function statOf(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (text === null) {
    return null;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
  return { user, system, ended: endedUser + endedSystem };
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
