// `npm run chaos:defect -- 1 6`: puts each of these defects into a copy of the service, and checks, all at
// once, that the verifier finds it.

import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const start = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '..');
const DEFECTS = path.join(import.meta.dirname, 'defects');
/** Build output, which git does not contain. */
const BUILT = ['build', 'console/dist'];
/**
 * A run in which each of the defects has its occasion: a clock that is off, a freeze and a crash of the
 * database.
 */
const RUN = ['--minutes', '0.7', '--seed', '58'];

/** Builds a copy anew with its changed files, which it compiles as `npm run dev` would. */
async function build(copy: string, files: string[]): Promise<void> {
  const { compile } = (await import(path.join(copy, 'dev', 'compile.js'))) as {
    compile: (changed: string[]) => Promise<boolean>;
  };
  if (!(await compile(files))) {
    throw new Error('It does not compile');
  }
  await import(path.join(copy, 'dev', 'bundle.js'));
}

/** Returns whether the verifier finds a defect by the claim that its patch names. */
async function isFound(name: string): Promise<boolean> {
  const patch = path.join(DEFECTS, name);
  const [, letter = ''] = /^Claim \(([a-g])\)/m.exec(readFileSync(patch, 'utf8')) ?? [];
  const copy = mkdtempSync(path.join(tmpdir(), 'animal-store-defect-'));
  try {
    execFileSync('git', ['worktree', 'add', '--detach', '--force', copy, 'HEAD'], {
      cwd: ROOT,
      stdio: 'pipe',
    });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
    BUILT.forEach((folder) => cpSync(path.join(ROOT, folder), path.join(copy, folder), { recursive: true }));
    await start('git', ['apply', patch], { cwd: copy });
    const { stdout: changed } = await start('git', ['diff', '--name-only', '-z'], { cwd: copy });
    const files = changed
      .split('\0')
      .filter(Boolean)
      .map((file) => path.join(copy, file));
    await build(copy, files);
    const args = [path.join(copy, 'node_modules/.bin/jiti'), path.join(copy, 'chaos/main.ts'), ...RUN];
    // It ends with 1 once it has found violations.
    const { stderr } = await start(process.execPath, args, { cwd: copy }).catch(
      (error: { stderr: string }) => error,
    );
    const row = stderr.split('\n').find((line) => line.startsWith(`| (${letter}) `)) ?? stderr;
    process.stdout.write(`${name}: ${row}\n`);
    return Number(row.split('|').at(-2)) > 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
    execFileSync('git', ['worktree', 'prune'], { cwd: ROOT });
  }
}

// Ctrl-C ends the processes that it waits for; then it removes the copies.
process.on('SIGINT', () => {});

const wanted = process.argv.slice(2);
const names = readdirSync(DEFECTS).filter((name) => wanted.some((number) => name.startsWith(`${number}-`)));
if (names.length !== wanted.length || names.length === 0) {
  process.stderr.write(`The defects are ${readdirSync(DEFECTS).join(', ')}; give their numbers\n`);
  process.exitCode = 2;
} else {
  const outcomes = await Promise.allSettled(names.map(isFound));
  const failures = outcomes.flatMap((outcome, index) => {
    const name = names[index];
    if (outcome.status === 'rejected') {
      return [`${name} could not be tried: ${String(outcome.reason)}\n`];
    }
    return outcome.value ? [] : [`${name} was not found by its claim\n`];
  });
  process.stderr.write(failures.join(''));
  process.exitCode = failures.length > 0 ? 1 : 0;
}
