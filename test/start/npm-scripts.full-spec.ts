import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { until } from '../support/eventually.js';
import { CLEAN } from '../support/service/service-process.js';

const ROOT = path.join(__dirname, '..', '..');
/** Between two changes of a file, as by an editor and then a formatter. */
const CHANGE_MS = 40;

/** What the build and `npm run dev` read. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'prisma',
  'prisma.config.ts',
  'src',
  'dev',
  'client/src',
  'console',
];

/** A copy of the project, which all tests share, so that one builds it for the others. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'animal-store-scripts-'));
  for (const name of SOURCES) {
    await cp(path.join(ROOT, name), at(name), { recursive: true });
  }
  await symlink(path.join(ROOT, 'node_modules'), at('node_modules'), 'junction');
});
afterAll(() => rm(folder, { recursive: true }));

const at = (...names: string[]) => path.join(folder, ...names);

const change = async (file: string, added: string) => writeFile(file, (await readFile(file, 'utf8')) + added);

/** Without this, wireit would restore a deleted `dist` from its cache. */
const env = () => ({ ...process.env, ...CLEAN, WIREIT_CACHE: 'none', DATA_DIR: at('data') });

/** The scripts that have not ended yet. */
let running: { pressCtrlC(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.map((run) => run.pressCtrlC()));
});

/**
 * Runs a script of npm in a process group of its own, as in a terminal, where Ctrl-C reaches the whole group.
 * It ends with the test.
 */
function runScript(...args: string[]) {
  const npm = spawn('npm', args, {
    cwd: folder,
    env: env(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run = {
    output: '',
    /** Resolves once every process that writes to the output has ended. */
    pressCtrlC: async () => {
      const ended = once(npm.stdout, 'end');
      process.kill(-(npm.pid ?? NaN), 'SIGINT');
      await ended;
    },
    /** Does so too, but only npm itself gets the signal. */
    signalNpm: async (signal: NodeJS.Signals) => {
      const ended = once(npm.stdout, 'end');
      npm.kill(signal);
      await ended;
    },
  };
  npm.stdout.setEncoding('utf8').on('data', (chunk: string) => (run.output += chunk));
  npm.stderr.setEncoding('utf8').on('data', (chunk: string) => (run.output += chunk));
  running.push(run);
  npm.stdout.on('end', () => (running = running.filter((each) => each !== run)));
  return run;
}

describe('npm run build', () => {
  /** Returns how many of the four steps ran: Prisma's client, the service, its bundle, and the console. */
  async function build(): Promise<string | undefined> {
    const { stdout } = await promisify(execFile)('npm', ['run', 'build'], { cwd: folder, env: env() });
    return /Ran (\d) scripts? and skipped \d/.exec(stdout)?.[1];
  }

  it('builds only what has changed', async () => {
    expect(await build()).toBe('4');
    expect(await build()).toBe('0');

    await change(at('src', 'auth', 'find-keys.sql'), '-- changed\n');
    await change(at('src', 'process', 'clock.ts'), 'export const CHANGED = true;\n');
    expect(await build()).toBe('2');
    expect(await readFile(at('dist', 'auth', 'find-keys.sql'), 'utf8')).toContain('-- changed');
    expect(await readFile(at('dist', 'process', 'clock.js'), 'utf8')).toContain('CHANGED');

    await rm(at('dist'), { recursive: true });
    expect(await build()).toBe('1');
    await access(at('dist', 'main.js'));
  });
});

describe('npm start', () => {
  it('rebuilds nothing, and stops the service and its PostgreSQL on Ctrl-C', async () => {
    const run = runScript('start');
    await until(() => run.output.includes('listens on'), 60_000);
    await run.pressCtrlC();
    expect(run.output).toMatch(/Ran 0 scripts[^]*Animal Store is shutting down \(SIGINT\)/);
    await expect(access(at('data', 'postgres', 'postmaster.pid'))).rejects.toThrow('ENOENT');
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'leaves no process when npm alone gets %s',
    async (signal) => {
      // What comes before it has ended when the service runs.
      const run = runScript('start', '--ignore-scripts');
      await until(() => run.output.includes('listens on'), 60_000);
      await run.signalNpm(signal);
      expect(run.output).toContain('Animal Store is shutting down (');
      await expect(access(at('data', 'postgres', 'postmaster.pid'))).rejects.toThrow('ENOENT');
    },
  );
});

describe('npm run dev', () => {
  it('restarts the service after a change that compiles, but not PostgreSQL; Ctrl-C stops both', async () => {
    const run = runScript('run', 'dev');
    const starts = () => run.output.match(/Animal Store listens on \S+/gm)?.length;
    await until(() => starts() === 1, 60_000);
    const postmaster = await readFile(at('data', 'postgres', 'postmaster.pid'), 'utf8');
    const demoKeys = JSON.parse(await readFile(at('data', 'demo-keys.json'), 'utf8'));
    expect(run.output).toContain(demoKeys.free);

    await change(at('src', 'auth', 'find-keys.sql'), '-- again\n');
    await until(() => starts() === 2, 60_000);
    expect(await readFile(at('build', 'auth', 'find-keys.sql'), 'utf8')).toContain('-- again');

    await change(at('src', 'main.ts'), 'const = 1;\n');
    await until(() => run.output.includes('const = 1;'), 60_000);
    // Each change may come while the one before is compiled.
    for (const word of ['Changing', 'Changed']) {
      await writeFile(at('src', 'main.ts'), `process.stdout.write('${word}\\n');\n`);
      await pause(CHANGE_MS);
    }
    await until(() => run.output.includes('Changed'), 60_000);
    expect(starts()).toBe(2);

    expect(await readFile(at('data', 'postgres', 'postmaster.pid'), 'utf8')).toBe(postmaster);
    await run.pressCtrlC();
    await expect(access(at('data', 'postgres', 'postmaster.pid'))).rejects.toThrow('ENOENT');
  });
});
