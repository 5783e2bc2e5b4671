import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The folder of the client. */
export const CLIENT = path.join(import.meta.dirname, '..', '..');

/**
 * Packs the client and installs the package with its dependencies in a new folder, which is removed after the
 * test.
 *
 * @param type the module type of the project in that folder: `module` or `commonjs`.
 */
export async function installPackage(t, type = 'module') {
  const folder = await mkdtemp(path.join(tmpdir(), 'animal-store-use-'));
  t.after(() => rm(folder, { recursive: true }));
  const modules = path.join(folder, 'node_modules');
  await mkdir(path.join(modules, 'animal-store-client'), { recursive: true });
  const shell = process.platform === 'win32';
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await execute('npm', pack, { cwd: CLIENT, shell });
  const [{ filename, files }] = JSON.parse(stdout);
  await execute('tar', ['-xzf', filename, '--strip-components=1', '-C', 'node_modules/animal-store-client'], {
    cwd: folder,
  });
  for (const name of ['lossless-json', 'openapi-fetch', 'openapi-typescript-helpers']) {
    await symlink(path.join(CLIENT, 'node_modules', name), path.join(modules, name), 'junction');
  }
  const dependencies = { 'animal-store-client': '*' };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type, dependencies }));
  return { folder, files: files.map((file) => file.path) };
}
