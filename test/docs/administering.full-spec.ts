import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { ServiceProcess } from '../support/service/service-process.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** Returns the commands from an empty database to a rotated key, block by block, exactly as documented. */
async function documentedCommands(): Promise<string[]> {
  const text = await readFile(path.join(ROOT, 'docs', 'administering.md'), 'utf8');
  const walk = text.slice(text.indexOf('## From an empty database'), text.indexOf('## Commands and routes'));
  return [...walk.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands);
}

describe('docs/administering.md', () => {
  let database: TestDatabase;
  let folder: string;
  let service: ServiceProcess | undefined;

  beforeAll(async () => {
    database = await createDatabase('template0');
    folder = await mkdtemp(path.join(tmpdir(), 'administering-'));
    for (const name of ['package.json', 'prisma.config.ts', 'prisma', 'src/process']) {
      await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true });
    }
    for (const name of ['node_modules', 'dist']) {
      await symlink(path.join(ROOT, name), path.join(folder, name), 'junction');
    }
  });
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await database.drop();
    await rm(folder, { recursive: true });
  });

  it('has commands that lead from an empty database to a rotated key', async () => {
    const [setUp = '', ...rest] = await documentedCommands();
    // The test has its own database and its own address of the service.
    const [, ...prepare] = setUp.split('\n');
    const env = { ...process.env, DATABASE_URL: database.url, APP_ENV: 'production', NO_COLOR: '1' };
    const shell = (commands: string, more: Record<string, string> = {}) =>
      run('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env: { ...env, ...more } });

    const seeded = await shell(prepare.join('\n'));
    const [, administrator = ''] =
      /The administrator's key, shown this once: (ask_live_\w{38})\n/.exec(seeded.stdout) ?? [];
    expect(administrator).not.toBe('');

    service = new ServiceProcess('main.js', {
      DATABASE_URL: database.url,
      APP_ENV: 'production',
      HOST: '127.0.0.1',
    });
    const url = await service.listening();
    const { stdout } = await shell(rest.join('\n').replaceAll('http://localhost:3000', url), {
      ANIMAL_STORE_KEY: administrator,
    });

    expect(stdout.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200']);
    expect(stdout.match(/^x-api-key-expires: .*GMT/gim)).toHaveLength(1);
    // Both keys used one quota. The day is compared because a minute may end meanwhile.
    expect(stdout.match(/"day";r=\d+/g)).toEqual(
      [9999, 9998, 9997].map((remaining) => `"day";r=${remaining}`),
    );
    expect(stdout).toMatch(/ listPets +- +2 +2 +0 +0 +0 +0 /);
    expect(stdout.match(/ key\.\w+ +"[^"]+"/g)?.map((text) => text.replace(/ +(?=")/, ' '))).toEqual([
      ` key.revoked "Ann's shop"`,
      ` key.rotated "Ann's shop"`,
      ` key.issued "Ann's shop"`,
      ` key.issued "administrator"`,
    ]);
    expect(stdout).not.toContain('None.');
    // The bill, from the routes and from the terminal.
    const columns = /^keyId,keyName,prefix,lastFour,quotaId,externalId,plan,requests,denied,2xx/m;
    expect(await readFile(path.join(folder, 'november.csv'), 'utf8')).toMatch(columns);
    expect(stdout).toMatch(columns);
  });
});
