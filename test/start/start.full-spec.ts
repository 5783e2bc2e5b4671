import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ConsoleBrowser } from '../support/browser/console.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
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

  it('prints the addresses, a key for each plan and for an administrator, and a curl command that works when pasted', async () => {
    const url = await start();
    await service.waitForOutput(/Try it:\n.*\n/);
    expect(service.stdout).toContain(`${url}/docs`);
    keys = keysPrinted();
    expect(Object.keys(keys)).toEqual(['free', 'pro', 'business', 'enterprise', 'admin']);
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
    expect(code).toBe(1);
    expect(stderr).toMatch(/in use by another/);
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

  it('applies the migrations, also when two processes start together on an empty database, and seeds nothing', async () => {
    await Promise.all([services.start().ready(), services.start().ready()]);
    expect(await database.query('SELECT count(*)::int FROM plans')).toEqual([{ count: 0 }]);
    const applied = await database.query<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name',
    );
    expect(applied.map(({ migration_name }) => migration_name)).toEqual(OWN_MIGRATIONS);
  });

  it('never migrates in production: it stays up, is not ready, and logs which migrations are missing', async () => {
    const service = services.start({ NODE_ENV: 'production' });
    const url = await service.listening();
    await service.waitForOutput(
      new RegExp(`Not ready: .* lacks the migrations ${OWN_MIGRATIONS.join(', ')}`),
    );
    const responses = await Promise.all([send(`${url}/readyz`), send(`${url}/livez`)]);
    expect(responses.map(({ status }) => status)).toEqual([503, 200]);
    expect(await database.query("SELECT to_regclass('pets')::text AS pets")).toEqual([{ pets: null }]);
  });

  it('does not log a client that disconnects in the middle of its body as an outage', async () => {
    const service = services.start();
    const url = await service.listening();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end(
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    await once(socket.resume(), 'close');
    await send(`${url}/livez`);
    await service.waitForOutput(/"path":"\/livez"/);
    expect(service.stdout).not.toMatch(/"level":"(warn|error)"|database/);
  });
});

describe('a service that cannot start', () => {
  it.each([
    ['PORT', '70000', 'PORT must be a whole number from 0 to 65535'],
    ['HOST', '999.1.1.1', 'HOST 999.1.1.1 and PORT 0 cannot be listened on'],
  ])('ends with a line that names %s=%s', async (name, value, line) => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'animal-store-start-'));
    const { code, stderr } = await run('main.js', { DATA_DIR: dataDir, [name]: value });
    expect([code, stderr]).toEqual([1, expect.stringContaining(line)]);
    expect(stderr).not.toMatch(/^\s+at /m);
    await rm(dataDir, { recursive: true });
  });
});
