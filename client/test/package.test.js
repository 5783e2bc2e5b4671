import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { baseUrl, connect, issueKey } from './support/store.js';

const execute = promisify(execFile);

const HERE = path.join(import.meta.dirname, '..');

test('nothing that is built imports from Node, or names what only Node has', async () => {
  const names = (await readdir(path.join(HERE, 'dist'))).filter((name) => name.endsWith('.js'));
  assert.ok(names.includes('index.js'));
  for (const name of names) {
    const text = await readFile(path.join(HERE, 'dist', name), 'utf8');
    assert.doesNotMatch(text, /['"]node:|\bprocess\.\w|\bBuffer\b|\brequire\(/, name);
  }
});

test('who installs the package is asked to allow no script of it', async () => {
  const { scripts } = JSON.parse(await readFile(path.join(HERE, 'package.json'), 'utf8'));
  const atInstallation = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare'];
  assert.deepEqual(
    atInstallation.filter((name) => name in scripts),
    [],
  );
});

test("the README's start runs as it is", async () => {
  const readme = await readFile(path.join(HERE, 'README.md'), 'utf8');
  const [, start] = /```js\n(.*?)```/s.exec(readme);
  const { key } = await issueKey();
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', start], {
    cwd: HERE,
    env: { ...process.env, ANIMAL_STORE_KEY: key, ANIMAL_STORE_URL: baseUrl },
  });
  const lines = stdout.trimEnd().split('\n');
  assert.match(lines[0], /^added \d+$/);
  assert.equal(lines.at(-1), `${lines[0].split(' ')[1]} Biscuit`);
});

for (const [module, moduleResolution] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
]) {
  test(`what is packed compiles where it is used, strictly, with moduleResolution ${moduleResolution}`, async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'animal-store-use-'));
    t.after(() => rm(folder, { recursive: true }));
    const { files } = JSON.parse(await readFile(path.join(HERE, 'package.json'), 'utf8'));
    for (const name of ['package.json', ...files]) {
      const packed = path.join(folder, 'node_modules', 'animal-store-client', name);
      await cp(path.join(HERE, name), packed, { recursive: true });
    }
    await cp(path.join(HERE, 'test', 'types.ts'), path.join(folder, 'types.ts'));
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: [],
      module,
      moduleResolution,
      noEmit: true,
    };
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    const tsc = path.join(HERE, 'node_modules', 'typescript', 'bin', 'tsc');
    const said = await execute(process.execPath, [tsc, '--project', folder]).catch((error) => error);
    assert.equal(said.stdout, '');
  });
}

test('where a key stands is told', async () => {
  const store = await connect();
  const { plan, windows, bannedUntil } = await store.getRateLimit();
  assert.deepEqual([plan, bannedUntil], ['enterprise', null]);
  assert.deepEqual(
    windows.map(({ name, limit, remaining }) => [name, limit, remaining]),
    [
      ['minute', 1_000_000, 1_000_000],
      ['day', 1_000_000, 1_000_000],
    ],
  );
});
