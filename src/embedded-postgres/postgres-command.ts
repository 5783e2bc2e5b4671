import { spawn } from 'node:child_process';
import { lchown, readFile, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The account that PostgreSQL runs as and that owns its files, if it is not this process's own. */
export interface ServerAccount {
  uid: number;
  gid: number;
}

/** The exit code of a program (null if a signal ended it) and its output. */
export interface CommandResult {
  code: number | null;
  output: string;
}

const SETPRIV = 'setpriv';
const NOBODY = 65_534;
const CAP_DAC_OVERRIDE = 1n << 1n;
const CAP_DAC_READ_SEARCH = 1n << 2n;

/**
 * Returns the account that PostgreSQL has to run as; null for this process's own. PostgreSQL does not run as root, so for root it is the
 * account that owns the cluster, or `nobody`.
 */
export async function chooseServerAccount(clusterFolder: string): Promise<ServerAccount | null> {
  if (process.getuid?.() !== 0) {
    return null;
  }
  const owner = await stat(clusterFolder).catch(() => null);
  return owner !== null && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : findNobody();
}

async function findNobody(): Promise<ServerAccount> {
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const ids = /^nobody:[^:]*:(\d+):(\d+):/m.exec(accounts);
  return { uid: Number(ids?.[1] ?? NOBODY), gid: Number(ids?.[2] ?? NOBODY) };
}

/**
 * Changes the owner of a file or folder to the account that PostgreSQL runs as.
 *
 * @throws EmbeddedPostgresError if this process lacks the permission.
 */
export async function handOver(path: string, account: ServerAccount | null): Promise<void> {
  if (account !== null) {
    await lchown(path, account.uid, account.gid).catch((cause: unknown) => {
      throw accountChangeError(cause);
    });
  }
}

/**
 * Runs one of PostgreSQL's programs to its end, as the given account.
 *
 * @param options.ownSession runs it in a session of its own, so that Ctrl-C in the terminal does not reach it.
 * @throws EmbeddedPostgresError if it cannot be run, or not as that account.
 */
export async function runPostgresCommand(
  account: ServerAccount | null,
  program: string,
  args: string[],
  options: { cwd?: string; ownSession?: boolean } = {},
): Promise<CommandResult> {
  const [command = program, ...rest] = [...(await changeAccount(account)), program, ...args];
  const child = spawn(command, rest, {
    cwd: options.cwd,
    detached: options.ownSession ?? false,
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  let output = '';
  const collect = (chunk: Buffer) => (output += chunk.toString());
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).catch((cause: unknown) => {
    throw command === SETPRIV ? accountChangeError(cause) : startError(cause);
  });
  if (output.startsWith(`${SETPRIV}:`)) {
    throw accountChangeError(output.trim());
  }
  return { code, output: output.trim() };
}

/**
 * Returns the words before a command that run it as another account. It keeps one capability of root, to pass through folders such as
 * /root that are closed to that account: the capability to read and search if this process has it (containers often do not),
 * otherwise that to read and write.
 */
async function changeAccount(account: ServerAccount | null): Promise<string[]> {
  if (account === null) {
    return [];
  }
  if (platform() !== 'linux') {
    throw accountChangeError('this platform has no setpriv');
  }
  const status = await readFile('/proc/self/status', 'utf8');
  const permitted = BigInt(`0x${/^CapPrm:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`);
  let kept = '-all';
  if (permitted & CAP_DAC_READ_SEARCH) {
    kept = '-all,+dac_read_search';
  } else if (permitted & CAP_DAC_OVERRIDE) {
    kept = '-all,+dac_override';
  }
  return [
    SETPRIV,
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    '--clear-groups',
    '--securebits=+no_setuid_fixup',
    `--inh-caps=${kept}`,
    `--ambient-caps=${kept}`,
  ];
}

/** Returns the environment without the service's secrets, and without PG… variables, which configure the programs. */
function childEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, LD_LIBRARY_PATH } = process.env;
  const inherited = Object.entries({ PATH, SystemRoot, LD_LIBRARY_PATH }).filter(([, value]) => value);
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', TZ: 'UTC' };
}

function accountChangeError(cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and changing to another account failed (${reasonOf(cause)}). ` +
      `Run as a normal user, or set DATABASE_URL.`,
    { cause },
  );
}

function startError(cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL does not run on this machine (${reasonOf(cause)}). Set DATABASE_URL.`,
    { cause },
  );
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
