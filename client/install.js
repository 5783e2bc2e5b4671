// Installs what the client needs, if it is missing or of another state than the lock file.

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname;
const changedAt = (...names) => statSync(path.join(here, ...names), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (changedAt('node_modules', '.package-lock.json') < changedAt('package-lock.json')) {
  process.stderr.write('Installing the client\n');
  execFileSync('npm', ['ci'], {
    cwd: here,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
}
