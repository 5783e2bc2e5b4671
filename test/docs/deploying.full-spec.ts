import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
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
const PRINTED = ['useradd', 'npm', 'systemctl'].map((name) => `${name}() { echo "${name} $*"; }`).join('\n');

const run = promisify(execFile);

/** Returns the values of each directive of a unit. */
function parseUnit(text: string): Record<string, string[]> {
  const unit: Record<string, string[]> = {};
  for (const [, name = '', value = ''] of text.matchAll(/^(\w+)=(.+)$/gm)) {
    (unit[name] ??= []).push(value);
  }
  return unit;
}

describe('docs/deploying.md, without containers', () => {
  let database: TestDatabase;
  let folder: string;
  let service: KeptOutput | undefined;

  /** Returns a text whose files of the machine are in the folder of the test. */
  const inFolder = (text: string) =>
    text.replaceAll(/(?<=^|[\s:=])\/(?=opt\/|etc\/|usr\/local\/)/gm, `${folder}/`);

  beforeAll(async () => {
    database = await createDatabase('template0');
    folder = await mkdtemp(path.join(tmpdir(), 'deploying-'));
    await mkdir(path.join(folder, 'etc/systemd/system'), { recursive: true });
    await mkdir(path.join(folder, 'usr/local/bin'), { recursive: true });
    const checkout = path.join(folder, 'opt/animal-store');
    await cp(path.join(ROOT, 'deploy'), path.join(checkout, 'deploy'), { recursive: true });
    await cp(path.join(ROOT, 'prisma'), path.join(checkout, 'prisma'), { recursive: true });
    await cp(path.join(ROOT, 'package.json'), path.join(checkout, 'package.json'));
    for (const name of ['node_modules', 'dist', 'console']) {
      await symlink(path.join(ROOT, name), path.join(checkout, name), 'junction');
    }
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
    const shell = (text: string) => {
      const programs = `${folder}/usr/local/bin${path.delimiter}${process.env['PATH']}`;
      const env = { ...process.env, PATH: programs, DATABASE_URL: undefined, NO_COLOR: '1' };
      return run('bash', ['-euo', 'pipefail', '-c', `${PRINTED}\n${text}`], { cwd: folder, env });
    };

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
    const port = await freePort();
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

  it('has a unit that systemd accepts', async () => {
    const systemdAnalyze = locateProgram('systemd-analyze');
    if (systemdAnalyze !== undefined) {
      const unit = path.join(ROOT, 'deploy/animal-store.service');
      const { stderr } = await run(systemdAnalyze, ['verify', unit]);
      expect(stderr).not.toContain('animal-store.service');
    }
  });
});
