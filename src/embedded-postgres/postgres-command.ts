import { spawn } from 'node:child_process';
import { lchown, readFile, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The account that PostgreSQL runs as and that owns its files, when it is not our own. */
export interface ServerAccount {
  uid: number;
  gid: number;
}

/** How a program ended: its exit code (null when a signal ended it) and all that it wrote. */
export interface CommandResult {
  code: number | null;
  output: string;
}

const SETPRIV = 'setpriv';
const NOBODY = 65_534;
const CAP_DAC_OVERRIDE = 1n << 1n;
const CAP_DAC_READ_SEARCH = 1n << 2n;

/**
 * Which account PostgreSQL has to run as: null for our own. PostgreSQL refuses to run as root, so for root it
 * is the account that owns the cluster already, otherwise `nobody`.
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
 * Hands a file or folder to the account that PostgreSQL runs as, unless that is our own.
 *
 * @throws EmbeddedPostgresError when we may not.
 */
export async function handOver(path: string, account: ServerAccount | null): Promise<void> {
  if (account !== null) {
    await lchown(path, account.uid, account.gid).catch((cause: unknown) => {
      throw cannotChangeAccount(cause);
    });
  }
}

/**
 * Runs one of PostgreSQL's programs to its end, as the account given.
 *
 * @param options.cwd the working folder. `ownSession` keeps the signals of our terminal (Ctrl-C) from it.
 * @throws EmbeddedPostgresError when it cannot be run at all, or not as that account.
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
    throw command === SETPRIV ? cannotChangeAccount(cause) : cannotRun(cause);
  });
  if (output.startsWith(`${SETPRIV}:`)) {
    throw cannotChangeAccount(output.trim());
  }
  return { code, output: output.trim() };
}

/**
 * The words before a command that make it run as another account. It keeps one capability of root's, to pass
 * through folders such as /root that are closed to that account: the one to read and search where we have it
 * (containers often do not), otherwise the one to read and write.
 */
async function changeAccount(account: ServerAccount | null): Promise<string[]> {
  if (account === null) {
    return [];
  }
  if (platform() !== 'linux') {
    throw cannotChangeAccount('this platform has no setpriv');
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

/** Neither our secrets nor PG… variables, which would change what the programs do. */
function childEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, LD_LIBRARY_PATH } = process.env;
  const inherited = Object.entries({ PATH, SystemRoot, LD_LIBRARY_PATH }).filter(([, value]) => value);
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', TZ: 'UTC' };
}

function cannotChangeAccount(cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and changing to another account failed (${reasonOf(cause)}). ` +
      `Run as a normal user, or set DATABASE_URL.`,
    { cause },
  );
}

function cannotRun(cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL does not run on this machine (${reasonOf(cause)}). Set DATABASE_URL.`,
    { cause },
  );
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
