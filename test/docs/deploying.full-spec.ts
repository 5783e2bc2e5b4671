import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { documented } from '../support/documented-commands.js';
import { until } from '../support/eventually.js';
import { freePort } from '../support/programs/free-port.js';
import { KeptOutput } from '../support/programs/kept-output.js';
import { locateProgram } from '../support/programs/programs.js';
import { CLEAN } from '../support/service/service-process.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const START_MS = 30_000;
const ADDRESS = 'postgres://animal_store:PASSWORD@localhost:5432/animal_store';
/** What would change this machine is printed instead. */
const PRINTED = ['useradd', 'git', 'npm', 'systemctl']
  .map((name) => `${name}() { echo "${name} $*"; }`)
  .join('\n');

const run = promisify(execFile);

/** Returns the values of each directive of a unit. */
function parseUnit(text: string): Record<string, string[]> {
  const unit: Record<string, string[]> = {};
  for (const [, name = '', value = ''] of text.matchAll(/^(\w+)=(.+)$/gm)) {
    (unit[name] ??= []).push(value);
  }
  return unit;
}

describe('docs/deploying.md and docs/operating.md, without containers', () => {
  let database: TestDatabase;
  let folder: string;
  let service: KeptOutput | undefined;
  let port: number;

  /** Returns a text whose files of the machine are in the folder of the test. */
  const inFolder = (text: string) =>
    text.replaceAll(/(?<=^|[\s:=])\/(?=opt\/|etc\/|usr\/local\/)/gm, `${folder}/`);

  /** Makes a folder as a checkout of a release has after its build. */
  async function checkOut(name: string, migration?: string, sql = 'SELECT 1;'): Promise<void> {
    const checkout = path.join(folder, name);
    for (const copied of ['deploy', 'prisma', 'package.json', 'dist']) {
      await cp(path.join(ROOT, copied), path.join(checkout, copied), { recursive: true });
    }
    for (const linked of ['node_modules', 'console']) {
      await symlink(path.join(ROOT, linked), path.join(checkout, linked), 'junction');
    }
    if (migration !== undefined) {
      await mkdir(path.join(checkout, 'prisma/migrations', migration));
      await writeFile(path.join(checkout, 'prisma/migrations', migration, 'migration.sql'), sql);
    }
  }

  const shell = (text: string) => {
    const programs = `${folder}/usr/local/bin${path.delimiter}${process.env['PATH']}`;
    const env = { ...process.env, PATH: programs, DATABASE_URL: undefined, NO_COLOR: '1' };
    // As in a terminal, a command that fails does not end those below it.
    return run('bash', ['-c', `${PRINTED}\n${text}`], { cwd: folder, env });
  };

  beforeAll(async () => {
    database = await createDatabase('template0');
    folder = await mkdtemp(path.join(tmpdir(), 'deploying-'));
    await mkdir(path.join(folder, 'etc/systemd/system'), { recursive: true });
    await mkdir(path.join(folder, 'usr/local/bin'), { recursive: true });
    await checkOut('opt/animal-store-1.0.0');
    await symlink('animal-store-1.0.0', path.join(folder, 'opt/animal-store'));
  });
  afterAll(async () => {
    if (service !== undefined) {
      process.kill(service.pid);
      await service.ended;
    }
    await database.drop();
    await rm(folder, { recursive: true });
  });

  it('has commands from a new user to the first request, which the program of the unit serves', async () => {
    const commands = inFolder(documented('deploying.md', 'Without containers')).replace(
      ADDRESS,
      database.url,
    );
    const request = commands.indexOf('curl');
    const { stdout } = await shell(commands.slice(0, request));
    const [, key = ''] = /The administrator's key, shown this once: (ask_live_\w{38})\n/.exec(stdout) ?? [];
    const addressFile = path.join(folder, 'etc/animal-store/database-url');
    expect((await stat(addressFile)).mode & 0o777).toBe(0o600);

    const unitFile = path.join(folder, 'etc/systemd/system/animal-store.service');
    const unit = parseUnit(inFolder(await readFile(unitFile, 'utf8')));
    expect(stdout).toMatch(new RegExp(`^useradd .* ${unit['User']?.[0]}$`, 'm'));
    expect(stdout).toMatch(/^systemctl enable --now animal-store$/m);
    expect(unit['LoadCredential']).toEqual([`database-url:${addressFile}`]);
    const settings = unit['Environment']?.join(' ').replace('%d', path.dirname(addressFile)) ?? '';
    port = await freePort();
    const [node, ...args] = unit['ExecStart']?.[0]?.split(' ') ?? [];
    expect(node).toBe('/usr/bin/node');
    const env = Object.fromEntries(settings.split(' ').map((setting) => setting.split('=')));
    service = new KeptOutput(
      spawn(process.execPath, args, {
        cwd: unit['WorkingDirectory']?.[0],
        env: { ...process.env, ...CLEAN, ...env, PORT: String(port) },
      }),
    );
    await until(() => service?.output.includes('Server listening') === true, START_MS);

    const curl = commands.slice(request).replace('ask_live_…', key).replace(':3000', `:${port}`);
    const response = (await shell(curl)).stdout;
    expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(response).toMatch(/^x-ratelimit-remaining: \d+\r$/im);
    expect(response).toMatch(/\r\n\r\n\[\]$/);
  });

  it('has commands that change nothing if the migration fails', async () => {
    await checkOut('opt/animal-store-1.1.0', '20991231000000_next', 'SELECT 1 / 0;');
    const commands = inFolder(documented('operating.md', 'On a machine with systemd'));
    await expect(shell(commands)).rejects.toMatchObject({
      stdout: expect.not.stringContaining('systemctl restart'),
      stderr: expect.stringContaining('division by zero'),
    });
    expect(await readlink(path.join(folder, 'opt/animal-store'))).toBe('animal-store-1.0.0');
    await rm(path.join(folder, 'opt/animal-store-1.1.0'), { recursive: true });
  });

  it('has commands that replace no second replica unless the first is ready', async () => {
    await checkOut('opt/animal-store-1.0.1');
    const commands = inFolder(documented('operating.md', 'On a machine with systemd'))
      .replaceAll('1.1.0', '1.0.1')
      .replace('--retry 60', '--retry 1')
      .replaceAll('localhost:$PORT', `localhost:${await freePort()}`);
    const { stdout } = await shell(commands);
    expect(stdout).toContain('systemctl restart animal-store@3000');
    expect(stdout).not.toContain('systemctl restart animal-store@3001');
  });

  it('has commands that migrate by the next release, and restart replica after replica on it', async () => {
    await checkOut('opt/animal-store-1.1.0', '20991231000000_next');
    const commands = inFolder(documented('operating.md', 'On a machine with systemd'));
    const { stdout } = await shell(commands.replaceAll('localhost:$PORT', `localhost:${port}`));
    expect(stdout.split('\n')).toEqual([
      `git -C ${folder}/opt/animal-store fetch --tags`,
      `git -C ${folder}/opt/animal-store worktree add ${folder}/opt/animal-store-1.1.0 v1.1.0`,
      'npm ci',
      expect.stringMatching(/^npm prune /),
      'Applied the migration 20991231000000_next.',
      'The database is up to date.',
      'systemctl restart animal-store@3000',
      // The release before it goes on serving.
      '{"status":"ok"}systemctl restart animal-store@3001',
      '{"status":"ok"}',
    ]);
    expect(await readlink(path.join(folder, 'opt/animal-store'))).toBe(`${folder}/opt/animal-store-1.1.0`);
  });

  it('has units that systemd accepts, for one replica and for several', async () => {
    const units = path.join(folder, 'etc/systemd/system');
    const commands = inFolder(documented('deploying.md', 'Two replicas on one machine'));
    const { stdout } = await shell(`cd opt/animal-store\n${commands}`);
    expect(stdout).toContain('systemctl enable --now animal-store@3000 animal-store@3001');
    const systemdAnalyze = locateProgram('systemd-analyze');
    if (systemdAnalyze !== undefined) {
      for (const unit of ['animal-store.service', 'animal-store@3001.service']) {
        const { stderr } = await run(systemdAnalyze, ['verify', path.join(units, unit)]);
        expect(stderr).not.toContain('animal-store');
      }
    }
  });
});
