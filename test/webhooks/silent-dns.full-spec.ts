import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { KeptOutput } from '../support/programs/kept-output.js';
import { CLEAN } from '../support/service/service-process.js';
import { DnsServer } from '../support/programs/dns-server.js';
import { insertDeliveries } from './insert-deliveries.js';

const MAIN = path.join(__dirname, '..', '..', 'dist', 'main.js');
/** An address of this machine alone, because `resolv.conf` names no port. */
const DNS_HOST = '127.7.7.7';
const HANGING = ['one', 'two', 'three', 'four'].map((name) => `${name}.hanging.example`);

/** Only root may give a process a `resolv.conf` of its own. */
const describeAsRoot = process.getuid?.() === 0 && process.platform === 'linux' ? describe : describe.skip;

describeAsRoot('a service whose webhooks have names about which DNS does not reply', () => {
  let database: TestDatabase;
  let dns: DnsServer;
  let folder: string;
  let child: ChildProcess;
  let service: KeptOutput;
  let url: string;

  beforeAll(async () => {
    database = await createDatabase();
    const silent = HANGING.map((name) => [name, ['no reply']]);
    dns = await DnsServer.start({ ...Object.fromEntries(silent), 'db.example': ['127.0.0.1'] }, 53, DNS_HOST);
    folder = await mkdtemp(path.join(tmpdir(), 'resolv-'));
    const file = path.join(folder, 'resolv.conf');
    await writeFile(file, `nameserver ${DNS_HOST}\n`);
    const DATABASE_URL = database.url.replace(/(localhost|127\.0\.0\.1)(?=:)/, 'db.example');
    const command = `mount --bind ${file} /etc/resolv.conf && exec ${process.execPath} ${MAIN}`;
    child = spawn('unshare', ['--mount', 'sh', '-c', command], {
      env: {
        ...process.env,
        ...CLEAN,
        NODE_ENV: 'production',
        APP_ENV: 'staging',
        HOST: '127.0.0.1',
        DATABASE_URL,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    service = new KeptOutput(child);
    await until(() => /listens on/.test(service.stdout), 30_000);
    [, url = ''] = /listens on (http:\/\/[^\s,]+)/.exec(service.stdout) ?? [];
    await until(async () => (await send(`${url}/readyz`)).status === 200, 30_000);
  });
  afterAll(async () => {
    child.kill('SIGKILL');
    await service.ended;
    dns.stop();
    await rm(folder, { recursive: true });
    await database.drop();
  });

  it('connects to its database again at once, though the names of both are looked up', async () => {
    const { key } = await issueKey(database, UNLIMITED);
    for (const name of HANGING) {
      await insertDeliveries(database, `https://${name}/`, 2);
    }
    await until(() => HANGING.every((name) => dns.queried.includes(name)), 30_000);
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'animal-store%'`,
    );
    const startMs = performance.now();
    await until(async () => (await send(`${url}/v1/pets`, { key })).status === 200, 60_000);
    const awayMs = performance.now() - startMs;
    expect(awayMs).toBeLessThan(2_000);
  });
});
