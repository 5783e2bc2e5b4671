import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Logger } from '@nestjs/common';
import { KeyWatch } from '../src/auth/key-watch.js';
import pg from 'pg';
import { startApplication } from './support/application.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { documented } from './support/documented-commands.js';
import { freePort } from './support/free-port.js';
import { type Answer, send } from './support/http.js';
import { countKeyLookUps } from './support/key-look-ups.js';
import { until } from './support/eventually.js';

const PGBOUNCER = '/usr/sbin/pgbouncer';
const NOBODY = 65_534;
/** How connections are lent, as the docs tell it. */
const DOCUMENTED = documented('operating.md', 'PgBouncer');
const inMode = (poolMode: string) => DOCUMENTED.replace(/^pool_mode = .*$/m, `pool_mode = ${poolMode}`);

const isInstalled = () =>
  promisify(execFile)(PGBOUNCER, ['--version']).then(
    () => true,
    () => false,
  );

/** A PgBouncer before a database. It refuses to be root. */
async function startPgBouncer(databaseUrl: string, pooling: string, folder: string) {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const listenPort = await freePort();
  const settings = path.join(folder, `${listenPort}.ini`);
  await writeFile(
    settings,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
${pooling}`,
  );
  const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  const command = [...(process.getuid?.() === 0 ? asNobody : []), PGBOUNCER, settings];
  const [program = PGBOUNCER, ...args] = command;
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  await until(() => {
    if (child.exitCode !== null) {
      throw new Error(`PgBouncer did not start:\n${log}`);
    }
    return log.includes('process up');
  });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${listenPort}`;
  return { child, url: url.href };
}

describe('a connection through PgBouncer, which may lose the word of changes', () => {
  let installed: boolean;
  let folder: string;
  let database: TestDatabase;
  let poolers: ChildProcess[] = [];

  beforeAll(async () => {
    installed = await isInstalled();
    if (!installed) {
      if (process.env['CI'] !== undefined) {
        throw new Error(`No PgBouncer of Debian at ${PGBOUNCER}: install the package pgbouncer`);
      }
      process.stderr.write('Skipped: no PgBouncer of Debian on this machine (package pgbouncer).\n');
      return;
    }
    folder = await mkdtemp(path.join(tmpdir(), 'pgbouncer-'));
    if (process.getuid?.() === 0) {
      await chown(folder, NOBODY, NOBODY);
    }
    database = await createDatabase();
  });
  afterAll(async () => {
    if (installed) {
      await Promise.all(
        poolers.map(async (pooler) => {
          pooler.kill('SIGTERM');
          await once(pooler, 'exit');
        }),
      );
      await database.drop();
      await rm(folder, { recursive: true });
    }
  });
  afterEach(() => jest.restoreAllMocks());

  it.each(['transaction', 'session', 'statement'])(
    'is found out (pool_mode = %s): every key is looked up, and the log says once what is wrong',
    async (poolMode) => {
      if (!installed) {
        return;
      }
      const { child, url } = await startPgBouncer(database.url, inMode(poolMode), folder);
      poolers.push(child);
      const warnings = jest.spyOn(Logger.prototype, 'warn');
      const store = await startApplication({ database, environment: { DIRECT_DATABASE_URL: url } });
      try {
        const watch = store.app.get(KeyWatch);
        const { id, key } = await store.issue({ plan: 'business' });
        await until(() => warnings.mock.calls.length > 0);
        // Long enough for more than one attempt.
        await pause(2500);
        expect(warnings.mock.calls).toEqual([
          [
            'Changes of keys are not heard, so every key is looked up: a pooler is in the way; ' +
              "DIRECT_DATABASE_URL must be the address of PostgreSQL itself, not a pooler's",
          ],
        ]);
        expect(watch.holds(watch.generation)).toBe(false);
        const lookUps = countKeyLookUps(store);
        for (let request = 1; request <= 3; request += 1) {
          expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(200);
          expect(lookUps()).toBe(request);
        }
        await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
        expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(401);
      } finally {
        await store.close();
      }
    },
  );

  it('does no harm where DIRECT_DATABASE_URL goes past it', async () => {
    if (!installed) {
      return;
    }
    const { child, url } = await startPgBouncer(database.url, DOCUMENTED, folder);
    poolers.push(child);
    const store = await startApplication({
      database,
      environment: { DATABASE_URL: url, DIRECT_DATABASE_URL: database.url },
    });
    try {
      const watch = store.app.get(KeyWatch);
      await until(() => watch.holds(watch.generation));
      const { id, key } = await store.issue({ plan: 'business' });
      // Enough at once that the pooler lends several connections in turn, and none knows what another has prepared.
      for (let round = 1; round <= 20; round += 1) {
        const answers = await Promise.all(
          ['?limit=1', '?limit=2&status=sold', '/1', ''].map((target) =>
            send(`${store.url}/v1/pets${target}`, { key }),
          ),
        );
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200]);
        expect(answers.map(({ headers }) => headers.get('x-ratelimit-degraded'))).toEqual(
          Array(4).fill(null),
        );
      }
      // Nobody has left a setting behind on a connection that is lent to the next.
      expect(await send(`${store.url}/readyz`)).toMatchObject({ status: 200 });
      const lent = new pg.Pool({ connectionString: url, max: 20 });
      const timeouts = await Promise.all(
        Array.from({ length: 20 }, () =>
          lent.query("SELECT pg_sleep(0.2), current_setting('statement_timeout') AS timeout"),
        ),
      );
      await lent.end();
      expect(new Set(timeouts.map(({ rows }) => rows[0].timeout))).toEqual(new Set(['0']));
      const { generation } = watch;
      await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
      await until(() => watch.generation > generation);
      expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(401);
    } finally {
      await store.close();
    }
  });

  it('in transaction mode lends one to the whole of what is created with an Idempotency-Key, which is created once', async () => {
    if (!installed) {
      return;
    }
    const { child, url } = await startPgBouncer(database.url, DOCUMENTED, folder);
    poolers.push(child);
    const store = await startApplication({
      database,
      environment: { DATABASE_URL: url, DIRECT_DATABASE_URL: database.url },
    });
    try {
      const { key } = await store.issue({ plan: 'business' });
      const [rex] = await database.query<{ id: string }>(
        `INSERT INTO pets (name, category_id) VALUES ('Rex', 7) RETURNING id`,
      );
      const create = (target: string, body: string, attempt: number) =>
        send(`${store.url}${target}`, {
          method: 'POST',
          key,
          body,
          headers: { 'Idempotency-Key': `${attempt}${target}` },
        });
      const each = [1, 2, 3, 4].flatMap((attempt) => [
        () => create('/v1/pets', '{"name":"Tom","categoryId":3}', attempt),
        () => create('/v1/store/orders', `{"petId":${rex?.id},"quantity":2}`, attempt),
      ]);
      const replayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';

      // Twins, and so many at once that the pooler lends several connections in turn.
      const answers = await Promise.all([...each, ...each].map((repeat) => repeat()));
      const created = answers.filter((answer) => answer.status === 201 && !replayed(answer));
      expect(created).toHaveLength(each.length);
      const others = answers.filter((answer) => !created.includes(answer));
      expect(others.filter((answer) => answer.status !== 409 && !replayed(answer))).toEqual([]);

      const again = await Promise.all(each.map((repeat) => repeat()));
      expect(again.filter((answer) => answer.status !== 201 || !replayed(answer))).toEqual([]);
      const texts = (of: Answer[]) => of.map(({ text }) => text).toSorted();
      expect(texts(again)).toEqual(texts(created));
      const [toms] = await database.query(`SELECT count(*)::int FROM pets WHERE name = 'Tom'`);
      const { json: orders } = await send(`${store.url}/v1/store/orders`, { key });
      expect([toms, orders.length]).toEqual([{ count: 4 }, 4]);
    } finally {
      await store.close();
    }
  });
});
