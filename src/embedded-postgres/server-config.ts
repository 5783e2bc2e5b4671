import { mkdir, readFile, realpath, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The folders, programs and account of a server. All paths are absolute and without symbolic links. */
export interface ServerConfig {
  dataFolder: string;
  clusterFolder: string;
  /** The folder of initdb and pg_ctl. */
  programFolder: string;
  /** The account that PostgreSQL runs as and that owns its files; null for the account of this process. */
  account: { uid: number; gid: number } | null;
}

const NOBODY = { uid: 65_534, gid: 65_534 };

/**
 * Creates the data folder if it does not exist, and finds PostgreSQL's programs.
 *
 * @throws EmbeddedPostgresError if the programs are not installed.
 */
export async function prepareServer(dataDir: string): Promise<ServerConfig> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const dataFolder = await realpath(dataDir);
  const clusterFolder = join(dataFolder, 'postgres');
  return {
    dataFolder,
    clusterFolder,
    programFolder: await findPostgresPrograms(),
    account: await chooseAccount(clusterFolder),
  };
}

/** PostgreSQL does not run as root, so for root it runs as the owner of the cluster, or as `nobody`. */
async function chooseAccount(clusterFolder: string): Promise<ServerConfig['account']> {
  if (process.getuid?.() !== 0) {
    return null;
  }
  const owner = await stat(clusterFolder).catch(() => null);
  return owner === null || owner.uid === 0 ? NOBODY : { uid: owner.uid, gid: owner.gid };
}

/**
 * Returns the folder of the programs that the development dependency `embedded-postgres` has for this machine. Its own class is not used:
 * it handles the signals of this process, and exits.
 *
 * @throws EmbeddedPostgresError if they are not installed.
 */
export async function findPostgresPrograms(): Promise<string> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  let packageFolder: string;
  try {
    packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL (${name}) is not installed: it is a development dependency, and not available for every ` +
        `machine. Set DATABASE_URL to a PostgreSQL of yours, or install with development dependencies.`,
      { cause },
    );
  }
  await linkSharedLibraries(packageFolder);
  return join(packageFolder, 'native', 'bin');
}

/** Creates the symbolic links that npm cannot pack, as the package's install script does unless npm skips it. */
async function linkSharedLibraries(packageFolder: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // Usually it exists. If it cannot be created, the loader names the library that is missing.
    await symlink(relative(dirname(target), source), join(packageFolder, target)).catch(() => undefined);
  }
}
