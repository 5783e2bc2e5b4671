// `node dev/install.js FOLDER [OPTION]...`: installs the packages of a folder with a lock file of its own, by
// `npm ci` with these options, if they are missing or older than it.

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';

const [target = '', ...options] = process.argv.slice(2);
const folder = path.resolve(target);
const changedAt = (...names) =>
  statSync(path.join(folder, ...names), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (changedAt('node_modules', '.package-lock.json') < changedAt('package-lock.json')) {
  process.stderr.write(
    `Installing the packages of ${path.relative(process.cwd(), folder) || 'this folder'}\n`,
  );
  execFileSync('npm', ['ci', '--no-fund', '--no-audit', ...options], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
}
