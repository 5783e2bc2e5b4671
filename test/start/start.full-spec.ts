import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { BUILT_IN_PLAN_NAMES } from '../../src/auth/rules/built-in-plans.js';
import { ConsoleBrowser } from '../support/programs/browser.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { run, ServiceProcess } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

describe('a service with an embedded database', () => {
  let dataDir: string;
  let service: ServiceProcess;
  /** The keys that it prints, by plan. */
  let keys: Record<string, string>;

  beforeAll(async () => {
    dataDir = path.join(await mkdtemp(path.join(tmpdir(), 'animal-store-start-')), 'data');
  });
  afterAll(async () => {
    await service.kill('SIGTERM');
    await rm(path.dirname(dataDir), { recursive: true });
  });

  const start = async () => {
    service = new ServiceProcess('main.js', { DATA_DIR: dataDir });
    return service.listening();
  };
  const keysPrinted = (): Record<string, string> =>
    Object.fromEntries(
      Array.from(service.stdout.matchAll(/^ {2}(\w+) +(ask_test_\w{38})$/gm), ([, name, key]) => [name, key]),
    );
  const pidFile = () => readFile(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
  /** PostgreSQL removes this file at the end of a clean shutdown. */
  const postgresEnded = () => expect(pidFile()).rejects.toThrow('ENOENT');

  it('prints the addresses, the keys of plans and administrator, and a curl command that works', async () => {
    const url = await start();
    await service.waitForOutput(/Try it:\n.*\n/);
    expect(service.stdout).toContain(`${url}/docs`);
    keys = keysPrinted();
    expect(Object.keys(keys)).toEqual([...BUILT_IN_PLAN_NAMES, 'admin', 'team']);
    const line = /^ {2}(curl .*)$/m.exec(service.stdout)?.[1] ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', line]);
    expect(stdout).toMatch(/^HTTP\/1.1 200 OK/);
    expect(stdout).toContain('"name":"Biscuit"');
  });

  it('prints the address of the console, where these keys sign in', async () => {
    const address = /^ {2}console +(http:\S+)\/console$/m.exec(service.stdout)?.[1] ?? '';
    const browser = await ConsoleBrowser.start(address);
    try {
      for (const [name, apiKey] of Object.entries(keys)) {
        const { page, complaints } = await browser.open('', { apiKey });
        await page.getByRole('heading', { name: 'Overview' }).waitFor();
        const administration = page.getByRole('navigation', { name: 'Administration' });
        await page.getByRole('button', { name: new RegExp(`^Account.* · …${apiKey.slice(-4)}`) }).waitFor();
        expect([name, await administration.isVisible()]).toEqual([name, name === 'admin']);
        expect(complaints).toStrictEqual([]);
      }
    } finally {
      await browser.close();
    }
  });

  it('listens only on 127.0.0.1, and keeps the keys in a file that only its owner can read', async () => {
    expect(service.stdout).toMatch(/listens on http:\/\/127\.0\.0\.1:/);
    expect((await stat(path.join(dataDir, 'demo-keys.json'))).mode & 0o777).toBe(0o600);
  });

  it('accepts a key that the terminal issues while it runs', async () => {
    const issue = ['keys', 'issue', '--name', 'x', '--plan', 'pro', '--json'];
    const { stdout } = await run('cli/admin.js', { DATA_DIR: dataDir }, ...issue);
    const { status, headers } = await send(`${await service.listening()}/v1/pets`, JSON.parse(stdout));
    expect([status, headers.get('x-ratelimit-limit')]).toEqual([200, '300']);
  });

  it('exits with the reason when another process uses the same data', async () => {
    const { code, stderr } = await run('main.js', { DATA_DIR: dataDir });
    expect([code, stderr]).toEqual([
      1,
      `The embedded PostgreSQL in ${dataDir} cannot be used: it is in use by another animal-store process\n` +
        'Stop that process, or set DATA_DIR and PORT for this one.\n',
    ]);
  });

  it('stops cleanly on Ctrl-C, with its PostgreSQL', async () => {
    const { code } = await service.interrupt();
    expect(code).toBe(0);
    await postgresEnded();
    // Only the service stopped PostgreSQL, and it ended gracefully.
    expect(await readFile(path.join(dataDir, 'postgres.log'), 'utf8')).toMatch(
      /received fast shutdown request[^]*database system is shut down\n$/,
    );
  });

  it('keeps all data over a restart, and prints the same keys', async () => {
    const url = await start();
    await service.waitForOutput(/Try it:/);
    expect(keysPrinted()).toEqual(keys);
    expect((await send(`${url}/v1/pets?limit=100`, { key: keys['business'] })).json).toHaveLength(36);
  });

  it('recovers after SIGKILL, with all that it had acknowledged', async () => {
    const init = { key: keys['business'], method: 'POST', body: { name: 'Last', categoryId: 1 } };
    const { json: pet } = await send(`${await service.listening()}/v1/pets`, init);
    await service.kill('SIGKILL');
    const { json } = await send(`${await start()}/v1/pets/${pet.id}`, { key: keys['business'] });
    expect(json).toEqual(pet);
  });

  it('stops cleanly during its start', async () => {
    await service.kill('SIGTERM');
    service = new ServiceProcess('main.js', { DATA_DIR: dataDir });
    // PostgreSQL runs as soon as it writes its file; the service listens much later.
    await until(async () => (await pidFile().catch(() => '')).includes('ready'));
    expect(await service.kill('SIGTERM')).toMatchObject({
      code: 0,
      signal: null,
      stdout: expect.not.stringContaining('listens'),
    });
    await postgresEnded();
  });
});

describe('a service with DATABASE_URL', () => {
  let database: TestDatabase;
  const services = new ServiceProcesses(() => ({ DATABASE_URL: database.url, NODE_ENV: '' }));

  beforeEach(async () => {
    database = await createDatabase('template0');
  });
  afterEach(async () => {
    await services.end('SIGTERM');
    await database.drop();
  });

  it.each(['', 'production'])(
    'never migrates it with NODE_ENV "%s": it is not ready, and logs what to do',
    async (NODE_ENV) => {
      const service = services.start({ NODE_ENV });
      const url = await service.listening();
      await service.waitForOutput(
        new RegExp(
          `Not ready: .* lacks the migrations ${OWN_MIGRATIONS.join(', ')}; ` +
            `run \\\\"npx prisma migrate deploy`,
        ),
      );
      const responses = await Promise.all([send(`${url}/readyz`), send(`${url}/livez`)]);
      expect(responses.map(({ status }) => status)).toEqual([503, 200]);
      expect(await database.query("SELECT to_regclass('pets')::text AS pets")).toEqual([{ pets: null }]);
    },
  );

  it('logs how to issue the first key once it is migrated, and no more when there is one', async () => {
    const NO_KEY = /"msg":"There is no API key yet: run \\"npx prisma db seed\\"/;
    const service = services.start();
    await service.waitForOutput(/Not ready/);
    expect(service.stdout).not.toMatch(NO_KEY);
    const environment = { DATABASE_URL: database.url, APP_ENV: 'staging' };
    expect(await run('cli/admin.js', environment, 'migrate')).toMatchObject({ code: 0 });
    await service.waitForOutput(NO_KEY);
    expect(await run('cli/admin.js', environment, 'seed')).toMatchObject({ code: 0 });
    const next = services.start();
    await next.ready();
    await next.kill('SIGTERM');
    expect(next.stdout).not.toMatch(NO_KEY);
  });

  it('prints the addresses of console, reference, health and metrics', async () => {
    const service = services.start({ METRICS_PORT: '0' });
    const url = await service.listening();
    const [, metrics = ''] = await service.waitForOutput(/^Animal Store .*, metrics (http:\S+)$/m);
    expect(service.stdout).toContain(
      `Animal Store listens on ${url}, console ${url}/console, reference ${url}/docs, health ` +
        `${url}/readyz, metrics`,
    );
    expect((await send(metrics)).status).toBe(200);
    expect(service.stdout).not.toContain('ask_');
  });

  it('logs once that a setting with an earlier name should be renamed, and uses it', async () => {
    const service = services.start({ MAX_CONCURRENT_REQUESTS: '7', WEBHOOK_PRIVATE_ADDRESSES: '' });
    await service.listening();
    await service.kill('SIGTERM');
    const lines = service.stdout.split('\n').filter((line) => line.includes('"Settings"'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 'warn',
        time: expect.any(String),
        context: 'Settings',
        msg: 'The setting MAX_CONCURRENT_REQUESTS is now MAX_CONCURRENT_REQUESTS_PER_OPERATION: rename it.',
      },
    ]);
  });

  it('does not log a client that disconnects in the middle of its body as an outage', async () => {
    const migrated = await createDatabase();
    await issueKey(migrated);
    const service = services.start({ DATABASE_URL: migrated.url });
    const url = await service.listening();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end(
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    await once(socket.resume(), 'close');
    await send(`${url}/livez`);
    await service.waitForOutput(/"path":"\/livez"/);
    expect(service.stdout).not.toMatch(/"level":"(warn|error)"|database/);
    await service.kill('SIGTERM');
    await migrated.drop();
  });
});

describe('a service that cannot start', () => {
  let database: TestDatabase;
  let folder: string;
  beforeEach(async () => {
    database = await createDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'animal-store-start-'));
  });
  afterEach(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });

  const start = (env: Record<string, string>) =>
    run('main.js', { DATABASE_URL: database.url, APP_ENV: 'staging', HOST: '127.0.0.1', ...env });

  it.each([
    ['PORT', '70000', 'The settings are wrong:\nPORT must be a whole number from 0 to 65535\n'],
    ['HOST', '999.1.1.1', /^This machine has no address 999\.1\.1\.1: set HOST to one of its addresses, or/],
    ['HOST', '192.0.2.1', /^This machine has no address 192\.0\.2\.1: set HOST to one of its addresses, or/],
  ])('ends with a line that names %s=%s', async (name, value, line) => {
    const { code, stderr } = await start({ [name]: value });
    expect([code, stderr]).toEqual([1, line instanceof RegExp ? expect.stringMatching(line) : line]);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each(['PORT', 'METRICS_PORT'])(
    'ends with a line that says what to do if its %s is in use',
    async (name) => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const { code, stdout, stderr } = await start({ [name]: String(port) });
      other.close();
      expect(stdout).not.toMatch(/Not ready|EADDRINUSE/);
      expect([code, stderr]).toEqual([1, `Port ${port} is in use: stop that program, or set ${name}\n`]);
    },
  );

  it('ends with a line, and no PostgreSQL of its own, if .env is a folder', async () => {
    await mkdir(path.join(folder, '.env'));
    const main = path.resolve('dist/main.js');
    const ended = await promisify(execFile)(process.execPath, [main], { cwd: folder }).catch(
      (error) => error,
    );
    expect(ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'The settings are wrong:\n.env cannot be read: it is a folder\n',
    });
    expect(await readdir(folder)).toEqual(['.env']);
  });

  it('uses the first setting of a .env with a byte order mark', async () => {
    await writeFile(
      path.join(folder, '.env'),
      '\uFEFFDATABASE_URL=mysql://db.example\r\nAPP_ENV=staging\r\n',
    );
    const main = path.resolve('dist/main.js');
    const ended = await promisify(execFile)(process.execPath, [main], { cwd: folder }).catch(
      (error) => error,
    );
    expect(ended.stderr).toBe('The settings are wrong:\nDATABASE_URL must be a postgres:// address\n');
  });
});
