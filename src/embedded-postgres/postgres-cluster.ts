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
/** No initdb takes this long, so an older stage is a leftover even if its process id was reused. */
const MAX_STAGE_AGE_MS = 60 * 60 * 1000;

/** Returns the random password of the cluster's superuser, from a file in the cluster that other accounts cannot read. */
export async function readPassword(clusterFolder: string): Promise<string> {
  return (await readFile(join(clusterFolder, PASSWORD_FILE), 'utf8')).trim();
}

/**
 * Creates the cluster if it does not exist, or checks that these binaries can start it. An incompatible cluster is not changed.
 *
 * @throws EmbeddedPostgresError if the folder has a cluster of another major version or other content, or its owner cannot be changed.
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
 * Runs initdb in a temporary folder and renames the result into place, so that a cluster is always complete and has its password.
 */
async function createCluster(
  clusterFolder: string,
  binaries: PostgresBinaries,
  account: ServerAccount | null,
): Promise<void> {
  const stage = await mkdtemp(join(clusterFolder, '..', `${STAGE_PREFIX}${process.pid}-`));
  try {
    const passwordFile = join(stage, PASSWORD_FILE);
    const created = join(stage, 'cluster');
    await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    await handOver(stage, account);
    await handOver(passwordFile, account);
    const result = await runPostgresCommand(account, binaries.initdb, initdbArguments(created, passwordFile));
    if (result.code !== 0) {
      throw new EmbeddedPostgresError(
        `Creating the embedded PostgreSQL in ${clusterFolder} failed (initdb, exit code ${result.code}):\n${result.output}`,
      );
    }
    await rename(passwordFile, join(created, PASSWORD_FILE));
    await rename(created, clusterFolder).catch(ignoreExisting);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** The builtin locale C.UTF-8 sorts and changes case in the same way on every machine. */
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

/** Ignores that another process has created the cluster first; that cluster is used. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') {
    throw error;
  }
}

/** Removes the folders of killed initdb processes. */
async function removeLeftovers(dataFolder: string): Promise<void> {
  for (const name of await readdir(dataFolder)) {
    const pid = name.startsWith(STAGE_PREFIX) ? Number.parseInt(name.slice(STAGE_PREFIX.length), 10) : null;
    if (pid === null) {
      continue;
    }
    const stage = join(dataFolder, name);
    const facts = await stat(stage).catch(() => null);
    if (facts === null || !isAlive(pid) || Date.now() - facts.mtimeMs > MAX_STAGE_AGE_MS) {
      // An initdb that outlived its parent may still write here. The next start then removes the rest.
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

/** Changes the owner of a cluster that root copied to the server's account, as PostgreSQL must own its files. */
async function takeOver(clusterFolder: string, account: ServerAccount | null): Promise<void> {
  const { uid } = await stat(clusterFolder);
  if (account !== null && uid !== account.uid) {
    for (const name of await readdir(clusterFolder, { recursive: true })) {
      await handOver(join(clusterFolder, name), account);
    }
    // Last, so that an interrupted change of owner starts again.
    await handOver(clusterFolder, account);
  }
}

function emptyWhenMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') {
    return [];
  }
  throw error;
}
