import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  findEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../src/embedded-postgres/embedded-postgres.js';
import { findPostgresBinaries } from '../src/embedded-postgres/postgres-binaries.js';
import { chooseServerAccount } from '../src/embedded-postgres/postgres-command.js';
import { startServer } from '../src/embedded-postgres/postgres-server.js';
import { parsePostmasterPid } from '../src/embedded-postgres/postmaster-pid.js';
import { eventually } from './support/eventually.js';
import { send } from './support/http.js';
import { ServiceProcess } from './support/service-process.js';

const linuxIt = process.platform === 'linux' ? it : it.skip;
const IN_USE = /in use by another animal-store process \(process \d+.*set DATA_DIR or DATABASE_URL/;

/** The owner's lock, a row while it is held. */
const OWNERS = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted";

/** Closed to everybody else, as /root and mktemp folders are. */
let parent: string;
/** A cluster that was made once; every test has a copy of its own, which root's copy makes root's. */
let template: string;
let dataDir: string;
let children: ChildProcess[] = [];

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
  await chmod(parent, 0o700);
  template = join(parent, 'template');
  await (await startEmbeddedPostgres(template)).stop();
}, 60_000);

afterAll(() => rm(parent, { recursive: true, force: true }));

beforeEach(async () => {
  dataDir = await mkdtemp(join(parent, 'data-'));
});

afterEach(async () => {
  jest.restoreAllMocks();
  for (const child of children) {
    child.kill('SIGKILL');
  }
  children = [];
  if ((await findEmbeddedPostgres(dataDir)) !== null) {
    await (await startEmbeddedPostgres(dataDir)).stop();
  }
});

describe('the first start', () => {
  it('makes a database that only its password opens, in files that only their owner reads', async () => {
    const postgres = await startEmbeddedPostgres(dataDir);
    const url = new URL(postgres.url);
    expect(url.hostname).toBe('127.0.0.1');
    expect(url.pathname).toBe('/animal_store');
    expect(await query(postgres.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    expect(await query(postgres.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
    for (const name of ['postgres', 'postgres.log', 'postgres/animal_store.password']) {
      expect((await stat(join(dataDir, name))).mode & 0o077).toBe(0);
    }
    url.password = 'wrong';
    await expect(query(url.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    await postgres.stop();
  });

  it('is had by one of two that come at the same instant', async () => {
    const answers = await Promise.all([startOwner(), startOwner()].map(answer));
    expect(answers.filter((text) => text.startsWith('postgresql:'))).toHaveLength(1);
    expect(answers.filter((text) => IN_USE.test(text))).toHaveLength(1);
    expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'postgres.log']);
  });

  it('is not hindered by one that was killed in the middle', async () => {
    const killed = startOwner();
    while (!(await readdir(dataDir)).some((name) => name.startsWith('.postgres-in-the-making-'))) {
      await sleep(5);
    }
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const postgres = await startEmbeddedPostgres(dataDir);
    await postgres.stop();
    // The initdb of the killed one may have gone on for a moment, and then the next start sweeps again.
    await sleep(1000);
    await (await startEmbeddedPostgres(dataDir)).stop();
    expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'postgres.log']);
  });
});

describe('a later start', () => {
  beforeEach(copyTemplate);

  it('finds what was written before the stop', async () => {
    const first = await startEmbeddedPostgres(dataDir);
    await query(first.url, 'CREATE TABLE pet AS SELECT 7 AS id');
    expect(await findEmbeddedPostgres(dataDir)).toBe(first.url);
    await Promise.all([first.stop(), first.stop()]);
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();

    const second = await startEmbeddedPostgres(dataDir);
    expect(await query(second.url, 'SELECT id FROM pet')).toEqual([{ id: 7 }]);
    await second.stop();
  });

  it('takes over the server of an owner that was killed', async () => {
    const owner = startOwner();
    const url = await answer(owner);
    await query(url, 'CREATE TABLE pet AS SELECT 7 AS id');
    const pid = await postmasterPid();
    owner.kill('SIGKILL');

    const postgres = await startEmbeddedPostgres(dataDir);
    expect(postgres.url).toBe(url);
    expect(await postmasterPid()).toBe(pid);
    expect(await query(postgres.url, 'SELECT id FROM pet')).toEqual([{ id: 7 }]);
    await postgres.stop();
  });

  it('recovers when the server was killed with its owner', async () => {
    const owner = startOwner();
    await query(await answer(owner), 'CREATE TABLE pet AS SELECT 7 AS id');
    process.kill(await postmasterPid(), 'SIGKILL');
    owner.kill('SIGKILL');

    const postgres = await startEmbeddedPostgres(dataDir);
    expect(await query(postgres.url, 'SELECT id FROM pet')).toEqual([{ id: 7 }]);
    await postgres.stop();
  });

  it('is refused while another owner lives, which goes on undisturbed', async () => {
    const url = await answer(startOwner());
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(IN_USE);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('asks for its owner again when its connection is ended while it waits', async () => {
    const url = await answer(startOwner());
    await Promise.all([
      expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(IN_USE),
      endConnectionBetweenItsQuestions(url, `animal-store owner, process ${process.pid}`),
    ]);
  });

  it('waits for an owner that is about to stop', async () => {
    const first = await startEmbeddedPostgres(dataDir);
    const [, second] = await Promise.all([first.stop(), startEmbeddedPostgres(dataDir)]);
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await second.stop();
  });

  it('is not hindered by the pid file of a process that is gone', async () => {
    const gone = spawn('sleep', ['0']);
    await once(gone, 'exit');
    await writePidFile(`${gone.pid}\n${dataDir}/postgres\n1\n5432\n\n127.0.0.1\n\nready\n`);
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
    await (await startEmbeddedPostgres(dataDir)).stop();
  });

  it.each(['of our own account', "of the server's account"])(
    'is not hindered by a pid file whose number now belongs to another program %s',
    async (whose) => {
      const { uid, gid } = await stat(join(template, 'postgres'));
      const account = whose === 'of our own account' ? {} : { uid, gid };
      const other = spawn('sleep', ['60'], { cwd: '/', ...account });
      children.push(other);
      await writePidFile(`${other.pid}\n${dataDir}/postgres\n1\n5432\n\n127.0.0.1\n\nready\n`);
      expect(await findEmbeddedPostgres(dataDir)).toBeNull();
      await (await startEmbeddedPostgres(dataDir)).stop();
      expect(other.exitCode).toBeNull();
    },
  );

  it('is not hindered by a pid file whose number now belongs to another PostgreSQL', async () => {
    const other = await startEmbeddedPostgres(template);
    await copyFile(join(template, 'postgres/postmaster.pid'), join(dataDir, 'postgres/postmaster.pid'));
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
    const postgres = await startEmbeddedPostgres(dataDir);
    expect(postgres.url).not.toBe(other.url);
    await postgres.stop();
    await other.stop();
  });

  it('is not hindered by a pid file that a crash left empty', async () => {
    await writePidFile('');
    await (await startEmbeddedPostgres(dataDir)).stop();
  });

  it('is refused for data of another major version, and leaves it as it was', async () => {
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '17\n');
    const before = await readdir(dataDir, { recursive: true });
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(
      /is of PostgreSQL 17, but the embedded one is PostgreSQL 18\. Nothing was changed.*pg_dump/,
    );
    expect(await readdir(dataDir, { recursive: true })).toEqual(before);
  });

  it('is refused where something else lies', async () => {
    await rm(join(dataDir, 'postgres/PG_VERSION'));
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(/holds no PostgreSQL data/);
  });

  it('shows the end of the log when the server does not start', async () => {
    await writeFile(join(dataDir, 'postgres/postgresql.conf'), 'no_such_setting = 1\n');
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(
      /pg_ctl, exit code 1[^]*unrecognized configuration parameter "no_such_setting"/,
    );
  });
});

describe('while it runs', () => {
  let postgres: EmbeddedPostgres;

  beforeEach(async () => {
    // What is said of a server that has ended.
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    await copyTemplate();
    postgres = await startEmbeddedPostgres(dataDir);
  });

  afterEach(() => postgres.stop());

  linuxIt('is in a session and a process group of its own, so that Ctrl-C does not reach it', async () => {
    expect(await processGroup(await postmasterPid())).not.toEqual(await processGroup(process.pid));
  });

  linuxIt('does not run as root and does not see our environment', async () => {
    const pid = await postmasterPid();
    expect((await stat(`/proc/${pid}`)).uid).not.toBe(0);
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    expect(environment).not.toContain('JEST_WORKER_ID');
  });

  it('keeps its owner when the connection that says so is cut', async () => {
    await query(
      postgres.url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres'",
    );
    await sleep(1000);
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(IN_USE);
  });

  it('is started again at the same address when it is killed, with its data and its owner', async () => {
    await query(postgres.url, 'CREATE TABLE pet AS SELECT 7 AS id');
    const killed = await postmasterPid();
    process.kill(killed, 'SIGKILL');
    await eventually(
      async () => expect(await query(postgres.url, 'SELECT id FROM pet')).toEqual([{ id: 7 }]),
      20_000,
    );
    expect(await postmasterPid()).not.toBe(killed);
    await eventually(async () => expect(await query(postgres.url, OWNERS)).toHaveLength(1));
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(IN_USE);
    await postgres.stop();
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
  });

  it('is tried again after a pause that doubles, with a line in the log each time, while it does not start', async () => {
    const failures: number[] = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => failures.push(performance.now()));
    const settings = join(dataDir, 'postgres/postgresql.conf');
    const intact = await readFile(settings, 'utf8');
    await writeFile(settings, 'no_such_setting = 1\n');
    process.kill(await postmasterPid(), 'SIGKILL');
    await eventually(async () => expect(failures.length).toBe(3), 20_000);
    const [first = 0, second = 0, third = 0] = failures;
    expect(second - first).toBeGreaterThanOrEqual(1000);
    expect(third - second).toBeGreaterThanOrEqual(2000);
    await writeFile(settings, intact);
    await eventually(() => query(postgres.url, 'SELECT 1'), 20_000);
  });

  it('is stopped by its owner when it came up otherwise after a try that failed', async () => {
    const failures = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const warnings = jest.spyOn(Logger.prototype, 'warn');
    const settings = join(dataDir, 'postgres/postgresql.conf');
    const intact = await readFile(settings, 'utf8');
    await writeFile(settings, 'no_such_setting = 1\n');
    process.kill(await postmasterPid(), 'SIGKILL');
    await eventually(async () => expect(failures).toHaveBeenCalledTimes(1), 20_000);
    await writeFile(settings, intact);
    const clusterFolder = join(dataDir, 'postgres');
    const place = {
      dataFolder: dataDir,
      clusterFolder,
      account: await chooseServerAccount(clusterFolder),
      binaries: await findPostgresBinaries(),
    };
    expect(await startServer(place, Number(new URL(postgres.url).port))).toBeNull();
    await eventually(async () => expect(await query(postgres.url, OWNERS)).toHaveLength(1));
    await postgres.stop();
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
    expect(warnings.mock.lastCall).toEqual(['The embedded PostgreSQL runs again']);
  });

  it('is stopped for good by a stop while it is started again', async () => {
    process.kill(await postmasterPid(), 'SIGKILL');
    // It has just begun to start.
    await eventually(async () => expect((await postgresProcess(dataDir))?.ready).toBe(false), 20_000);
    await postgres.stop();
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
  });
});

it('a server that is killed while its owner stops is not started again', async () => {
  await copyTemplate();
  const stopping = new AbortController();
  const postgres = await startEmbeddedPostgres(dataDir, stopping.signal);
  stopping.abort();
  process.kill(await postmasterPid(), 'SIGKILL');
  // Longer than it takes to find the server gone.
  await sleep(1500);
  expect(await findEmbeddedPostgres(dataDir)).toBeNull();
  await postgres.stop();
});

it('a service whose server is killed responds with 503, then 200 again, with all that was acknowledged', async () => {
  await copyTemplate();
  const service = new ServiceProcess('main.js', { DATA_DIR: dataDir });
  try {
    const url = await service.listening();
    const [, key] = await service.says(/^ {2}business +(\S+)$/m);
    const pets = `${url}/v1/pets`;
    const { json: pet } = await send(pets, { method: 'POST', key, body: { name: 'Rex', categoryId: 7 } });
    const statuses: number[] = [];
    const status = async () => {
      const response = await send(`${pets}/${pet.id}`, { key });
      statuses.push(response.status);
      return response.status;
    };
    expect(await status()).toBe(200);
    process.kill(await postmasterPid(), 'SIGKILL');
    await eventually(async () => expect(await status()).toBe(503));
    await eventually(async () => expect(await status()).toBe(200), 20_000);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect((await send(`${pets}/${pet.id}`, { key })).json).toEqual(pet);
    await service.says(/"msg":"The embedded PostgreSQL has ended, and is started again"/);
    await service.says(/"msg":"The embedded PostgreSQL runs again"/);
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
  } finally {
    await service.kill('SIGKILL');
  }
}, 60_000);

async function copyTemplate(): Promise<void> {
  await promisify(execFile)('cp', ['-R', join(template, 'postgres'), join(dataDir, 'postgres')]);
}

async function query(connectionString: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Old enough not to be one that is being written. */
async function endConnectionBetweenItsQuestions(url: string, application: string): Promise<void> {
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = '${application}' AND state = 'idle' AND query LIKE '%advisory_lock%'`;
  while ((await query(url, end)).length === 0) {
    await sleep(5);
  }
}

async function writePidFile(text: string): Promise<void> {
  const path = join(dataDir, 'postgres/postmaster.pid');
  await writeFile(path, text);
  await utimes(path, 1, 1);
}

async function postgresProcess(folder: string) {
  const text = await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8').catch(() => '');
  return parsePostmasterPid(text);
}

async function postmasterPid(): Promise<number> {
  const postmaster = parsePostmasterPid(await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8'));
  if (postmaster === null) {
    throw new Error('No postmaster.pid');
  }
  return postmaster.pid;
}

/** The numbers of a process's group and session. */
async function processGroup(pid: number): Promise<string[]> {
  const facts = await readFile(`/proc/${pid}/stat`, 'utf8');
  return facts.slice(facts.lastIndexOf(')')).split(' ').slice(3, 5);
}

/** A process that owns the embedded PostgreSQL until it is killed. */
function startOwner(): ChildProcess {
  const child = fork(resolve('test/support/postgres-owner.mjs'), [dataDir], { execArgv: [] });
  children.push(child);
  return child;
}

/** The URL that an owner got, or the message with which it was refused. */
async function answer(owner: ChildProcess): Promise<string> {
  const [text] = await once(owner, 'message');
  return String(text);
}
