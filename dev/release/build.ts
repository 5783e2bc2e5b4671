import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Refusal } from '../refusal.js';

const ROOT = path.join(import.meta.dirname, '..', '..');
const RECORDS = path.join(ROOT, 'releases');
/** Packages that the builds do not bundle, such as the reference page's, are found above it. */
const BUILDS = path.join(ROOT, 'node_modules', '.cache', 'releases');
/** What runs the service, as the Dockerfile copies it. */
const KEPT = ['dist', 'console/dist', 'prisma', 'package.json'];

/** A state of the service that can be built. */
interface Release {
  /** As it was released, or the git revision. */
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

/** Returns the last release; undefined before the first. */
export function lastRelease(): Release | undefined {
  const numeric = new Intl.Collator('en', { numeric: true });
  const versions = existsSync(RECORDS) ? readdirSync(RECORDS).toSorted(numeric.compare) : [];
  const version = versions.at(-1);
  return version === undefined ? undefined : readRelease(version);
}

/**
 * Returns a release by its version, the last one for `last`, or the commit of a git revision. Undefined for
 * `last` before the first release.
 *
 * @throws Refusal if there is none of that name.
 */
export async function findRelease(name: string): Promise<Release | undefined> {
  if (name === 'last') {
    return lastRelease();
  }
  if (existsSync(path.join(RECORDS, name, 'release.json'))) {
    return readRelease(name);
  }
  const commit = await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`).catch(
    () => {
      throw new Refusal(`"${name}" is neither a version below releases/ nor a git revision of this clone`);
    },
  );
  return { version: name, commit: commit.trim() };
}

/**
 * Builds the service of a release, unless an earlier call has. Takes half a minute, and some minutes if the
 * release has other packages than this tree.
 *
 * @throws Refusal if this clone lacks its commit.
 */
export async function buildRelease({ version, commit }: Release, signal?: AbortSignal): Promise<Build> {
  const folder = path.join(BUILDS, commit);
  if (!existsSync(folder)) {
    await git('cat-file', '-e', `${commit}^{commit}`).catch(() => {
      throw new Refusal(`This clone lacks commit ${commit} of ${version}: git fetch --unshallow`);
    });
    const tree = mkdtempSync(path.join(tmpdir(), 'animal-store-release-'));
    try {
      await buildTree(tree, commit, signal);
      keep(tree, folder);
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
  const packages = (root: string) => readFileSync(path.join(root, 'package-lock.json'), 'utf8');
  if (packages(tree) === packages(ROOT)) {
    ['node_modules', 'console/node_modules']
      .filter((folder) => existsSync(path.join(ROOT, folder)))
      .forEach((folder) => symlinkSync(path.join(ROOT, folder), path.join(tree, folder)));
  } else {
    await run('npm', 'ci', '--ignore-scripts', '--no-fund', '--no-audit');
  }
  await run('npm', 'run', 'build');
}

/** Copies what runs the service. The folder appears whole, so that nobody finds half of a build. */
function keep(tree: string, folder: string): void {
  mkdirSync(BUILDS, { recursive: true });
  const copy = mkdtempSync(`${folder}-`);
  KEPT.forEach((name) => cpSync(path.join(tree, name), path.join(copy, name), { recursive: true }));
  renameSync(copy, folder);
}

function readRelease(version: string): Release {
  const { commit } = JSON.parse(readFileSync(path.join(RECORDS, version, 'release.json'), 'utf8'));
  return { version, commit };
}

async function git(...args: string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: ROOT })).stdout;
}
