import path from 'node:path';
import { createDatabase, query } from '../support/database/database.js';
import { DebianPostgres, describeOnDebianPostgres } from '../support/programs/debian-postgres.js';
import { documented } from '../support/documented-commands.js';
import { until } from '../support/eventually.js';
import { readPages } from '../support/http/pages.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { isServed, Load } from '../support/http/load.js';
import { prisma } from '../support/database/prisma-cli.js';
import { run } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const ROLE = 'animal_store';
/** More than one page of the largest size. */
const ANIMALS = 250;

const commands = (heading: string) => documented('backup.md', heading);

/** The clients of a load that create animals one after another. */
const CREATING_CLIENTS = 6;

interface Pet {
  id: number;
  name: string;
}

const create = (url: string, key: string, name: string, headers: Record<string, string> = {}) =>
  send(`${url}/v1/pets`, { method: 'POST', key, body: { name, categoryId: 7 }, headers });

/** Returns all animals by page. */
const walk = (url: string, key: string) =>
  readPages<Pet>((target) => send(new URL(target, url).href, { key }), '/v1/pets?limit=100');

/** Returns the animals whose creation was acknowledged until now. */
const acknowledgedBy = ({ acknowledged }: Load) =>
  Array.from(acknowledged, ([id, name]) => ({ id, name, categoryId: 1 }));

async function stop(load: Load): Promise<void> {
  await load.stop();
  expect(load.seen.filter((seen) => !isServed(seen))).toStrictEqual([]);
}

describeOnDebianPostgres('the database', () => {
  let server: DebianPostgres;
  let backup: string;
  let archive: string;
  const services = new ServiceProcesses(() => ({ LOG_LEVEL: 'warn' }));

  beforeEach(async () => {
    server = await DebianPostgres.create();
    backup = path.join(server.folder, 'backup');
    archive = path.join(server.folder, 'archive');
    await server.shell('mkdir backup archive');
    await server.configure(commands('Archive'));
    await server.shell(`pg_ctl -D "$PGDATA" -w -l log start`, { ARCHIVE: archive });
    await query(server.url(), `CREATE ROLE ${ROLE} LOGIN`);
    await query(server.url(), `CREATE DATABASE ${ROLE} OWNER ${ROLE}`);
    expect(await prisma(serviceUrl(), ['migrate', 'deploy'])).toMatchObject({ code: 0 });
    const settings = { DATABASE_URL: serviceUrl(), APP_ENV: 'staging' };
    expect(await run('cli/admin.js', settings, 'seed')).toMatchObject({ code: 0 });
  });
  afterEach(async () => {
    await services.end('SIGTERM');
    await server.remove();
  });

  const serviceUrl = () => server.url(ROLE, ROLE);

  const start = (databaseUrl = serviceUrl()) => services.start({ DATABASE_URL: databaseUrl }).ready();

  const issue = async (perMinute: number, perDay: number): Promise<string> =>
    (await issueKey({ url: serviceUrl() }, { plan: 'enterprise', perMinute, perDay })).key;

  it('can be dumped under load, and a service continues with the dump on the newest version', async () => {
    const url = await start();
    const key = await issue(1_000_000, 1_000_000);
    const narrow = await issue(1000, 5);
    await query(
      serviceUrl(),
      `INSERT INTO pets (name, category_id) SELECT n, 7 FROM generate_series(1, ${ANIMALS}) n`,
    );
    const once = { 'Idempotency-Key': 'once' };
    const first = await create(url, key, 'kept', once);
    const order = await send(`${url}/v1/store/orders`, {
      method: 'POST',
      key,
      body: { petId: first.json.id, quantity: 2 },
    });
    expect([first.status, order.status]).toEqual([201, 201]);
    const listed = (await send(`${url}/v1/store/orders`, { key })).text;
    for (let request = 1; request <= 3; request += 1) {
      await send(`${url}/v1/pets?limit=1`, { key: narrow });
    }

    const load = new Load(url, key);
    await until(() => load.acknowledged.size > 0);
    const before = acknowledgedBy(load);
    await server.shell(commands('Dump'), { BACKUP: backup, DATABASE_URL: serviceUrl() });
    expect(load.acknowledged.size).toBeGreaterThan(before.length);
    await stop(load);
    const firstPage = await send(`${url}/v1/pets?limit=100`, { key });
    const animals = (await walk(url, key)).flat();
    await services.end('SIGTERM');

    const empty = await createDatabase('template0');
    const restored = { BACKUP: backup, RESTORED_URL: empty.url };
    await server.shell(commands('Restore a dump'), restored);
    await server.shell(commands('After going back in time'), restored);
    expect(await prisma(empty.url, ['migrate', 'status'])).toMatchObject({
      code: 0,
      output: expect.stringContaining('Database schema is up to date!'),
    });

    const again = await start(empty.url);
    const restoredFirst = await send(`${again}/v1/pets?limit=100`, { key });
    expect(restoredFirst.text).toBe(firstPage.text);
    expect(restoredFirst.headers.get('etag')).toBe(firstPage.headers.get('etag'));
    const restoredAnimals = (await walk(again, key)).flat();
    expect(animals).toEqual(expect.arrayContaining(restoredAnimals));
    expect(restoredAnimals).toEqual(expect.arrayContaining(before));
    expect((await send(`${again}/v1/store/orders`, { key })).text).toBe(listed);

    const replayed = await create(again, key, 'kept', once);
    expect([replayed.status, replayed.text]).toEqual([201, first.text]);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');

    const largestId = Math.max(...animals.map(({ id }) => id));
    expect((await create(again, key, 'new')).json.id).toBeGreaterThan(largestId);

    const [counter] = await query<{ left: number }>(
      empty.url,
      `SELECT
         CASE WHEN day_number = floor(extract(epoch FROM now()) / 86400) THEN day_limit - day_used
           ELSE day_limit END AS left
       FROM rate_limit_counters WHERE day_limit = 5`,
    );
    expect(await send(`${again}/v1/pets?limit=1`, { key: narrow })).toMatchObject({ status: 200 });
    const rateLimitStatus = await send(`${again}/v1/rate-limit`, { key: narrow });
    expect(rateLimitStatus.json.windows[1].remaining).toBe((counter?.left ?? 0) - 1);
    await services.end('SIGTERM');
    await empty.drop();
  });

  it('can be recovered to the moment before a mistake, with every 201 before it', async () => {
    const url = await start();
    const key = await issue(1_000_000, 1_000_000);
    await create(url, key, 'before the base backup');
    await server.shell(commands('Base backup'), { BACKUP: backup, ADMIN_URL: server.url() });

    const load = new Load(url, key);
    await until(() => load.acknowledged.size >= 50);
    const before = acknowledgedBy(load);
    const [moment] = await query<{ now: string }>(server.url(), 'SELECT clock_timestamp()::text AS now');
    const known = load.acknowledged.size;
    await until(() => load.acknowledged.size >= known + 50);
    await stop(load);
    await query(serviceUrl(), 'DELETE FROM pets');
    expect(await walk(url, key)).toEqual([[]]);
    await services.end('SIGTERM');
    await server.stop();

    server.data = path.join(server.folder, 'recovered');
    const instant = { BACKUP: backup, ARCHIVE: archive, INSTANT: moment?.now ?? '' };
    await server.shell(commands('Go back to a moment'), instant);
    await server.shell(`pg_ctl -D "$PGDATA" -w -l log start`, { ARCHIVE: archive });
    await until(async () => {
      const [row] = await query<{ recovering: boolean }>(
        server.url(),
        'SELECT pg_is_in_recovery() AS recovering',
      );
      return row?.recovering === false;
    });
    await server.shell(commands('After going back in time'), { RESTORED_URL: serviceUrl() });

    const again = await start();
    const found = (await walk(again, key)).flat();
    expect(found[0]).toMatchObject({ name: 'before the base backup' });
    expect(found).toEqual(expect.arrayContaining(before));
    // The one of the base backup, and those whose responses were in flight.
    expect(found.length).toBeLessThanOrEqual(1 + known + CREATING_CLIENTS);
    const largestId = Math.max(...load.acknowledged.keys());
    expect((await create(again, key, 'new')).json.id).toBeGreaterThan(largestId);
  });
});
