import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readRows, readSchema, sortRows } from '../support/database/catalog.js';
import { createDatabase, query, type TestDatabase } from '../support/database/database.js';
import {
  createEarlierDatabase,
  EARLIER_COMMITS,
  readDump,
  readFacts,
} from '../support/database/earlier-databases.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { prisma } from '../support/database/prisma-cli.js';
import { send } from '../support/http/http.js';
import { run, ServiceProcess } from '../support/service/service-process.js';
import { CONVERSIONS } from './earlier-databases/conversions.js';

/** As Prisma records it. */
const checksumOf = async (migration: string) =>
  createHash('sha256')
    .update(await readFile(path.join('prisma', 'migrations', migration, 'migration.sql')))
    .digest('hex');

const COMPARE = ['migrate', 'diff', '--from-config-datasource', '--to-schema', 'prisma/schema.prisma'];

describe.each(EARLIER_COMMITS)('a database of commit %s', (commit) => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createEarlierDatabase(commit);
  });
  afterEach(() => database.drop());

  it('is migrated by npx prisma migrate deploy to what the schema and a new database are', async () => {
    const earlier = await readRows(database);
    const command = (...args: string[]) => prisma(database.url, args);
    const deployed = await command('migrate', 'deploy');
    expect(deployed).toMatchObject({ code: 0 });
    OWN_MIGRATIONS.slice(1).forEach((name) => expect(deployed.output).toContain(name));
    const fresh = await createDatabase();
    expect(await readSchema(database)).toEqual(await readSchema(fresh));
    await fresh.drop();
    for (const [table, rows] of Object.entries(await readRows(database))) {
      const converted = CONVERSIONS[table]?.(earlier[table] ?? [], earlier) ?? earlier[table];
      expect([table, rows]).toEqual([table, sortRows(converted ?? [])]);
    }
    expect(await command(...COMPARE, '--exit-code')).toMatchObject({ code: 0 });
    expect(await command('migrate', 'status')).toMatchObject({
      code: 0,
      output: expect.stringContaining('Database schema is up to date!'),
    });
    expect(await command('migrate', 'dev')).toMatchObject({
      code: 0,
      output: expect.stringContaining('Already in sync'),
    });
  });

  it('is found incomplete if its migrations were recorded only, and migrated by the advice', async () => {
    const names = OWN_MIGRATIONS.slice(1);
    const [first = '', ...others] = names;
    expect(await prisma(database.url, ['migrate', 'resolve', '--applied', first])).toMatchObject({ code: 0 });
    // The command takes seconds: the others are recorded as it has recorded the first.
    const checksums = await Promise.all(others.map(checksumOf));
    await database.query(
      `INSERT INTO _prisma_migrations SELECT (jsonb_populate_record(recorded, jsonb_build_object(
         'id', gen_random_uuid(), 'migration_name', name, 'checksum', sum))).*
       FROM _prisma_migrations recorded, unnest($2::text[], $3::text[]) other (name, sum)
       WHERE migration_name = $1`,
      [first, others, checksums],
    );
    const environment = { DATABASE_URL: database.url, APP_ENV: 'staging' };
    expect(await run('cli/admin.js', environment, 'migrate')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^The database lacks .* as applied: either a migration was recorded only \(delete its row in _prisma/,
      ),
    });
    await database.query('DELETE FROM _prisma_migrations WHERE migration_name = ANY ($1)', [names]);
    expect(await run('cli/admin.js', environment, 'migrate')).toMatchObject({ code: 0 });
    expect(await database.query('SELECT count(*)::int FROM pets')).toEqual([{ count: 5 }]);
  });
});

it('a database whose column was dropped by hand is repaired by the difference that is printed', async () => {
  const database = await createDatabase();
  await database.query('ALTER TABLE webhook_deliveries DROP COLUMN response_body');
  const migrate = () => run('cli/admin.js', { DATABASE_URL: database.url, APP_ENV: 'staging' }, 'migrate');
  const { code, stderr } = await migrate();
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^The database lacks the column webhook_deliveries\.response_body, though every/),
  ]);
  const [, command = ''] = /"npx prisma (.*?)"/.exec(stderr) ?? [];
  const { output } = await prisma(database.url, command.split(' '));
  await database.query(/^ALTER TABLE [^;]*;/m.exec(output)?.[0] ?? '');
  expect(await migrate()).toMatchObject({ code: 0 });
  await database.drop();
});

describe.each(EARLIER_COMMITS)('the folder of a demonstration of commit %s', (commit) => {
  let folder: string;
  let service: ServiceProcess;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'animal-store-earlier-'));
  });
  afterEach(async () => {
    await service.kill('SIGTERM');
    await rm(folder, { recursive: true });
  });

  it('starts, migrates itself, and has everything', async () => {
    const { keys } = readFacts(commit);
    const dataDir = path.join(folder, 'data');
    service = new ServiceProcess('main.js', { DATA_DIR: dataDir });
    await service.ready();
    const embedded = await readFile(path.join(dataDir, 'postgres', 'animal_store.url'), 'utf8');
    await query(embedded, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await query(embedded, readDump(commit));
    await service.kill('SIGTERM');
    const demoKeys = {
      free: keys['client'],
      pro: keys['successor'],
      business: keys['of the added plan'],
      enterprise: keys['own limits'],
      admin: keys['administrator'],
    };
    await writeFile(path.join(dataDir, 'demo-keys.json'), JSON.stringify(demoKeys));
    service = new ServiceProcess('main.js', { DATA_DIR: dataDir });
    const url = await service.ready();
    expect(service.stderr).toBe('');
    const stored = JSON.parse(await readFile(path.join(dataDir, 'demo-keys.json'), 'utf8'));
    expect(stored).toMatchObject(demoKeys);
    for (const key of Object.values(demoKeys)) {
      const { status, json } = await send(`${url}/v1/pets`, { key });
      expect([status, json.length]).toEqual([200, 5]);
    }
    const listed = await send(`${url}/admin/keys?limit=100`, { key: keys['administrator'] });
    expect(listed.status).toBe(200);
    const [, rows = ''] = readDump(commit).split('INSERT INTO public.api_keys VALUES\n');
    const [ofThen = ''] = rows.split(';\n');
    const added = Object.keys(stored).length - Object.keys(demoKeys).length;
    expect(listed.json).toHaveLength(ofThen.split('\n').length + added);
    expect((await send(`${url}/v1/keys`, { key: demoKeys.business })).status).toBe(200);
  });
});
