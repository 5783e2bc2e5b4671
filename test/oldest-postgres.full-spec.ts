import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './support/free-port.js';
import { run, ServiceProcess } from './support/service-process.js';
import { send } from './support/http.js';

const DEBIAN = '/usr/lib/postgresql';
const NOBODY = 65_534;
const MINUTE_MS = 60_000;
/** More than it takes until a key is banned: with so much of a minute left, it happens within that minute. */
const BURST_MS = 15_000;
const execute = promisify(execFile);

/** The oldest PostgreSQL that this machine has of Debian, or null. */
async function oldestPostgres(): Promise<string | null> {
  const majors = await readdir(DEBIAN).catch(() => []);
  const [oldest] = majors.map(Number).toSorted((a, b) => a - b);
  return oldest === undefined ? null : path.join(DEBIAN, String(oldest), 'bin');
}

describe('a PostgreSQL older than the embedded one', () => {
  let bin: string | null;
  let folder: string;
  let settings: Record<string, string>;

  /** PostgreSQL refuses to be root. */
  const asNobody = (program: string, ...args: string[]) =>
    process.getuid?.() === 0
      ? execute('setpriv', [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', program, ...args])
      : execute(program, args);

  beforeAll(async () => {
    bin = await oldestPostgres();
    if (bin === null) {
      if (process.env['CI'] !== undefined) {
        throw new Error(`No PostgreSQL of Debian in ${DEBIAN}: install the package postgresql`);
      }
      process.stderr.write('Skipped: no PostgreSQL of Debian on this machine (package postgresql).\n');
      return;
    }
    folder = await mkdtemp(path.join(tmpdir(), 'older-postgres-'));
    if (process.getuid?.() === 0) {
      await chown(folder, NOBODY, NOBODY);
    }
    const port = await freePort();
    const data = path.join(folder, 'data');
    await asNobody(
      path.join(bin, 'initdb'),
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-sync',
    );
    const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories= -c fsync=off`;
    await asNobody(
      path.join(bin, 'pg_ctl'),
      '-D',
      data,
      '-w',
      '-l',
      path.join(folder, 'log'),
      '-o',
      options,
      'start',
    );
    settings = {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres`,
      APP_ENV: 'staging',
      HOST: '127.0.0.1',
    };
  });
  afterAll(async () => {
    if (bin !== null) {
      await asNobody(path.join(bin, 'pg_ctl'), '-D', path.join(folder, 'data'), '-w', '-m', 'fast', 'stop');
      await rm(folder, { recursive: true });
    }
  });

  it('is migrated, seeded, counts exactly, and bans', async () => {
    if (bin === null) {
      return;
    }
    const service = new ServiceProcess('main.js', { ...settings, LOG_LEVEL: 'silent' });
    try {
      const url = await service.listening();
      expect((await run('cli/seed.js', settings)).code).toBe(0);
      const limits = ['--per-minute', '1000', '--per-day', '60'];
      const issue = ['keys', 'issue', '--name', 'x', '--plan', 'enterprise', ...limits, '--json'];
      const { key } = JSON.parse((await run('cli/admin.js', settings, ...issue)).stdout);
      const created = await send(`${url}/v1/pets`, {
        method: 'POST',
        key,
        body: { name: 'Old', categoryId: 1 },
      });
      expect(created.status).toBe(201);
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => send(`${url}/v1/pets/${created.json.id}`, { key })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(59);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(141);

      // This process has the real clock: what is left of this minute must be enough.
      const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
      if (leftMs < BURST_MS) {
        await pause(leftMs);
      }
      const narrow = [
        '--name',
        'y',
        '--plan',
        'enterprise',
        '--per-minute',
        '5',
        '--per-day',
        '100',
        '--json',
      ];
      const issued = await run('cli/admin.js', settings, 'keys', 'issue', ...narrow);
      const codes: unknown[] = [];
      for (let sent = 0; sent < 12; sent += 1) {
        const { json } = await send(`${url}/v1/pets`, { key: JSON.parse(issued.stdout).key });
        codes.push(json.code);
      }
      expect(codes).toEqual([
        ...Array(5).fill(undefined),
        ...Array(4).fill('rate_limit_exceeded'),
        ...Array(3).fill('api_key_banned'),
      ]);
    } finally {
      await service.kill('SIGTERM');
    }
  });
});
