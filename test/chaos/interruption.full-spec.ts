import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FAKETIME } from '../support/time/faketime.js';
import { hasRedis } from '../support/programs/redis.js';
import { describeOnDebianPostgres } from '../support/programs/debian-postgres.js';
import { until } from '../support/eventually.js';
import { KeptOutput } from '../support/programs/kept-output.js';
import { reportMissing } from '../support/programs/programs.js';

const ROOT = path.join(import.meta.dirname, '..', '..');
const START_MS = 60_000;

let copy: string;
let run: ChildProcess;
let output: KeptOutput;

/** Starts a run in a checkout of its own, so that it leaves the results of this one as they are. */
function start(): void {
  copy = mkdtempSync(path.join(tmpdir(), 'animal-store-chaos-'));
  const results = path.join(ROOT, 'chaos', 'out');
  cpSync(path.join(ROOT, 'chaos'), path.join(copy, 'chaos'), {
    recursive: true,
    filter: (file) => !file.startsWith(results),
  });
  for (const entry of ['dev', 'dist', 'node_modules', 'package.json', 'src', 'test']) {
    symlinkSync(path.join(ROOT, entry), path.join(copy, entry));
  }
  const args = ['node_modules/jiti/lib/jiti-cli.mjs', 'chaos/main.ts', '--store', 'redis', '--seed', '5'];
  // As a shell does, which sends the SIGINT of Ctrl-C to all processes of a command.
  run = spawn(process.execPath, args, { cwd: copy, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  output = new KeptOutput(run);
}

if (FAKETIME === undefined) {
  reportMissing('the package faketime');
}

(hasRedis() && FAKETIME !== undefined ? describeOnDebianPostgres : describe.skip)('npm run chaos', () => {
  beforeEach(start);

  afterEach(() => {
    run.kill('SIGKILL');
    rmSync(copy, { recursive: true, force: true });
  });

  it('reports what it has seen so far, without a violation, after Ctrl-C', async () => {
    await until(() => /: [1-9]\d{2,} decisions/.test(output.output), START_MS);
    process.kill(-(run.pid ?? NaN), 'SIGINT');
    const [code] = await once(run, 'exit');
    expect(output.output).toContain('The run ended early: it was interrupted');
    const report = readFileSync(path.join(copy, 'chaos', 'out', 'REPORT.md'), 'utf8');
    expect(report).toMatch(/^\| \(a\) .* \| [1-9]\d* \| \d+ \| 0 \|$/m);
    expect(report.match(/^\| \([a-g]\) .* \| 0 \|$/gm)).toHaveLength(7);
    expect(code).toBe(1);
  });
});
