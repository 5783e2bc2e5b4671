import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  findEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../src/embedded-postgres/embedded-postgres.js';
import { parsePostmasterPid } from '../src/embedded-postgres/postmaster-pid.js';

const linuxIt = process.platform === 'linux' ? it : it.skip;
const IN_USE = /in use by another animal-store process \(process \d+.*set DATA_DIR or DATABASE_URL/;

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

  it('may die: the owner lives on, and stopping it is no error', async () => {
    process.kill(await postmasterPid(), 'SIGKILL');
    await sleep(700);
    await postgres.stop();
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
  });
});

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
