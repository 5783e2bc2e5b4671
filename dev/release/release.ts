import { readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { gte, inc } from 'semver';
import { interruption } from '../interruption.js';
import { Refusal } from '../refusal.js';
import { checkUnreleased, dateUnreleased } from './changelog.js';
import { run } from './commands.js';
import { git } from './git.js';
import { recordRelease } from './record.js';
import { readVersion, VERSIONED_PACKAGES, writeVersion } from './versions.js';

// `npm run release -- major|minor|patch`: makes the next release in this checkout, as docs/releasing.md
// explains.

const ROOT = process.cwd();
const LEVELS = ['major', 'minor', 'patch'] as const;
type Level = (typeof LEVELS)[number];
/** Fixes of an old release are made on a branch of its minor version, such as `release/1.0`. */
const FIXES = 'release/';
/** Before the first release. */
const NONE = '0.0.0';
const say = (text: string) => process.stdout.write(`\n== ${text}\n`);

const recordOf = (version: string) => path.join(ROOT, 'releases', version);

/** Returns the argument of the command. @throws Refusal if it is another one. */
function readLevel(args: string[]): Level {
  const level = LEVELS.find((each) => each === args[0]);
  if (level === undefined || args.length > 1) {
    throw new Refusal('Usage: npm run release -- major|minor|patch');
  }
  return level;
}

/** @throws Refusal if this branch does not make such a release. */
function checkBranch(branch: string, level: Level, version: string): void {
  if (branch !== 'main' && branch !== `${FIXES}${version.split('.', 2).join('.')}`) {
    throw new Refusal(
      `Releases are made on main, and fixes of ${version} on ${FIXES}${version.split('.', 2).join('.')}; ` +
        `this is ${branch}.`,
    );
  }
  if (branch.startsWith(FIXES) && level !== 'patch') {
    throw new Refusal(`${branch} has fixes only: npm run release -- patch`);
  }
  if (level === 'major' && gte(version, '1.0.0')) {
    throw new Refusal('A major version needs a list of what it removes, which the gate does not have yet.');
  }
  if (version !== NONE && !existsSync(recordOf(version))) {
    throw new Refusal(
      `This branch lacks the record of ${version}, so nothing could be compared with it: begin it at the ` +
        `commit that has releases/${version} (docs/releasing.md, "Fix an old release").`,
    );
  }
}

/** @throws Refusal if the checkout differs from its commit. */
async function checkClean(): Promise<void> {
  const changes = await git('status', '--porcelain');
  if (changes !== '') {
    throw new Refusal(`Commit or remove these changes first:\n${changes}`);
  }
}

/** @throws Refusal if this version was released before. */
async function checkNew(version: string): Promise<void> {
  if ((await git('tag', '--list', `v${version}`)) !== '') {
    throw new Refusal(`The tag v${version} exists.`);
  }
  if (existsSync(recordOf(version))) {
    throw new Refusal(`The folder releases/${version} exists.`);
  }
}

/** Writes the version and the date wherever they belong. */
async function writeRelease(version: string, changelog: string): Promise<void> {
  const options = ['--no-git-tag-version', '--no-workspaces-update', '--ignore-scripts'];
  for (const folder of VERSIONED_PACKAGES) {
    await run('npm', 'version', version, ...options, `--prefix=${folder}`);
  }
  await writeVersion(ROOT, version);
  await writeFile(path.join(ROOT, 'CHANGELOG.md'), changelog);
  await run('npm', 'run', 'documents');
}

/** Commits the release, tags it, and commits its record, which has the hash of the former. */
async function commitRelease(version: string, date: string): Promise<void> {
  await git('commit', '--quiet', '--all', `--message=release: ${version}`);
  await git('tag', '--annotate', `--message=Animal Store ${version}`, `v${version}`);
  await recordRelease({ version, date, commit: await git('rev-parse', 'HEAD') });
  await git('add', 'releases');
  await git('commit', '--quiet', `--message=releases: record ${version}`);
}

/** Makes the checkout, the branch and the tags what they were before. */
async function undo(version: string, head: string): Promise<void> {
  await git('reset', '--quiet', '--hard', head);
  await git('tag', '--delete', `v${version}`).catch(() => {});
  await rm(recordOf(version), { recursive: true, force: true });
}

let outcome = 'Nothing was released; files, branch and tags are as before.';

async function release(args: string[]): Promise<void> {
  const level = readLevel(args);
  const branch = await git('rev-parse', '--abbrev-ref', 'HEAD');
  const current = await readVersion(ROOT);
  checkBranch(branch, level, current);
  await checkClean();
  const version = inc(current, level) as string;
  await checkNew(version);
  const changelog = await readFile(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
  checkUnreleased(changelog, version);

  say(`Every gate, before ${version} is made: bash .ci/run, about half an hour`);
  const head = await git('rev-parse', 'HEAD');
  await run('bash', '.ci/run');
  await checkClean();
  if ((await git('rev-parse', 'HEAD')) !== head) {
    throw new Refusal('The branch changed while the gates ran.');
  }

  say(`Versions and changelog of ${version}, and npm run check on them`);
  const date = new Date().toISOString().slice(0, 10);
  try {
    await writeRelease(version, dateUnreleased(changelog, version, date));
    await run('npm', 'run', 'check');
    await commitRelease(version, date);
    await checkClean();
    interruption.throwIfAborted();
  } catch (error) {
    await undo(version, head).catch((failure: Error) => {
      outcome = `Undo it: git reset --hard ${head}; git tag --delete v${version}\n${failure.message}`;
    });
    throw error;
  }
  say(
    `${version} is made in this checkout. To publish it:\n   git push --atomic origin ${branch} v${version}`,
  );
}

await release(process.argv.slice(2)).catch((error: unknown) => {
  const reason: unknown = interruption.aborted ? interruption.reason : error;
  const text = reason instanceof Refusal ? reason.message : String((reason as Error).stack);
  process.stderr.write(`\n${text}\n${outcome}\n`);
  process.exitCode = 1;
});
