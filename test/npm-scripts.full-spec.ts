import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { until } from './support/eventually.js';
import { CLEAN } from './support/service-process.js';

const ROOT = path.join(__dirname, '..');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'animal-store-scripts-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('npm run build', () => {
  const at = (...names: string[]) => path.join(folder, ...names);
  const change = async (file: string, added: string) =>
    writeFile(file, (await readFile(file, 'utf8')) + added);
  /** Returns how many of the two steps ran: Prisma's client, and the service. */
  async function build(): Promise<string | undefined> {
    // As in CI; otherwise wireit restores a deleted `dist` from its cache.
    const env = { ...process.env, WIREIT_CACHE: 'none' };
    const { stdout } = await promisify(execFile)('npm', ['run', 'build'], { cwd: folder, env });
    return /Ran (\d) scripts? and skipped \d/.exec(stdout)?.[1];
  }

  beforeEach(async () => {
    const sources = ['package.json', 'package-lock.json', 'prisma', 'prisma.config.ts', 'src'];
    const settings = ['nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'];
    for (const name of [...sources, ...settings]) {
      await cp(path.join(ROOT, name), at(name), { recursive: true });
    }
    await symlink(path.join(ROOT, 'node_modules'), at('node_modules'), 'junction');
  });

  it('builds only what has changed', async () => {
    expect(await build()).toBe('2');
    expect(await build()).toBe('0');

    await change(at('src', 'pets', 'pages-of-pets.sql'), '-- changed\n');
    await change(at('src', 'settings', 'clock.ts'), 'export const CHANGED = true;\n');
    expect(await build()).toBe('1');
    expect(await readFile(at('dist', 'pets', 'pages-of-pets.sql'), 'utf8')).toContain('-- changed');
    expect(await readFile(at('dist', 'settings', 'clock.js'), 'utf8')).toContain('CHANGED');

    await rm(at('dist'), { recursive: true });
    expect(await build()).toBe('1');
    await access(at('dist', 'main.js'));

    await change(at('prisma', 'schema.prisma'), '// changed\n');
    expect(await build()).toBe('2');
  });
});

describe('npm start', () => {
  it('rebuilds nothing, and stops the service and its PostgreSQL on Ctrl-C', async () => {
    const main = path.join(ROOT, 'dist', 'main.js');
    const { mtimeMs } = await stat(main);
    const npm = spawn('npm', ['start'], {
      cwd: ROOT,
      env: { ...process.env, ...CLEAN, DATA_DIR: path.join(folder, 'data') },
      // A process group of its own, as in a terminal, where Ctrl-C reaches the whole group.
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stdout = '';
    npm.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    await until(() => stdout.includes('listens on'), 60_000);
    expect((await stat(main)).mtimeMs).toBe(mtimeMs);
    // The output ends once every process that writes to it has ended.
    const ended = once(npm.stdout, 'end');
    process.kill(-(npm.pid ?? NaN), 'SIGINT');
    await ended;
    expect(stdout).toMatch(/Ran 0 scripts[^]*Animal Store ends \(SIGINT\)/);
    await expect(access(path.join(folder, 'data', 'postgres', 'postmaster.pid'))).rejects.toThrow('ENOENT');
  });
});
