import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lchown, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { ServerConfig } from './server-config.js';

const CAP_DAC_READ_SEARCH = 1n << 2n;

/** Changes the owner of a file or folder to the account that PostgreSQL runs as. */
export async function handOver(path: string, { account }: ServerConfig): Promise<void> {
  if (account !== null) {
    await lchown(path, account.uid, account.gid);
  }
}

/**
 * Runs one of PostgreSQL's programs to its end, as the account of the server. Ctrl-C in the terminal does not reach it.
 *
 * @throws EmbeddedPostgresError with its output if it fails.
 */
export async function runPostgresCommand(
  { account, clusterFolder, dataFolder, programFolder }: ServerConfig,
  program: string,
  args: string[],
): Promise<void> {
  const path = join(programFolder, program);
  const [command = path, ...rest] = [...(await runAs(account)), path, ...args];
  const { PATH, SystemRoot, LD_LIBRARY_PATH } = process.env;
  const child = spawn(command, rest, {
    cwd: dataFolder,
    detached: true,
    // Without the secrets of the service, and without PG… variables, which configure the programs. initdb keeps TZ as a setting.
    env: { PATH, SystemRoot, LD_LIBRARY_PATH, LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const ended = [once(child, 'close'), text(child.stdout), text(child.stderr)] as const;
  const [[code], stdout, stderr] = await Promise.all(ended);
  if (code !== 0) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL in ${clusterFolder} failed (${program}, exit code ${code}):\n${(stdout + stderr).trim()}`,
    );
  }
}

/**
 * Returns the words before a command that run it as another account. It keeps one capability of root, to pass through folders such as
 * /root that are closed to that account: to read all files or, in a container that lacks this one, to read and write them.
 */
async function runAs(account: ServerConfig['account']): Promise<string[]> {
  if (account === null) {
    return [];
  }
  const status = await readFile('/proc/self/status', 'utf8');
  const permitted = BigInt(`0x${/^CapPrm:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`);
  const kept = permitted & CAP_DAC_READ_SEARCH ? 'dac_read_search' : 'dac_override';
  return [
    'setpriv',
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    '--clear-groups',
    '--securebits=+no_setuid_fixup',
    `--inh-caps=-all,+${kept}`,
    `--ambient-caps=-all,+${kept}`,
  ];
}
