import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { EmbeddedPostgresError } from '../../src/embedded-postgres/embedded-postgres-error.js';
import {
  type EmbeddedPostgres,
  findEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/embedded-postgres/embedded-postgres.js';
import { startServer } from '../../src/embedded-postgres/postgres-server.js';
import { parsePostmasterPid } from '../../src/embedded-postgres/postmaster-pid.js';
import { prepareServer } from '../../src/embedded-postgres/server-config.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/service/free-port.js';
import { send } from '../support/http/http.js';
import { ServiceProcess } from '../support/service/service-process.js';

const linuxIt = process.platform === 'linux' ? it : it.skip;
const IN_USE = /in use by another animal-store process \(process \d+.*set DATA_DIR or DATABASE_URL/;

/** Selects one row while an owner holds its lock. */
const OWNERS = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted";

/** Accessible to its owner only, as /root and the folders of mktemp are. */
let parent: string;
/** A cluster that is created once; each test gets a copy, owned by root when the tests run as root. */
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

describe('startEmbeddedPostgres without data', () => {
  it('creates a database that needs its password, in files that only their owner can read', async () => {
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

  it('succeeds for one of two that start at the same instant', async () => {
    const replies = await Promise.all([startOwner(), startOwner()].map(replyOf));
    expect(replies.filter((text) => text.startsWith('postgresql:'))).toHaveLength(1);
    expect(replies.filter((text) => IN_USE.test(text))).toHaveLength(1);
    expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'postgres.log']);
  });

  it('succeeds after another was killed halfway', async () => {
    const killed = startOwner();
    while (!(await readdir(dataDir)).some((name) => name.startsWith('.postgres-in-the-making-'))) {
      await sleep(5);
    }
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const postgres = await startEmbeddedPostgres(dataDir);
    await postgres.stop();
    // The initdb of the killed process may have run on for a moment; the next start then cleans up again.
    await sleep(1000);
    await (await startEmbeddedPostgres(dataDir)).stop();
    expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'postgres.log']);
  });
});

describe('startEmbeddedPostgres with data', () => {
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

  it('takes over the server of a killed owner', async () => {
    const owner = startOwner();
    const url = await replyOf(owner);
    await query(url, 'CREATE TABLE pet AS SELECT 7 AS id');
    const pid = await postmasterPid();
    owner.kill('SIGKILL');

    const postgres = await startEmbeddedPostgres(dataDir);
    expect(postgres.url).toBe(url);
    expect(await postmasterPid()).toBe(pid);
    expect(await query(postgres.url, 'SELECT id FROM pet')).toEqual([{ id: 7 }]);
    await postgres.stop();
  });

  it('recovers when server and owner were killed', async () => {
    const owner = startOwner();
    await query(await replyOf(owner), 'CREATE TABLE pet AS SELECT 7 AS id');
    process.kill(await postmasterPid(), 'SIGKILL');
    owner.kill('SIGKILL');

    const postgres = await startEmbeddedPostgres(dataDir);
    expect(await query(postgres.url, 'SELECT id FROM pet')).toEqual([{ id: 7 }]);
    await postgres.stop();
  });

  it('fails while another owner runs, and does not disturb it', async () => {
    const url = await replyOf(startOwner());
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(IN_USE);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('looks up the owner again when its connection ends while it waits', async () => {
    const url = await replyOf(startOwner());
    await Promise.all([
      expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(IN_USE),
      endConnectionThatWaits(url, `animal-store owner, process ${process.pid}`),
    ]);
  });

  it('waits for an owner that is about to stop', async () => {
    const first = await startEmbeddedPostgres(dataDir);
    const [, second] = await Promise.all([first.stop(), startEmbeddedPostgres(dataDir)]);
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await second.stop();
  });

  it('ignores the pid file of a process that has ended', async () => {
    const gone = spawn('sleep', ['0']);
    await once(gone, 'exit');
    await writePidFile(gone.pid);
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
    await (await startEmbeddedPostgres(dataDir)).stop();
  });

  it.each(['our own account', "the server's account"])(
    'ignores a pid file whose number now belongs to another program of %s',
    async (whose) => {
      const { uid, gid } = await stat(join(template, 'postgres'));
      const account = whose === 'our own account' ? {} : { uid, gid };
      const other = spawn('sleep', ['60'], { cwd: '/', ...account });
      children.push(other);
      await writePidFile(other.pid);
      expect(await findEmbeddedPostgres(dataDir)).toBeNull();
      await (await startEmbeddedPostgres(dataDir)).stop();
      expect(other.exitCode).toBeNull();
    },
  );

  it('ignores a pid file whose number now belongs to another PostgreSQL', async () => {
    const other = await startEmbeddedPostgres(template);
    await copyFile(join(template, 'postgres/postmaster.pid'), join(dataDir, 'postgres/postmaster.pid'));
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
    const postgres = await startEmbeddedPostgres(dataDir);
    expect(postgres.url).not.toBe(other.url);
    await postgres.stop();
    await other.stop();
  });

  it('fails for data of another major version, which it does not change', async () => {
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '17\n');
    const before = await readdir(join(dataDir, 'postgres'), { recursive: true });
    const start = startEmbeddedPostgres(dataDir);
    await expect(start).rejects.toThrow(EmbeddedPostgresError);
    await expect(start).rejects.toThrow(
      /initialized by PostgreSQL version 17, which is not compatible with this version 18[^]*see docs\/operating\.md/,
    );
    expect(await readdir(join(dataDir, 'postgres'), { recursive: true })).toEqual(before);
  });

  it('fails for a folder with other contents', async () => {
    await rm(join(dataDir, 'postgres/PG_VERSION'));
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(/is not a database cluster directory/);
  });

  it('reports the end of the log when the server does not start', async () => {
    await writeFile(join(dataDir, 'postgres/postgresql.conf'), 'no_such_setting = 1\n');
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(
      /pg_ctl, exit code 1[^]*unrecognized configuration parameter "no_such_setting"/,
    );
  });
});

describe('the embedded PostgreSQL', () => {
  let postgres: EmbeddedPostgres;

  beforeEach(async () => {
    // Silences the warnings about a server that has ended.
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    await copyTemplate();
    postgres = await startEmbeddedPostgres(dataDir);
  });

  afterEach(() => postgres.stop());

  linuxIt('has its own session and process group, so Ctrl-C does not reach it', async () => {
    expect(await processGroup(await postmasterPid())).not.toEqual(await processGroup(process.pid));
  });

  linuxIt('does not run as root, and does not inherit our environment', async () => {
    const pid = await postmasterPid();
    expect((await stat(`/proc/${pid}`)).uid).not.toBe(0);
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    expect(environment).not.toContain('JEST_WORKER_ID');
  });

  it('keeps its owner when the connection that holds the lock is cut', async () => {
    await query(
      postgres.url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres'",
    );
    await sleep(1000);
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(IN_USE);
  });

  it('restarts at the same address when it is killed, with its data and its owner', async () => {
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

  it('retries its start after pauses that double, and logs each attempt', async () => {
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

  it('is stopped by its owner even when something else started it after a failed attempt', async () => {
    const failures = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const warnings = jest.spyOn(Logger.prototype, 'warn');
    const settings = join(dataDir, 'postgres/postgresql.conf');
    const intact = await readFile(settings, 'utf8');
    await writeFile(settings, 'no_such_setting = 1\n');
    process.kill(await postmasterPid(), 'SIGKILL');
    await eventually(async () => expect(failures).toHaveBeenCalledTimes(1), 20_000);
    await writeFile(settings, intact);
    await startServer(await prepareServer(dataDir), Number(new URL(postgres.url).port));
    await eventually(async () => expect(await query(postgres.url, OWNERS)).toHaveLength(1));
    await postgres.stop();
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
    expect(warnings.mock.lastCall).toEqual(['The embedded PostgreSQL ended and was restarted']);
  });

  it('stays stopped when it is stopped during a restart', async () => {
    process.kill(await postmasterPid(), 'SIGKILL');
    // The server has just begun to start.
    await eventually(async () => expect((await postgresProcess(dataDir))?.ready).toBe(false), 20_000);
    await postgres.stop();
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
  });
});

describe('an embedded PostgreSQL killed while its owner stops', () => {
  it('is not restarted', async () => {
    await copyTemplate();
    const stopping = new AbortController();
    const postgres = await startEmbeddedPostgres(dataDir, stopping.signal);
    stopping.abort();
    process.kill(await postmasterPid(), 'SIGKILL');
    // Longer than it takes to notice that the server has ended.
    await sleep(1500);
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
    await postgres.stop();
  });
});

describe('a service whose embedded PostgreSQL is killed', () => {
  it('returns 503, then 200 again, with everything that was acknowledged', async () => {
    await copyTemplate();
    const service = new ServiceProcess('main.js', { DATA_DIR: dataDir });
    try {
      const url = await service.listening();
      const [, key] = await service.waitForOutput(/^ {2}business +(\S+)$/m);
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
      await service.waitForOutput(/"msg":"The embedded PostgreSQL ended and was restarted"/);
      expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
      expect(await findEmbeddedPostgres(dataDir)).toBeNull();
    } finally {
      await service.kill('SIGKILL');
    }
  }, 60_000);
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

/** Ends the connection of a process while it waits for the owner's lock. */
async function endConnectionThatWaits(url: string, application: string): Promise<void> {
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = '${application}' AND state = 'active' AND query LIKE '%advisory_lock%'`;
  while ((await query(url, end)).length === 0) {
    await sleep(5);
  }
}

/** Writes the postmaster.pid of a server that had this process id and crashed. */
async function writePidFile(pid: number | undefined): Promise<void> {
  const text = `${pid}\n${dataDir}/postgres\n1\n${await freePort()}\n\n127.0.0.1\n\nready\n`;
  await writeFile(join(dataDir, 'postgres/postmaster.pid'), text);
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

/** Returns the process group and the session of a process. */
async function processGroup(pid: number): Promise<string[]> {
  const facts = await readFile(`/proc/${pid}/stat`, 'utf8');
  return facts.slice(facts.lastIndexOf(')')).split(' ').slice(3, 5);
}

/** A process that owns the embedded PostgreSQL until it is killed. */
function startOwner(): ChildProcess {
  const child = fork(resolve('test/support/database/postgres-owner.mjs'), [dataDir], { execArgv: [] });
  children.push(child);
  return child;
}

/** Returns the URL that an owner received, or the message with which it failed. */
async function replyOf(owner: ChildProcess): Promise<string> {
  const [text] = await once(owner, 'message');
  return String(text);
}
