import path from 'node:path';
import { createDatabase, query } from '../support/database/database.js';
import { DebianPostgres, describeOnDebianPostgres } from '../support/database/debian-postgres.js';
import { documented } from '../support/documented-commands.js';
import { until } from '../support/eventually.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { linksOf } from '../support/http/links.js';
import { prisma } from '../support/database/prisma-cli.js';
import { run } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const ROLE = 'animal_store';
/** More than one page of the largest size. */
const ANIMALS = 250;

const commands = (heading: string) => documented('operating.md', heading);

interface Pet {
  id: number;
  name: string;
}

/** Creates one animal after another, and keeps the acknowledged ones. */
class Creator {
  readonly created: Pet[] = [];
  private isStopped = false;
  private readonly running: Promise<void>;

  constructor(url: string, key: string) {
    this.running = this.run(url, key);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private async run(url: string, key: string): Promise<void> {
    while (!this.isStopped) {
      const { status, json } = await create(url, key, `later ${this.created.length}`);
      if (status !== 201) {
        throw new Error(`${status} ${JSON.stringify(json)}`);
      }
      this.created.push(json);
    }
  }
}

const create = (url: string, key: string, name: string, headers: Record<string, string> = {}) =>
  send(`${url}/v1/pets`, { method: 'POST', key, body: { name, categoryId: 7 }, headers });

/** Returns all pages of all animals. */
async function walk(url: string, key: string): Promise<HttpResponse[]> {
  const pages: HttpResponse[] = [];
  let next: string | undefined = '/v1/pets?limit=100';
  while (next !== undefined) {
    const page = await send(new URL(next, url).href, { key });
    expect(page.status).toBe(200);
    pages.push(page);
    next = linksOf(page)['next'];
  }
  return pages;
}

const petsOn = (pages: HttpResponse[]): Pet[] => pages.flatMap(({ json }) => json);

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
    expect(await run('cli/seed.js', settings)).toMatchObject({ code: 0 });
  });
  afterEach(async () => {
    await services.end('SIGTERM');
    await server.remove();
  });

  const serviceUrl = () => server.url(ROLE, ROLE);

  const start = (databaseUrl = serviceUrl()) => services.start({ DATABASE_URL: databaseUrl }).ready();

  const issue = async (perMinute: number, perDay: number): Promise<string> =>
    (await issueKey({ url: serviceUrl() }, { plan: 'enterprise', perMinute, perDay })).key;

  it('can be dumped under load, and a service continues with the dump in a database of the newest version', async () => {
    const url = await start();
    const key = await issue(1_000_000, 1_000_000);
    const narrow = await issue(1000, 5);
    for (let animal = 1; animal <= ANIMALS; animal += 1) {
      await create(url, key, `animal ${animal}`);
    }
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
      expect(await send(`${url}/v1/pets?limit=1`, { key: narrow })).toMatchObject({ status: 200 });
    }

    const creator = new Creator(url, key);
    await until(() => creator.created.length > 0);
    const before = [...creator.created];
    await server.shell(commands('Dump'), { BACKUP: backup, DATABASE_URL: serviceUrl() });
    expect(creator.created.length).toBeGreaterThan(before.length);
    await creator.stop();
    const pages = await walk(url, key);
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
    const restoredPages = await walk(again, key);
    // The first pages are full in both; the last ones differ by what was created after the dump.
    for (const page of [0, 1]) {
      expect(restoredPages[page]?.text).toBe(pages[page]?.text);
      expect(restoredPages[page]?.headers.get('etag')).toBe(pages[page]?.headers.get('etag'));
    }
    expect(petsOn(pages)).toEqual(expect.arrayContaining(petsOn(restoredPages)));
    expect(petsOn(restoredPages)).toEqual(expect.arrayContaining(before));
    expect((await send(`${again}/v1/store/orders`, { key })).text).toBe(listed);

    const replayed = await create(again, key, 'kept', once);
    expect(replayed.status).toBe(201);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect(replayed.text).toBe(first.text);

    const largestId = Math.max(...petsOn(pages).map(({ id }) => id));
    expect((await create(again, key, 'new')).json.id).toBeGreaterThan(largestId);

    const [counter] = await query<{ left: number }>(
      empty.url,
      `SELECT CASE WHEN day = floor(extract(epoch FROM now()) / 86400) THEN day_limit - day_used ELSE day_limit END AS left
       FROM rate_limit_counters WHERE day_limit = 5`,
    );
    expect(await send(`${again}/v1/pets?limit=1`, { key: narrow })).toMatchObject({ status: 200 });
    const rateLimitStatus = await send(`${again}/v1/rate-limit`, { key: narrow });
    expect(rateLimitStatus.json.windows[1].remaining).toBe((counter?.left ?? 0) - 1);
    await services.end('SIGTERM');
    await empty.drop();
  });

  it('can be recovered to the moment before a mistake, with every 201 before it and without the mistake', async () => {
    const url = await start();
    const key = await issue(1_000_000, 1_000_000);
    await create(url, key, 'before the base backup');
    await server.shell(commands('Base backup'), { BACKUP: backup, ADMIN_URL: server.url() });

    const creator = new Creator(url, key);
    await until(() => creator.created.length >= 50);
    const before = [...creator.created];
    const [moment] = await query<{ now: string }>(server.url(), 'SELECT clock_timestamp()::text AS now');
    const known = creator.created.length;
    await until(() => creator.created.length >= known + 50);
    await creator.stop();
    await query(serviceUrl(), 'DELETE FROM pets');
    expect(await walk(url, key)).toMatchObject([{ text: '[]' }]);
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
    const found = petsOn(await walk(again, key));
    expect(found[0]).toMatchObject({ name: 'before the base backup' });
    expect(found).toEqual(expect.arrayContaining(before));
    // The one of the base backup, and one whose response was in flight.
    expect(found.length).toBeLessThanOrEqual(1 + known + 1);
    const largestId = Math.max(...creator.created.map(({ id }) => id));
    expect((await create(again, key, 'new')).json.id).toBeGreaterThan(largestId);
  });
});
