import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually.js';

const ROOT = path.join(__dirname, '..', '..');
const TODAY = /^\d{4}-\d\d-\d\d$/;
const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- All.\n';

/** Stands for what writes the record of a release, which needs the sources of the service. */
const RECORD = `
import { mkdirSync, writeFileSync } from 'node:fs';
export async function recordRelease(release) {
  mkdirSync('releases/' + release.version, { recursive: true });
  writeFileSync('releases/' + release.version + '/release.json', JSON.stringify(release));
  if (process.env.RECORD === 'litters') writeFileSync('litter', '');
  if (process.env.RECORD === 'locks') writeFileSync('.git/index.lock', '');
  if (/^(fails|locks)$/.test(process.env.RECORD)) throw new Error('The record fails');
}
`;
/** Stand for what generates the documents, and for \`npm run check\`. */
const SCRIPTS = {
  documents:
    'node -p "JSON.stringify({ info: { version: process.env.npm_package_version } })" > docs/openapi.json',
  check:
    'git diff --stat > seen-by-check; echo The check runs; ' +
    'if [ "$CHECK" = hangs ]; then sleep 60; fi; test "$CHECK" != fails',
};
/** Stands for the gates. */
const GATES = '#!/bin/bash\necho "The gates run"; [ "$GATES" = hangs ] && sleep 60; [ "$GATES" != fails ]\n';

let folder: string;

const at = (...names: string[]) => path.join(folder, ...names);
const write = async (name: string, text: string) => {
  await mkdir(path.dirname(at(name)), { recursive: true });
  await writeFile(at(name), text);
};
const read = (name: string) => readFile(at(name), 'utf8');
const readJson = async (name: string) => JSON.parse(await read(name));
const git = async (...args: string[]) =>
  (await promisify(execFile)('git', args, { cwd: folder })).stdout.trim();

/** Begins \`npm run release\`. */
function begin(args: string[], env: Record<string, string> = {}) {
  const command = spawn(
    process.execPath,
    ['node_modules/jiti/lib/jiti-cli.mjs', 'dev/release/release.ts', ...args],
    {
      cwd: folder,
      env: { ...process.env, ...env },
    },
  );
  let output = '';
  for (const stream of [command.stdout, command.stderr]) {
    stream.on('data', (chunk) => (output += chunk));
  }
  const ended = once(command, 'close').then(([code]) => ({ code, output }));
  return { command, ended, readOutput: () => output };
}

const release = (args: string[], env?: Record<string, string>) => begin(args, env).ended;

/** Everything that a failed release must leave as it was. */
const state = async () => ({
  commit: await git('rev-parse', 'HEAD'),
  changes: await git('status', '--porcelain'),
  tags: await git('tag', '--list'),
  branches: await git('branch', '--list'),
});

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'animal-store-release-'));
  for (const file of ['refusal.ts', 'interruption.ts', 'release']) {
    await cp(path.join(ROOT, 'dev', file), at('dev', file), { recursive: true });
  }
  await symlink(path.join(ROOT, 'node_modules'), at('node_modules'), 'junction');
  await write('dev/release/record.ts', RECORD);
  await write('.gitignore', 'node_modules\nseen-by-check\n');
  await write('.ci/run', GATES);
  await write('CHANGELOG.md', CHANGELOG);
  await write('docs/openapi.json', '{}\n');
  await write('Dockerfile', 'FROM scratch\nARG VERSION=0.0.0\n');
  await write(
    'deploy/kubernetes/overlays/production/kustomization.yaml',
    'images:\n  - newTag: 0.0.0\n    newTag: 0.0.0\n',
  );
  for (const [name, scripts] of Object.entries({ '': SCRIPTS, 'client/': {} })) {
    const manifest = { name: 'scratch', version: '0.0.0', type: 'module' };
    await write(`${name}package.json`, JSON.stringify({ ...manifest, scripts }, null, 2));
    const lock = { ...manifest, lockfileVersion: 3, requires: true, packages: { '': manifest } };
    await write(`${name}package-lock.json`, JSON.stringify(lock, null, 2));
  }
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'Ann');
  await git('config', 'user.email', 'ann@example.com');
  await git('add', '--all');
  await git('commit', '--quiet', '--message=scratch: begin');
});
afterEach(() => rm(folder, { recursive: true }));

describe('npm run release', () => {
  it('sets all versions, dates the changelog, and commits the release, its tag and its record', async () => {
    const { code, output } = await release(['major']);
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('The gates run') });
    expect(output).toContain('git push --atomic origin main v1.0.0\n');

    const record = await readJson('releases/1.0.0/release.json');
    const commit = await git('rev-parse', 'v1.0.0^{commit}');
    expect(record).toEqual({ version: '1.0.0', date: expect.stringMatching(TODAY), commit });
    expect((await git('log', '--format=%s')).split('\n')).toEqual([
      'releases: record 1.0.0',
      'release: 1.0.0',
      'scratch: begin',
    ]);
    expect(await git('cat-file', '-t', 'v1.0.0')).toBe('tag');
    expect(await git('rev-parse', 'HEAD~1')).toBe(commit);
    expect(await git('status', '--porcelain')).toBe('');

    for (const file of [
      'package.json',
      'package-lock.json',
      'client/package.json',
      'client/package-lock.json',
    ]) {
      expect(await readJson(file)).toMatchObject({ version: '1.0.0' });
    }
    expect(await readJson('docs/openapi.json')).toEqual({ info: { version: '1.0.0' } });
    expect(await read('Dockerfile')).toBe('FROM scratch\nARG VERSION=1.0.0\n');
    expect(await read('deploy/kubernetes/overlays/production/kustomization.yaml')).toContain(
      'newTag: 1.0.0\n',
    );
    expect(await read('CHANGELOG.md')).toBe(
      CHANGELOG.replace('\n### Added', `\n## 1.0.0 - ${record.date}\n\n### Added`),
    );
    // The check saw what was then committed.
    expect(await read('seen-by-check')).toContain('CHANGELOG.md');
  });

  it('makes a fix of an old release on its branch, and nothing else there', async () => {
    await release(['major']);
    const record = await git('log', '-1', '--format=%H', 'main', '--', 'releases/1.0.0');
    await git('switch', '--quiet', '--create', 'release/1.0', record);
    await write(
      'CHANGELOG.md',
      (await read('CHANGELOG.md')).replace(']\n', ']\n\n### Fixed\n\n- A crash.\n'),
    );
    await git('commit', '--quiet', '--all', '--message=scratch: fix a crash');
    expect(await release(['minor'])).toMatchObject({
      code: 1,
      output: expect.stringContaining('release/1.0 has fixes only: npm run release -- patch'),
    });
    expect(await release(['patch'])).toMatchObject({ code: 0 });
    expect(await git('tag', '--list')).toBe('v1.0.0\nv1.0.1');
    expect((await readdir(at('releases'))).toSorted()).toEqual(['1.0.0', '1.0.1']);
  });

  it('refuses a fix on a branch that lacks the record of its release', async () => {
    await release(['major']);
    await git('switch', '--quiet', '--create', 'release/1.0', 'v1.0.0');
    const { code, output } = await release(['patch']);
    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringContaining('This branch lacks the record of 1.0.0'),
    });
    expect(output).not.toContain('The gates run');
  });

  it('refuses another major version, because nothing says what it may remove', async () => {
    await release(['major']);
    expect(await release(['major'])).toEqual({
      code: 1,
      output: expect.stringContaining('A major version needs a list of what it removes'),
    });
  });

  it('leaves the branch as it was when the record leaves a file behind', async () => {
    const commit = await git('rev-parse', 'HEAD');
    const { code, output } = await release(['major'], { RECORD: 'litters' });
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('?? litter') });
    expect(await git('rev-parse', 'HEAD')).toBe(commit);
    expect(await git('tag', '--list')).toBe('');
  });

  it('tells the first error when it cannot undo what it did', async () => {
    const { code, output } = await release(['major'], { RECORD: 'locks' });
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('The record fails') });
    expect(output).toContain('Undo it: git reset --hard');
    expect(output).not.toContain('as before');
  });

  it.each([
    ['another argument', ['1.0.0'], async () => {}, 'Usage: npm run release -- major|minor|patch'],
    [
      'a second argument',
      ['minor', '--no-gates'],
      async () => {},
      'Usage: npm run release -- major|minor|patch',
    ],
    ['no argument', [], async () => {}, 'Usage: npm run release -- major|minor|patch'],
    ['a changed file', ['major'], () => write('Dockerfile', 'FROM other\n'), 'M Dockerfile'],
    ['a new file', ['major'], () => write('new', ''), '?? new'],
    ['another branch', ['major'], () => git('switch', '--create', 'feature'), 'this is feature'],
    [
      'the branch of another release',
      ['patch'],
      () => git('switch', '-c', 'release/1.0'),
      'this is release/1.0',
    ],
    ['a tag of the version', ['major'], () => git('tag', 'v1.0.0'), 'The tag v1.0.0 exists'],
    [
      'a record of the version',
      ['major'],
      async () => {
        await write('releases/1.0.0/release.json', '{}');
        await git('add', '--all');
        await git('commit', '--quiet', '--message=releases: record 1.0.0');
      },
      'The folder releases/1.0.0 exists',
    ],
    [
      'an empty changelog',
      ['major'],
      async () => {
        await write('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n');
        await git('commit', '--quiet', '--all', '--message=scratch: empty the changelog');
      },
      'no entry under [Unreleased]',
    ],
  ])('refuses %s before any gate runs', async (_what, args, change, reason) => {
    await change();
    const before = await state();
    const { code, output } = await release(args);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(reason) });
    expect(output).not.toContain('The gates run');
    expect(await state()).toEqual(before);
  });

  it.each([
    ['a gate fails', { GATES: 'fails' }, 'Failed: bash .ci/run'],
    ['the check of the result fails', { CHECK: 'fails' }, 'Failed: npm run check'],
    ['the record fails', { RECORD: 'fails' }, 'The record fails'],
  ])('leaves everything as it was when %s', async (_when, env, reason) => {
    const before = await state();
    const { code, output } = await release(['major'], env);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(reason) });
    expect(output).toContain('Nothing was released');
    expect(await state()).toEqual(before);
  });

  it.each([
    ['the gates run', { GATES: 'hangs' }, 'The gates run'],
    ['the result is checked', { CHECK: 'hangs' }, 'The check runs'],
  ])('leaves everything as it was when it is interrupted while %s', async (_when, env, sign) => {
    const before = await state();
    const { command, ended, readOutput } = begin(['major'], env);
    await eventually(async () => expect(readOutput()).toContain(sign));
    command.kill('SIGINT');
    // It ends once all of its programs have closed their output.
    expect(await ended).toEqual({ code: 1, output: expect.stringContaining('Interrupted.') });
    expect(await state()).toEqual(before);
  });
});
