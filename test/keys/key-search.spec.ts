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

/** Returns whether a search finds the only key with a name, or with other fields. */
async function finds(search: string, given: string | object): Promise<boolean> {
  const fields = typeof given === 'string' ? { name: given } : given;
  const { id } = await store.issue({ plan: 'free', ...fields });
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
    ['STRASSE', 'Straße'],
    ['straße', 'Hauptstrasse'],
    ['Masse', 'MAẞE'],
    ['A\u030ASA', 'åsa'],
    ['a.b*[c]\\d^$(|)_%', 'A.B*[C]\\D^$(|)_% and more'],
    ['***:x', '***:X'],
    ['🐕 犬', 'A 🐕 犬'],
  ])('returns for %j a key named %j', async (search, name) => {
    expect(await finds(search, name)).toBe(true);
  });

  it.each([
    ['strase', 'Straße'],
    ['kathe', 'Käthe'],
    ['ka', 'Ka\u0308the'],
    ['a.c', 'abc'],
    ['a%', 'abc'],
    ['a_c', 'abc'],
    ['(?i)abc', 'abc'],
  ])('returns for %j no key named %j', async (search, name) => {
    expect(await finds(search, name)).toBe(false);
  });

  it.each([
    [{ note: 'Ruft nachts an: KÄTHE' }, 'käthe', true],
    [{ externalId: 'Kunde-ÖSTLUND' }, 'östlund'.normalize('NFD'), true],
    [{ externalId: 'Kunde-ÖSTLUND' }, 'kunde-ostlund', false],
    // Nothing matches across two fields.
    [{ name: 'one', note: 'two' }, 'onetwo', false],
  ])('reads the note and the external id of %j for %j', async (fields, search, isFound) => {
    expect(await finds(search, { name: 'Ann', ...fields })).toBe(isFound);
  });

  it('reads the end of the id and of the key, in any case', async () => {
    const { id, key } = await store.issue({ name: 'Ann' });
    const searches = [
      id.slice(-8).toUpperCase(),
      id,
      key.slice(-4).toUpperCase(),
      key.slice(-3).toLowerCase(),
    ];
    for (const search of searches) {
      const path = `/admin/keys?limit=100&search=${search}`;
      const { json } = await send(store.url + path, { key: administrator });
      expect(json.map((found: { id: string }) => found.id)).toContain(id);
    }
    const { json } = await send(`${store.url}/admin/keys?search=${key.slice(-8, -4)}`, {
      key: administrator,
    });
    expect(json).toEqual([]);
  });
});
