import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import path from 'node:path';
import { findPostgresBinaries } from '../dist/embedded-postgres/postgres-binaries.js';
import { sharing } from './machine.js';

const ROOT = path.join(import.meta.dirname, '..');
/** What a figure depends on; a document is none of it. */
const MEASURED = ['package-lock.json', 'prisma', 'src', 'bench', ':!bench/README.md'];

/** When, of which commit and on what is measured: no figure says anything without. */
export async function readCircumstances() {
  const { postgres } = await findPostgresBinaries();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: readCommit(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
    cores: availableParallelism(),
    node: process.version,
    postgres: execFileSync(postgres, ['--version'], { encoding: 'utf8' }).trim(),
    sharing,
  };
}

export const describeCircumstances = ({ date, commit, cpu, cores, node, postgres, sharing: shared }) =>
  `Measured on ${date}, commit ${commit}: ${cpu}, ${cores} cores; Node ${node}; ${postgres}; ${shared}.`;

function readCommit() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const changed = git('status', '--porcelain', '--', ...MEASURED) !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
  } catch {
    return 'unknown';
  }
}
