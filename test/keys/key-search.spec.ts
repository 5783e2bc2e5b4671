import { seedPlans } from '../../src/start/plans.js';
import { applyPendingMigrations } from '../../src/database/migrations/migrations.js';
import { readEnvironment } from '../../src/process/settings/environment.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { openPrisma } from '../support/database/queries.js';
import { send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

let database: TestDatabase;
let store: TestApplication;
let administrator: string;

/** With this locale, which the service advises, PostgreSQL's own functions know the case of ASCII only. */
beforeAll(async () => {
  database = await createDatabase('template0', "LOCALE_PROVIDER libc LOCALE 'C'");
  await applyPendingMigrations(database.url);
  const prisma = openPrisma(readEnvironment({ APP_ENV: 'staging', DATABASE_URL: database.url }));
  await seedPlans(prisma);
  await prisma.onApplicationShutdown();
  store = await startApplication({ database });
  administrator = (await store.issue({ ...UNLIMITED, role: 'admin' })).key;
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

/** Returns whether a search finds the only key with a name. */
async function finds(search: string, name: string): Promise<boolean> {
  const { id } = await store.issue({ name });
  const path = `/admin/keys?limit=100&search=${encodeURIComponent(search)}`;
  const { status, json, headers } = await send(store.url + path, { key: administrator });
  await database.query('DELETE FROM api_keys WHERE id = $1', [id]);
  expect([status, headers.get('x-total-count')]).toEqual([200, String(json.length)]);
  return json.map((key: { id: string }) => key.id).includes(id);
}

describe('GET /admin/keys?search= in a database with the locale C', () => {
  it.each([
    ['käthe', 'KÄTHE Östlund'],
    ['ÖSTL', 'Käthe Östlund'],
    ['März', 'März'.normalize('NFD')],
    ['märz'.normalize('NFD'), 'MÄRZ'],
    ['VIE\u0302\u0323T', 'Công ty Việt'],
    ['việt', 'Công ty Vie\u0323\u0302t'],
    ['việt', 'Công ty Viê\u0323t'],
    ['москва', 'МОСКВА'],
    ['οδος', 'ΟΔΟΣ'],
    ['ΟΔΟΣ', 'οδος'],
    ['shop', 'ＳＨＯＰ'],
    // Turkish has two letters, and others write one where it has the other.
    ['istanbul', 'İSTANBUL'],
    ['IŞIK', 'ışık'],
    ['straße', 'STRAẞE'],
    ['a.b*[c]\\d^$(|)_%', 'A.B*[C]\\D^$(|)_% and more'],
    ['***:x', '***:X'],
    ['🐕 犬', 'A 🐕 犬'],
  ])('returns for %j a key named %j', async (search, name) => {
    expect(await finds(search, name)).toBe(true);
  });

  it.each([
    ['strasse', 'Straße'],
    ['kathe', 'Käthe'],
    ['ka', 'Ka\u0308the'],
    ['a.c', 'abc'],
    ['a%', 'abc'],
    ['a_c', 'abc'],
    ['(?i)abc', 'abc'],
  ])('returns for %j no key named %j', async (search, name) => {
    expect(await finds(search, name)).toBe(false);
  });
});
