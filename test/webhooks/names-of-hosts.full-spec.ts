import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { type Collector, startCollector } from '../support/programs/collector.js';
import { KeptOutput } from '../support/programs/kept-output.js';
import { useReceiver } from '../support/programs/receiver.js';
import { CLEAN } from '../support/service/service-process.js';
import { DnsServer } from '../support/programs/dns-server.js';
import { insertDeliveries } from './insert-deliveries.js';

const MAIN = path.join(__dirname, '..', '..', 'dist', 'main.js');
/** An address of this machine alone, because `resolv.conf` names no port. */
const DNS_HOST = '127.7.7.7';
/** With that of the receiver, one for each webhook that there may be. */
const HANGING = Array.from({ length: 19 }, (_value, index) => `${index}.hanging.example`);
const COLLECTOR = 'collector.hanging.example';

const receiver = useReceiver();
let database: TestDatabase;
let collector: Collector;
let dns: DnsServer;
let folder: string;
let service: KeptOutput;
let url: string;
let key: string;

/** Starts a service with an `/etc/hosts` and an `/etc/resolv.conf` of its own. */
async function start(hosts: string, resolver: string, endpoint: string): Promise<void> {
  const files = { hosts: hosts, 'resolv.conf': `nameserver ${DNS_HOST}\n${resolver}` };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(folder, name), `${text}\n`);
  }
  const mounts = Object.keys(files).map((name) => `mount --bind ${path.join(folder, name)} /etc/${name}`);
  const command = [...mounts, `exec ${process.execPath} ${MAIN}`].join(' && ');
  const child = spawn('unshare', ['--mount', 'sh', '-c', command], {
    env: {
      ...process.env,
      ...CLEAN,
      NODE_ENV: 'production',
      APP_ENV: 'staging',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url.replace(/(localhost|127\.0\.0\.1)(?=:)/, 'db.example'),
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  service = new KeptOutput(child);
  await until(() => /listens on/.test(service.stdout), 30_000);
  [, url = ''] = /listens on (http:\/\/[^\s,]+)/.exec(service.stdout) ?? [];
  await until(async () => (await send(`${url}/readyz`)).status === 200, 30_000);
  ({ key } = await issueKey(database, UNLIMITED));
}

/** Returns whether each delivery to a URL has arrived. */
const isDelivered = async (target: string) => {
  const states = await database.query<{ state: string }>(
    'SELECT state FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook_id WHERE url = $1',
    [target],
  );
  return states.length > 0 && states.every(({ state }) => state === 'delivered');
};

/** Only root may give a process files of its own in `/etc`. */
const describeAsRoot = process.getuid?.() === 0 && process.platform === 'linux' ? describe : describe.skip;

describeAsRoot('a service', () => {
  beforeAll(async () => {
    const silent = [...HANGING, COLLECTOR].map((name) => [name, ['no reply']]);
    dns = await DnsServer.start(
      {
        ...Object.fromEntries(silent),
        'db.example': ['127.0.0.1'],
        'receiver.example': ['127.0.0.1'],
        // Nobody listens there.
        'hosts.example': ['127.0.0.2'],
        'collector.example': ['127.0.0.2'],
        'receiver.dev': ['127.0.0.3'],
        'receiver.dev.svc.cluster.local': ['127.0.0.1'],
      },
      53,
      DNS_HOST,
    );
  });
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'names-'));
    database = await createDatabase();
    collector = await startCollector();
  });
  afterEach(async () => {
    process.kill(service.pid, 'SIGKILL');
    await service.ended;
    await collector.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });
  afterAll(() => dns.stop());

  it('delivers, and connects to its database at once, while all other look-ups hang', async () => {
    await start('127.0.0.1 localhost', '', `http://${COLLECTOR}:4318`);
    expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
    for (const name of HANGING) {
      await insertDeliveries(database, `https://${name}/`, 2);
    }
    await until(() => [...HANGING, COLLECTOR].every((name) => dns.queried.includes(name)), 30_000);
    const target = `http://receiver.example:${receiver.port}/hook`;
    await insertDeliveries(database, target, 1);
    await until(() => isDelivered(target), 3000);
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'animal-store%'`,
    );
    const startMs = performance.now();
    await until(async () => (await send(`${url}/v1/pets`, { key })).status === 200, 60_000);
    const awayMs = performance.now() - startMs;
    expect(awayMs).toBeLessThan(2_000);
  });

  it('finds names as its machine does: in the hosts file, and in search domains, before DNS', async () => {
    const port = new URL(collector.url).port;
    const hosts = '127.0.0.1 localhost hosts.example collector.example';
    await start(hosts, 'search svc.cluster.local\noptions ndots:5', `http://collector.example:${port}`);
    const targets = ['hosts.example', 'receiver.dev'].map((name) => `http://${name}:${receiver.port}/hook`);
    for (const target of targets) {
      await insertDeliveries(database, target, 1);
    }
    await until(async () => (await Promise.all(targets.map(isDelivered))).every(Boolean));
    expect(dns.queried).not.toContain('receiver.dev');
    expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
    await until(() => collector.postings.some((posting) => posting.path === '/v1/traces'));
  });
});
