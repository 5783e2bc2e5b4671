import { userInfo } from 'node:os';
import { generateApiKey, hashApiKey } from '../../src/auth/rules/api-key.js';
import { BUILT_IN_PLAN_NAMES, BUILT_IN_PLANS } from '../../src/auth/rules/built-in-plans.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { issueKey } from '../support/keys/keys.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { type Ended, run } from '../support/service/service-process.js';
import { changingNothing } from '../support/database/stored-state.js';
import { animalStore } from '../support/service/terminal.js';

const PRINTED_KEY = /shown this once: (ask_live_\w{38})/;
const KEY = generateApiKey('production');

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase();
  await database.query('DELETE FROM plans');
});
afterEach(() => database.drop());

const settings = () => ({ DATABASE_URL: database.url, APP_ENV: 'production' });
const seed = (env: Record<string, string> = {}) => animalStore({ ...settings(), ...env }, 'seed');
const seedProcess = (env: Record<string, string> = {}) =>
  run('cli/admin.js', { ...settings(), ...env }, 'seed');
const admin = (...args: string[]) => animalStore(settings(), ...args);

const unchanged = <Result>(work: () => Promise<Result>) => changingNothing(database, work);
const printed = (...lines: string[]) => ({ code: 0, stdout: lines.join('\n') + '\n', stderr: '' });

/** Expects a seed to fail for this reason and to change nothing, and returns what it printed. */
async function expectRejected(work: () => Promise<Ended>, reason: string): Promise<string> {
  const { code, stdout, stderr } = await unchanged(work);
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(reason) });
  return stderr;
}

const administrators = () =>
  database.query("SELECT * FROM api_keys JOIN quotas q ON q.id = quota_id WHERE name = 'administrator'");
const plansStored = () => database.query('SELECT * FROM plans ORDER BY name');

const OWN_PLANS = BUILT_IN_PLAN_NAMES.toSorted().map((name) => ({
  name,
  per_minute: BUILT_IN_PLANS[name].perMinute,
  per_day: BUILT_IN_PLANS[name].perDay,
  max_key_lifetime_days: null,
}));

describe('animal-store seed', () => {
  it('creates the missing plans and one administrator, even if two run together', async () => {
    await database.query("INSERT INTO plans VALUES ('free', 1, 2)");
    const runs = await Promise.all([seedProcess(), seedProcess()]);
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const [key, ...more] = runs.flatMap(({ stdout }) => PRINTED_KEY.exec(stdout)?.[1] ?? []);
    expect(more).toStrictEqual([]);
    expect(await plansStored()).toEqual(
      // Limits that an administrator has set stay.
      OWN_PLANS.map((plan) => (plan.name === 'free' ? { ...plan, per_minute: 1, per_day: 2 } : plan)),
    );
    expect(await administrators()).toMatchObject([
      { role: 'admin', plan: 'business', hash: hashApiKey(key ?? ''), expires_at: null },
    ]);

    expect(await unchanged(() => seed())).toMatchObject(
      printed('The plans exist.', 'There is an administrator already.'),
    );
    expect(await database.query('SELECT actor, action FROM audit_events')).toEqual([
      { actor: `terminal:${userInfo().username}`, action: 'key.issued' },
    ]);
  });

  it('issues ADMIN_API_KEY to the first administrator, never prints it, and uses no second one', async () => {
    const [given, other] = [generateApiKey('production'), generateApiKey('production')];
    expect(await seed({ ADMIN_API_KEY: given })).toMatchObject(
      printed('The plans exist.', "ADMIN_API_KEY is the administrator's key."),
    );
    expect(await administrators()).toMatchObject([
      { role: 'admin', plan: 'business', hash: hashApiKey(given) },
    ]);

    expect(await unchanged(() => seed({ ADMIN_API_KEY: other }))).toMatchObject(
      printed('The plans exist.', 'There is an administrator already: ADMIN_API_KEY was not used.'),
    );
    expectNoSecrets(JSON.stringify(await database.query('SELECT t::text FROM audit_events t')), [given]);
  });

  it('prints an object with --json, with the key that it generated, but not with ADMIN_API_KEY', async () => {
    const seedJson = async (env: Record<string, string> = {}) =>
      JSON.parse((await animalStore({ ...settings(), ...env }, 'seed', '--json')).stdout);
    const plans = BUILT_IN_PLAN_NAMES;
    const generated = await seedJson();
    expect(generated).toEqual({
      plans,
      administrator: { created: true, keyId: expect.any(String), key: expect.stringMatching(/^ask_live_/) },
    });
    const [row] = await database.query('SELECT id, hash FROM api_keys');
    expect(row).toEqual({ id: generated.administrator.keyId, hash: hashApiKey(generated.administrator.key) });
    expect(await seedJson()).toEqual({ plans, administrator: { created: false, keyId: null, key: null } });
    await admin('keys', 'revoke', generated.administrator.keyId, '--yes');
    const given = await seedJson({ ADMIN_API_KEY: KEY });
    const [valid] = await database.query('SELECT id FROM api_keys WHERE revoked_at IS NULL');
    expect(given).toEqual({ plans, administrator: { created: true, keyId: valid?.['id'], key: null } });
  });

  it('exits with code 1 and the reason for an invalid ADMIN_API_KEY, and writes nothing', async () => {
    const malformed = 'ADMIN_API_KEY is malformed; check that it was copied whole';
    for (const [ADMIN_API_KEY, reason] of [
      ['letmein', malformed],
      [KEY.slice(0, -1), malformed],
      [generateApiKey('staging'), 'ADMIN_API_KEY is a key for another environment; APP_ENV is production'],
    ] as const) {
      const stderr = await expectRejected(() => seed({ ADMIN_API_KEY }), reason);
      expect(stderr).toBe(`The settings are wrong:\n${reason}\n`);
    }
  });

  it('rejects the key of a client as the key of the administrator', async () => {
    await database.query("INSERT INTO plans VALUES ('free', 1, 2)");
    await issueKey(database, {}, KEY);
    const reason =
      "ADMIN_API_KEY is a client's key, or was revoked or has expired; give one that was never used";
    expectNoSecrets(await expectRejected(() => seed({ ADMIN_API_KEY: KEY }), reason), [KEY]);
  });

  it('creates another administrator when none is valid, and rejects a revoked key', async () => {
    await seed({ ADMIN_API_KEY: KEY });
    const [administrator] = await database.query<{ id: string }>('SELECT id FROM api_keys');
    expect((await admin('keys', 'revoke', administrator?.id ?? '')).code).toBe(0);
    await expectRejected(() => seed({ ADMIN_API_KEY: KEY }), 'was revoked');
    expect((await seed()).stdout).toMatch(PRINTED_KEY);
  });

  it('reports that no database runs', async () => {
    await expectRejected(
      () => run('cli/admin.js', { DATA_DIR: '/nonexistent/data' }, 'seed'),
      'DATABASE_URL',
    );
  });
});
