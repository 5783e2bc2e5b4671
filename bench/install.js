// Installs the packages of the bench when they are missing or older than the lock file, and builds what is
// TypeScript.

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname;
const root = path.join(here, '..');
const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
const changedAt = (...names) => statSync(path.join(here, ...names), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (changedAt('node_modules', '.package-lock.json') < changedAt('package-lock.json')) {
  process.stderr.write('Installing the peers\n');
  run('npm', ['ci', '--no-fund', '--no-audit'], here);
}
run('npx', ['prisma', 'generate', '--schema', 'bench/peers/nest/schema.prisma'], root);
run('npx', ['tsc', '--project', 'bench/peers/nest'], root);
