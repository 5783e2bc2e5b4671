import { execFile, type ForkOptions, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LOSS = '5%';
const OWN_NETWORK = 'CHAOS_OWN_NETWORK';
/** As another account than root, the network is in a user namespace of its own (unshare(1)). */
const UNSHARE = [
  'unshare',
  '--net',
  ...(process.getuid?.() === 0 ? [] : ['--map-current-user', '--keep-caps']),
];
const NETEM = ['tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem'];

/** Whether this process is in a network of its own, whose packets it may lose. */
export const canLosePackets = process.env[OWN_NETWORK] !== undefined;

/** Returns how a process gets a network that can lose packets, or why it cannot have one here. */
export function findOwnNetwork(): ForkOptions | string {
  const [execPath = '', ...args] = UNSHARE;
  const { status, stderr, error } = spawnSync(execPath, [...args, ...NETEM], { encoding: 'utf8' });
  return status === 0
    ? { execPath, execArgv: [...args, process.execPath], env: { ...process.env, [OWN_NETWORK]: 'yes' } }
    : (error?.message ?? stderr.trim().replaceAll('\n', ' '));
}

/** Opens the network of this process: what has a band of its own there can be lost apart from the rest. */
export async function openOwnNetwork(): Promise<void> {
  await run('ip', ['link', 'set', 'lo', 'up']);
  await tc(`qdisc add dev lo root handle 1: prio bands 2 priomap${' 0'.repeat(16)}`);
}

/** Loses a share of the packets from and to a port, and delays the others (tc-netem(8)). */
export async function losePackets(port: number, delayMs: number): Promise<void> {
  await tc(`qdisc add dev lo parent 1:2 handle 2: netem loss ${LOSS} delay ${delayMs}ms ${delayMs / 2}ms`);
  for (const side of ['sport', 'dport']) {
    await tc(`filter add dev lo parent 1: protocol ip prio 1 u32 match ip ${side} ${port} 0xffff flowid 1:2`);
  }
}

export async function losePacketsNoMore(): Promise<void> {
  await tc('filter del dev lo parent 1:');
  await tc('qdisc del dev lo parent 1:2');
}

const tc = (words: string) => run('tc', words.split(' '));
