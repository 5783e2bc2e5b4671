import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CLIENT, installPackage } from './support/package.js';
import { baseUrl, connect, issueKey } from './support/store.js';

const execute = promisify(execFile);

/** What the examples of the README have before them. */
const BEFORE_EXAMPLES = `import { AnimalStore } from 'animal-store-client';
declare const [store, baseUrl, apiKey, keyId]: [AnimalStore, string, string, string];
declare const signal: AbortSignal;`;

async function readExamples() {
  const readme = await readFile(path.join(CLIENT, 'README.md'), 'utf8');
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, example]) => example);
  assert.ok(examples.length > 5);
  return examples;
}

/** Compiles files strictly, and declarations of them too. @returns the errors of the compiler. */
async function compile(folder, module, moduleResolution, files) {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    module,
    moduleResolution,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: 'out',
  };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = path.join(CLIENT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = await execute(process.execPath, [tsc, '--project', folder]).catch((error) => error);
  return stdout;
}

describe('the package', () => {
  it('imports nothing from Node', async () => {
    const names = (await readdir(path.join(CLIENT, 'dist'))).filter((name) => name.endsWith('.js'));
    assert.ok(names.includes('index.js'));
    for (const name of names) {
      const text = await readFile(path.join(CLIENT, 'dist', name), 'utf8');
      assert.doesNotMatch(text, /['"]node:|\bprocess\.\w|\bBuffer\b|\brequire\(/, name);
    }
  });

  it('has no install scripts', async () => {
    const { scripts } = JSON.parse(await readFile(path.join(CLIENT, 'package.json'), 'utf8'));
    const atInstallation = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare'];
    assert.deepEqual(
      atInstallation.filter((name) => name in scripts),
      [],
    );
  });

  it('runs the start of its README as it is', async () => {
    const readme = await readFile(path.join(CLIENT, 'README.md'), 'utf8');
    const [, start] = /```js\n(.*?)```/s.exec(readme);
    const { key } = await issueKey();
    const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', start], {
      cwd: CLIENT,
      env: { ...process.env, ANIMAL_STORE_KEY: key, ANIMAL_STORE_URL: baseUrl },
    });
    const lines = stdout.trimEnd().split('\n');
    assert.match(lines[0], /^added \d+$/);
    assert.equal(lines.at(-1), `${lines[0].split(' ')[1]} Biscuit`);
  });

  for (const [type, module, moduleResolution] of [
    ['module', 'nodenext', 'nodenext'],
    ['commonjs', 'nodenext', 'nodenext'],
    ['module', 'esnext', 'bundler'],
  ]) {
    it(`compiles strictly, as its examples do, in a ${type} project with ${moduleResolution}`, async (t) => {
      const { folder } = await installPackage(t, type);
      await cp(path.join(CLIENT, 'test', 'types.ts'), path.join(folder, 'types.ts'));
      const examples = await readExamples();
      // A module of CommonJS has no await outside of a function.
      const files = type === 'module' ? examples.map((_example, index) => `example-${index}.ts`) : [];
      for (const [index, file] of files.entries()) {
        await writeFile(path.join(folder, file), `${BEFORE_EXAMPLES}\n${examples[index]}`);
      }
      assert.equal(await compile(folder, module, moduleResolution, ['types.ts', ...files]), '');
    });
  }

  it('has a licence, a README, and the source of every source map', async (t) => {
    const { folder, files } = await installPackage(t);
    assert.ok(
      ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts'].every((name) => files.includes(name)),
    );
    const maps = files.filter((name) => name.endsWith('.map'));
    const modules = files.filter((name) => /^dist\/.*\.js$/.test(name));
    // One for the code and one for the declarations.
    assert.equal(maps.length, 2 * modules.length);
    for (const name of maps) {
      const file = path.join(folder, 'node_modules', 'animal-store-client', name);
      const { sources } = JSON.parse(await readFile(file, 'utf8'));
      for (const source of sources) {
        assert.ok(files.includes(path.posix.join(path.posix.dirname(name), source)), `${name}: ${source}`);
      }
    }
  });
});

describe('rateLimit.get', () => {
  it('returns the plan, the windows and the ban of the key', async () => {
    const store = await connect();
    const { plan, windows, bannedUntil } = await store.rateLimit.get();
    assert.deepEqual([plan, bannedUntil], ['enterprise', null]);
    assert.deepEqual(
      windows.map(({ name, limit, remaining }) => [name, limit, remaining]),
      [
        ['minute', 1_000_000, 1_000_000],
        ['day', 1_000_000, 1_000_000],
      ],
    );
  });
});
