import { type ChildProcess, execFile, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { findEmbeddedPostgres } from '../../src/database/migrations/embedded/embedded-postgres.js';
import { findForeignProcess } from '../../src/database/migrations/embedded/foreign-process.js';
import { query } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { ServiceProcess } from '../support/service/service-process.js';

const linuxIt = process.platform === 'linux' ? it : it.skip;
const IN_USE =
  /it is in use by another animal-store process\nStop that process, or set DATA_DIR and PORT for this one\.$/;

/** Accessible to its owner only, as /root and the folders of mktemp are. */
let parent: string;
let dataDir: string;
/** The folder of a server that was created and stopped. */
let created: string;
let owners: ChildProcess[] = [];

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
  await chmod(parent, 0o700);
  created = await mkdtemp(join(parent, 'created-'));
  dataDir = created;
  await stop((await startNew()).owner);
});

afterAll(() => rm(parent, { recursive: true, force: true }));

beforeEach(async () => {
  dataDir = await mkdtemp(join(parent, 'data-'));
});

afterEach(async () => {
  owners.forEach((owner) => owner.kill('SIGKILL'));
  owners = [];
  await eventually(async () => expect(await findEmbeddedPostgres(dataDir)).toBeNull());
});

describe('startEmbeddedPostgres', () => {
  it('creates a database that needs its password, in files that only their owner can read', async () => {
    const { url: text } = await startNew();
    const url = new URL(text);
    expect(url.hostname).toBe('127.0.0.1');
    expect(await query(text, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    expect(await query(text, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
    for (const name of ['postgres', 'postgres.log', 'postgres/animal_store.url']) {
      expect((await stat(join(dataDir, name))).mode & 0o077).toBe(0);
    }
    url.password = 'wrong';
    await expect(query(url.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  });

  it('finds what was written before the stop', async () => {
    await expectDataAfter(async (owner) => {
      await stop(owner);
      expect(await findEmbeddedPostgres(dataDir)).toBeNull();
      expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'postgres.log']);
    });
  });

  it('succeeds for one of two that start at the same instant', async () => {
    const replies = await Promise.all([reply(forkOwner()), reply(forkOwner())]);
    expect(replies.filter((text) => text.startsWith('postgresql:'))).toHaveLength(1);
  });

  it('fails while another process owns the server, and does not disturb it', async () => {
    const { url } = await start();
    expect(await reply(forkOwner())).toMatch(IN_USE);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('succeeds after an owner was killed', () => expectDataAfter((owner) => owner.kill('SIGKILL')));

  linuxIt('stops a server whose owner was killed with its host', async () => {
    let abandoned = 0;
    await expectDataAfter(async (owner, postmaster) => {
      abandoned = postmaster;
      const { host } = await readStatus(postmaster);
      process.kill(host, 'SIGKILL');
      owner.kill('SIGKILL');
    });
    expect(await postmasterPid()).not.toBe(abandoned);
  });

  it('recovers the data after server and owner were killed', async () => {
    await expectDataAfter((owner, postmaster) => {
      process.kill(postmaster, 'SIGKILL');
      owner.kill('SIGKILL');
    });
  });

  it('ignores the pid file of a process that has ended', async () => {
    await stop((await start()).owner);
    const { pid } = spawnSync('true');
    const pidFile = `${pid}\n${dataDir}/postgres\n1\n1\n\n\n\nready\n`;
    await writeFile(join(dataDir, 'postgres/postmaster.pid'), pidFile);
    await start();
  });

  linuxIt.each([
    ['another program of its user has', 'S', 'echo $$; exec sleep 60'],
    // Its parent, which `sleep` replaces, never waits for it.
    ['a zombie has', 'Z', 'sleep 1 & echo $!; exec sleep 60'],
  ])('starts though %s the number of its killed server', async (_who, state, script) => {
    const pidFile = join(dataDir, 'postgres/postmaster.pid');
    let foreign: ChildProcess | null = null;
    await expectDataAfter(async (owner, postmaster) => {
      const { uid } = await stat(pidFile);
      foreign = spawn('sh', ['-c', script], { uid, stdio: ['ignore', 'pipe', 'ignore'] });
      const [pid] = await once(foreign.stdout as Readable, 'data');
      await eventually(async () => expect((await readStatus(Number(pid))).state).toBe(state));
      process.kill((await readStatus(postmaster)).host, 'SIGKILL');
      process.kill(postmaster, 'SIGKILL');
      owner.kill('SIGKILL');
      // The number cannot be chosen, so the file names another one.
      const [, ...lines] = (await readFile(pidFile, 'utf8')).split('\n');
      await writeFile(pidFile, [String(pid).trim(), ...lines].join('\n'));
      expect(await findForeignProcess(join(dataDir, 'postgres'))).toBe(Number(pid));
    });
    expect(foreign).toMatchObject({ exitCode: null, signalCode: null });
    expect((foreign as ChildProcess | null)?.kill()).toBe(true);
  });

  it('fails while the server of another process hangs, and leaves it its lock', async () => {
    const { url } = await start();
    const postmaster = await postmasterPid();
    process.kill(postmaster, 'SIGSTOP');
    expect(await reply(forkOwner())).toMatch(/lock file "postmaster\.pid" already exists/);
    process.kill(postmaster, 'SIGCONT');
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await postmasterPid()).toBe(postmaster);
  });

  it('fails for data of another major version, which it does not change', async () => {
    await stop((await start()).owner);
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '17\n');
    const before = await readdir(join(dataDir, 'postgres'), { recursive: true });
    expect(await reply(forkOwner())).toMatch(
      /initialized by PostgreSQL version 17, which is not compatible with this version 18[^]*see docs\/upgrading\.md/,
    );
    expect(await readdir(join(dataDir, 'postgres'), { recursive: true })).toEqual(before);
  });

  it('fails with the reason of PostgreSQL when the server does not start', async () => {
    await stop((await start()).owner);
    await writeFile(join(dataDir, 'postgres/postgresql.conf'), 'no_such_setting = 1\n');
    expect(await reply(forkOwner())).toMatch(/unrecognized configuration parameter "no_such_setting"/);
  });

  it('fails for a folder with other contents', async () => {
    await cp('docs', join(dataDir, 'postgres'), { recursive: true });
    expect(await reply(forkOwner())).toMatch(/cannot be used: [^]*animal_store\.url/);
  });
});

describe('the embedded PostgreSQL', () => {
  linuxIt('has its own session and process group, so Ctrl-C does not reach it', async () => {
    const { owner } = await start();
    const [server, own] = await Promise.all([await postmasterPid(), owner.pid ?? 0].map(readStatus));
    expect(server?.group).not.toBe(own?.group);
    expect(server?.session).not.toBe(own?.session);
  });

  linuxIt('outlives a signal to its host, because only the service decides when to stop', async () => {
    const { owner, url } = await start();
    const { host } = await readStatus(await postmasterPid());
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.kill(host, signal);
      expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    }
    await stop(owner);
    expect(await findEmbeddedPostgres(dataDir)).toBeNull();
  });

  linuxIt('does not run as root, and does not inherit the environment of the service', async () => {
    await start();
    const pid = await postmasterPid();
    expect((await stat(`/proc/${pid}`)).uid).not.toBe(0);
    expect(await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')).not.toContain('JEST_WORKER_ID');
  });
});

describe('a service whose embedded PostgreSQL is killed', () => {
  it('returns 503, then 200 again, with everything that was acknowledged', async () => {
    const service = new ServiceProcess('main.js', { DATA_DIR: dataDir });
    try {
      const url = await service.listening();
      const [, key] = await service.waitForOutput(/^ {2}business +(\S+)$/m);
      const pets = `${url}/v1/pets`;
      const { json: pet } = await send(pets, { method: 'POST', key, body: { name: 'Rex', categoryId: 7 } });
      const seen = new Set<number>();
      const expectStatus = (status: number, deadlineMs?: number) =>
        eventually(async () => {
          const response = await send(`${pets}/${pet.id}`, { key });
          seen.add(response.status);
          expect(response.json).toMatchObject(status === 200 ? pet : { status });
        }, deadlineMs);
      const settings = join(dataDir, 'postgres/postgresql.conf');
      const intact = await readFile(settings, 'utf8');
      await writeFile(settings, 'no_such_setting = 1\n');
      const killed = await postmasterPid();
      process.kill(killed, 'SIGKILL');
      await expectStatus(503);
      await service.waitForOutput(/"msg":"The embedded PostgreSQL cannot be restarted: .*no_such_setting/);
      await writeFile(settings, intact);
      await expectStatus(200, 20_000);
      expect(seen).toEqual(new Set([200, 503]));
      await service.waitForOutput(/"msg":"The embedded PostgreSQL ended and was restarted"/);
      expect(await postmasterPid()).not.toBe(killed);
      expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
      expect(await findEmbeddedPostgres(dataDir)).toBeNull();
    } finally {
      await service.kill('SIGKILL');
    }
  }, 60_000);
});

/** Starts it, creates a table, ends it, and expects the table after another start. */
async function expectDataAfter(end: (owner: ChildProcess, postmaster: number) => unknown): Promise<void> {
  const { owner, url } = await start();
  await query(url, 'CREATE TABLE pet AS SELECT 7 AS id');
  await end(owner, await postmasterPid());
  const next = await start();
  expect(await query(next.url, 'SELECT id FROM pet')).toEqual([{ id: 7 }]);
}

async function postmasterPid(): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
}

async function readStatus(pid: number) {
  const facts = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [state, ...numbers] = facts.slice(facts.lastIndexOf(')') + 2).split(' ');
  const [host = NaN, group, session] = numbers.map(Number);
  return { state, host, group, session };
}

/**
 * Starts the embedded PostgreSQL in a process that owns it until it is killed or stopped. If the folder is
 * empty, it gets a copy of what was created before, because a creation takes longer than all else.
 */
async function start(): Promise<{ owner: ChildProcess; url: string }> {
  if ((await readdir(dataDir)).length === 0) {
    await promisify(execFile)('cp', ['-a', `${created}/.`, dataDir]);
  }
  return startNew();
}

async function startNew(): Promise<{ owner: ChildProcess; url: string }> {
  const owner = forkOwner();
  const url = await reply(owner);
  expect(url).toMatch(/^postgresql:/);
  return { owner, url };
}

function forkOwner(): ChildProcess {
  const owner = fork(resolve('test/database/postgres-owner.mjs'), [dataDir], { execArgv: [] });
  owners.push(owner);
  return owner;
}

/** Returns the URL that an owner received, or the message with which it failed. */
async function reply(owner: ChildProcess): Promise<string> {
  const [text] = await once(owner, 'message');
  return String(text);
}

async function stop(owner: ChildProcess): Promise<void> {
  const ended = once(owner, 'exit');
  owner.disconnect();
  await ended;
}
