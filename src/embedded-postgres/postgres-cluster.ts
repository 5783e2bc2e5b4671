import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import { handOver, runPostgresCommand, type ServerAccount } from './postgres-command.js';
import { isAlive } from './postmaster-pid.js';

/** The superuser of the cluster. */
export const POSTGRES_USER = 'postgres';

const PASSWORD_FILE = 'animal_store.password';
const STAGE_PREFIX = '.postgres-in-the-making-';
/** No initdb takes this long, so an older stage is a leftover even if its process id lives again. */
const OLDEST_STAGE_MS = 60 * 60 * 1000;

/** The random password of the cluster's superuser. It lies in the cluster, which is closed to other accounts. */
export async function readPassword(clusterFolder: string): Promise<string> {
  return (await readFile(join(clusterFolder, PASSWORD_FILE), 'utf8')).trim();
}

/**
 * Makes sure that there is a cluster that these binaries can start: creates it when absent, and changes
 * nothing of one that does not fit.
 *
 * @throws EmbeddedPostgresError when what is there is of another major version, of another account, or no cluster.
 */
export async function ensureCluster(
  clusterFolder: string,
  binaries: PostgresBinaries,
  account: ServerAccount | null,
): Promise<void> {
  await removeLeftovers(join(clusterFolder, '..'));
  const content = await readdir(clusterFolder).catch(emptyWhenMissing);
  if (content.length === 0) {
    await createCluster(clusterFolder, binaries, account);
    return;
  }
  await checkVersion(clusterFolder, binaries);
  await takeOver(clusterFolder, account);
}

/**
 * Runs initdb in a folder aside and moves the result into place, so that a cluster is there either whole or
 * not at all, and always with its password.
 */
async function createCluster(
  clusterFolder: string,
  binaries: PostgresBinaries,
  account: ServerAccount | null,
): Promise<void> {
  const stage = await mkdtemp(join(clusterFolder, '..', `${STAGE_PREFIX}${process.pid}-`));
  try {
    const passwordFile = join(stage, PASSWORD_FILE);
    const made = join(stage, 'cluster');
    await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    await handOver(stage, account);
    await handOver(passwordFile, account);
    const result = await runPostgresCommand(account, binaries.initdb, initdbArguments(made, passwordFile));
    if (result.code !== 0) {
      throw new EmbeddedPostgresError(
        `Creating the embedded PostgreSQL in ${clusterFolder} failed (initdb, exit code ${result.code}):\n${result.output}`,
      );
    }
    await rename(passwordFile, join(made, PASSWORD_FILE));
    await rename(made, clusterFolder).catch(ignoreFasterOne);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** PostgreSQL's own locale C.UTF-8 sorts and changes case the same on every machine. */
function initdbArguments(clusterFolder: string, passwordFile: string): string[] {
  return [
    `--pgdata=${clusterFolder}`,
    `--username=${POSTGRES_USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ];
}

/** Another process that started at the same instant may have put its cluster there first: then we use that. */
function ignoreFasterOne(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') {
    throw error;
  }
}

/** Removes what an initdb left behind that was killed. */
async function removeLeftovers(dataFolder: string): Promise<void> {
  for (const name of await readdir(dataFolder)) {
    const pid = name.startsWith(STAGE_PREFIX) ? Number.parseInt(name.slice(STAGE_PREFIX.length), 10) : null;
    if (pid === null) {
      continue;
    }
    const stage = join(dataFolder, name);
    const facts = await stat(stage).catch(() => null);
    if (facts === null || !isAlive(pid) || Date.now() - facts.mtimeMs > OLDEST_STAGE_MS) {
      // An initdb that outlived its parent may still write there; then the next start removes the rest.
      await rm(stage, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

async function checkVersion(clusterFolder: string, binaries: PostgresBinaries): Promise<void> {
  const theirs = await readFile(join(clusterFolder, 'PG_VERSION'), 'utf8').catch(() => null);
  if (theirs === null) {
    throw new EmbeddedPostgresError(
      `${clusterFolder} is not empty and holds no PostgreSQL data. Move it away, or set DATA_DIR or DATABASE_URL.`,
    );
  }
  const { output } = await runPostgresCommand(null, binaries.postgres, ['--version']);
  const ours = /\d+/.exec(output)?.[0];
  if (ours === undefined) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL does not run on this machine: set DATABASE_URL (${output}).`,
    );
  }
  if (theirs.trim() !== ours) {
    throw new EmbeddedPostgresError(
      `The data in ${clusterFolder} is of PostgreSQL ${theirs.trim()}, but the embedded one is PostgreSQL ${ours}. ` +
        `Nothing was changed. To keep the data, dump it with pg_dump while the release that you had before runs, and restore it ` +
        `(docs/operating.md, "The embedded one"); to start empty, move the folder away; or set DATA_DIR or DATABASE_URL.`,
    );
  }
}

/** PostgreSQL insists on owning its files. A copy made by root is handed to the server's account. */
async function takeOver(clusterFolder: string, account: ServerAccount | null): Promise<void> {
  const { uid } = await stat(clusterFolder);
  if (account !== null && uid !== account.uid) {
    for (const name of await readdir(clusterFolder, { recursive: true })) {
      await handOver(join(clusterFolder, name), account);
    }
    // Last, so that a hand-over that was interrupted is begun again.
    await handOver(clusterFolder, account);
  }
}

function emptyWhenMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') {
    return [];
  }
  throw error;
}
