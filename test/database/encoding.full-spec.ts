import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import { applyPendingMigrations } from '../../src/database/migrations/migrations.js';
import { OperatorError } from '../../src/process/operator-error.js';
import { createDatabase, query, type TestDatabase } from '../support/database/database.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { prisma } from '../support/database/prisma-cli.js';
import { send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

const MIGRATIONS = path.join(import.meta.dirname, '..', '..', 'prisma', 'migrations');
const SERVER = process.env['TEST_DATABASE_URL'] ?? '';

let database: TestDatabase;
/** The database itself, but in another encoding. */
let fault: string;
let repair: string;

/** Creates an empty database in another encoding, and what the service says of it. */
async function createIn(encoding: string): Promise<void> {
  database = await createDatabase('template0');
  const name = new URL(database.url).pathname.slice(1);
  await query(SERVER, `DROP DATABASE ${name}`);
  await query(SERVER, `CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`);
  repair = `CREATE DATABASE ${name}_utf8 ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0`;
  fault =
    `the database ${name} stores text as ${encoding}, and must as UTF8: run "${repair}", ` +
    'and name that one in DATABASE_URL';
}

/** Creates the tables and the plans by hand. */
async function createTables(): Promise<void> {
  for (const name of OWN_MIGRATIONS) {
    await database.query(await readFile(path.join(MIGRATIONS, name, 'migration.sql'), 'utf8'));
  }
  await database.query("INSERT INTO plans VALUES ('enterprise')");
}

afterEach(async () => {
  jest.restoreAllMocks();
  await database.drop();
});

describe.each(['LATIN1', 'SQL_ASCII', 'EUC_JP'])('a database in %s', (encoding) => {
  it('is rejected by every command, with the statement that makes one in UTF8', async () => {
    await createIn(encoding);
    await expect(applyPendingMigrations(database.url)).rejects.toEqual(new OperatorError(fault));
    const failed = { code: 1, output: expect.stringContaining(fault) as string };
    expect(await prisma(database.url, ['migrate', 'deploy'])).toEqual(failed);
    expect(await prisma(database.url, ['db', 'seed'], { environment: { APP_ENV: 'staging' } })).toEqual(
      failed,
    );
    expect(await database.query("SELECT FROM pg_tables WHERE schemaname = 'public'")).toStrictEqual([]);

    await query(SERVER, repair);
    const url = new URL(database.url);
    url.pathname += '_utf8';
    expect(await applyPendingMigrations(url.href)).toEqual(OWN_MIGRATIONS);
    await query(SERVER, `DROP DATABASE ${url.pathname.slice(1)} WITH (FORCE)`);
  });
});

describe('a service on a database in LATIN1', () => {
  let store: TestApplication;
  beforeEach(async () => {
    await createIn('LATIN1');
    await createTables();
  });

  it('is not ready, but fails only the requests whose text cannot be stored', async () => {
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    store = await startApplication({ database });
    try {
      expect((await send(`${store.url}/readyz`)).status).toBe(503);
      expect(errors).toHaveBeenCalledWith(`Not ready: ${fault}`);
      const [{ key: a }, { key: b }] = [await store.issue(UNLIMITED), await store.issue(UNLIMITED)];
      const create = (key: string, name: string) =>
        send(`${store.url}/v1/pets`, { method: 'POST', key, body: { name, categoryId: 3 } });
      for (let round = 1; round <= 10; round += 1) {
        const [failed, ...created] = await Promise.all([
          create(a, '日本'),
          ...Array.from({ length: 20 }, (_, number) => create(b, `Rex ${number}`)),
        ]);
        expect(failed?.status).toBe(500);
        expect(created.map(({ status }) => status)).toEqual(Array(20).fill(201));
      }
      expect(await database.query('SELECT count(*)::int FROM pets')).toEqual([{ count: 200 }]);
    } finally {
      await store.close();
    }
  });
});
