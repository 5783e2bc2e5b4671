import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Refusal } from '../refusal.js';
import { git } from './git.js';
import { lastRelease, releases } from './record.js';

const ROOT = path.join(import.meta.dirname, '..', '..');
/** Packages that the builds do not bundle, such as the reference page's, are found above it. */
const BUILDS = path.join(ROOT, 'node_modules', '.cache', 'releases');
/** What runs the service, as the Dockerfile copies it. */
const KEPT = ['dist', 'console/dist', 'prisma', 'package.json'];

/** A commit that can be built, with its version or the git revision that names it. */
interface Source {
  version: string;
  commit: string;
}

/** The built service, as a folder with `dist`. */
export interface Build {
  version: string;
  folder: string;
}

/** What `npm run build` has built here. */
export const THIS_BUILD: Build = { version: 'this tree', folder: ROOT };

/**
 * Returns a release by its version, the last one for `last`, or the commit of a git revision.
 *
 * @throws Refusal if there is no release or revision of that name.
 */
export async function findRelease(name: string): Promise<Source> {
  if (name === 'last') {
    return lastRelease();
  }
  const released = releases().find(({ version }) => version === name);
  if (released !== undefined) {
    return released;
  }
  const commit = await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`).catch(
    () => {
      throw new Refusal(`"${name}" is neither a version below releases/ nor a git revision of this clone`);
    },
  );
  return { version: name, commit };
}

/**
 * Builds the service of a release, unless an earlier call has. Takes half a minute, and some minutes if the
 * release has other packages than this tree.
 *
 * @throws Refusal if this clone lacks its commit.
 */
export async function buildRelease({ version, commit }: Source, signal?: AbortSignal): Promise<Build> {
  const folder = path.join(BUILDS, commit);
  if (!existsSync(folder)) {
    await git('cat-file', '-e', `${commit}^{commit}`).catch(() => {
      throw new Refusal(`This clone lacks commit ${commit} of ${version}: git fetch --unshallow`);
    });
    const tree = mkdtempSync(path.join(tmpdir(), 'animal-store-release-'));
    try {
      await buildTree(tree, commit, signal);
      keepBuild(tree, folder);
    } finally {
      rmSync(tree, { recursive: true, force: true });
    }
  }
  return { version, folder };
}

async function buildTree(tree: string, commit: string, signal?: AbortSignal): Promise<void> {
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(program, args, { cwd: tree, ...(signal && { signal }) });
  const archive = path.join(tree, 'tree.tar');
  await git('archive', '--format=tar', `--output=${archive}`, commit);
  await run('tar', '-xf', archive);
  if (readPackages(tree) === readPackages(ROOT)) {
    ['node_modules', 'console/node_modules']
      .filter((folder) => existsSync(path.join(ROOT, folder)))
      .forEach((folder) => symlinkSync(path.join(ROOT, folder), path.join(tree, folder)));
  } else {
    await run('npm', 'ci', '--ignore-scripts', '--no-fund', '--no-audit');
  }
  await run('npm', 'run', 'build');
}

/** Copies what runs the service. The folder appears whole, so that no process finds half of a build. */
export function keepBuild(tree: string, folder: string): void {
  mkdirSync(path.dirname(folder), { recursive: true });
  const copy = mkdtempSync(`${folder}-`);
  try {
    KEPT.forEach((name) => cpSync(path.join(tree, name), path.join(copy, name), { recursive: true }));
    renameSync(copy, folder);
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    // Another process may have built the same commit.
    if (!existsSync(folder)) {
      throw error;
    }
  }
}

/** Returns the packages of a tree, without its own versions. */
function readPackages(tree: string): string {
  const { packages } = JSON.parse(readFileSync(path.join(tree, 'package-lock.json'), 'utf8'));
  const own = (folder: string) => !folder.includes('node_modules/');
  return JSON.stringify(packages, (key, value) =>
    own(key) && value?.version ? { ...value, version: '' } : value,
  );
}
