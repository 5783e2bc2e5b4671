import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { generateApiKey, hashApiKey } from '../../src/auth/rules/api-key.js';
import { readSeedFile } from '../../src/seed/seed-file.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { hold } from '../support/load/holding.js';
import { issueKey } from '../support/keys/keys.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { type Ended, run } from '../support/service/service-process.js';
import { changingNothing } from '../support/database/stored-state.js';
import { animalStore } from '../support/service/terminal.js';

const DAY_MS = 86_400_000;
const PRINTED_KEY = /shown this once: (ask_live_\w{38})/;
const FILE_KEYS = Array.from({ length: 8 }, () => generateApiKey('production'));
const [KEY_1 = '', KEY_2 = '', KEY_3 = '', KEY_4 = '', KEY_5 = ''] = FILE_KEYS;

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'animal-store-seed-'));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  database = await createDatabase();
  await database.query('DELETE FROM plans');
});
afterEach(() => database.drop());

const settings = () => ({ DATABASE_URL: database.url, APP_ENV: 'production' });
const seed = (env: Record<string, string> = {}) => animalStore({ ...settings(), ...env }, 'seed');
const seedProcess = (env: Record<string, string> = {}) => run('cli/seed.js', { ...settings(), ...env });
const admin = (...args: string[]) => animalStore(settings(), ...args);

let files = 0;

/** Writes a file with this content, text unchanged and anything else as JSON, and returns its path. */
async function writeSeedFile(content: unknown): Promise<string> {
  const file = path.join(folder, `seed-${(files += 1)}.yaml`);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const seedFrom = async (content: unknown) => seed({ SEED_FILE: await writeSeedFile(content) });

/** Returns the error for a file with this text. */
async function errorOf(text: string): Promise<string> {
  const file = path.join(folder, 'broken.yaml');
  await writeFile(file, text);
  return readSeedFile(file, 'production').then(
    () => 'nothing',
    (error: Error) => error.message,
  );
}

/** Returns the output of a seed without the lines that every seed prints. */
const outputOf = ({ code, stdout, stderr }: Ended) => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trimEnd().split('\n').slice(2);
};

const unchanged = <Result>(work: () => Promise<Result>) => changingNothing(database, work);

/** Seeds from this content, and expects that to print nothing new and to change nothing. */
const seedInVain = async (content: unknown) =>
  expect(outputOf(await unchanged(() => seedFrom(content)))).toEqual([]);

/** Expects a seed to fail for this reason and to change nothing, and returns what it printed. */
async function expectRejected(work: () => Promise<Ended>, reason: string): Promise<string> {
  const { code, stdout, stderr } = await unchanged(work);
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(reason) });
  return stderr;
}

interface Row {
  id: string;
  name: string;
  role: string;
  quota_id: string;
  plan: string;
  per_minute: number | null;
  per_day: number | null;
  hash: Buffer;
  expires_at: Date | null;
  revoked_at: Date | null;
  predecessor_id: string | null;
}

const keysNamed = (name: string) =>
  database.query<Row>(
    'SELECT k.*, q.plan, q.per_minute, q.per_day FROM api_keys k JOIN quotas q ON q.id = k.quota_id WHERE k.name = $1 ORDER BY k.id',
    [name],
  );
const plansStored = () => database.query('SELECT * FROM plans ORDER BY name');

const OWN_PLANS = [
  { name: 'business', per_minute: 1000, per_day: 100_000 },
  { name: 'enterprise', per_minute: null, per_day: null },
  { name: 'free', per_minute: 60, per_day: 1000 },
  { name: 'pro', per_minute: 300, per_day: 10_000 },
];

describe('animal-store seed', () => {
  it('creates the missing plans and one administrator, also when two run together', async () => {
    await database.query("INSERT INTO plans VALUES ('free', 1, 2)");
    const runs = await Promise.all([seedProcess(), seedProcess()]);
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const [key, ...more] = runs.flatMap(({ stdout }) => PRINTED_KEY.exec(stdout)?.[1] ?? []);
    expect(more).toEqual([]);
    expect(await plansStored()).toEqual(
      // Limits that an administrator has set stay.
      OWN_PLANS.map((plan) => (plan.name === 'free' ? { name: 'free', per_minute: 1, per_day: 2 } : plan)),
    );
    expect(await keysNamed('administrator')).toMatchObject([
      { role: 'admin', plan: 'business', hash: hashApiKey(key ?? ''), expires_at: null },
    ]);

    expect(await unchanged(() => seed())).toMatchObject({
      code: 0,
      stdout: 'The plans are there.\nThere is an administrator already.\n',
    });
    expect(await database.query('SELECT actor, action FROM audit_events')).toEqual([
      { actor: `terminal:${userInfo().username}`, action: 'key.issued' },
    ]);
  });

  it('uses ADMIN_API_KEY as the key of the first administrator, never prints it, and uses no second one', async () => {
    const [given, other] = [generateApiKey('production'), generateApiKey('production')];
    const printed = (...lines: string[]) => ({ code: 0, stdout: lines.join('\n') + '\n', stderr: '' });
    expect(await seed({ ADMIN_API_KEY: given })).toMatchObject(
      printed('The plans are there.', "ADMIN_API_KEY is the administrator's key."),
    );
    expect(await keysNamed('administrator')).toMatchObject([
      { role: 'admin', plan: 'business', hash: hashApiKey(given) },
    ]);
    expect(await unchanged(() => seed({ ADMIN_API_KEY: given }))).toMatchObject(
      printed('The plans are there.', 'There is an administrator already.'),
    );
    expect(await unchanged(() => seed({ ADMIN_API_KEY: other }))).toMatchObject(
      printed('The plans are there.', 'There is an administrator already: ADMIN_API_KEY was not used.'),
    );
    expectNoSecrets(JSON.stringify(await database.query('SELECT t::text FROM audit_events t')), [given]);
  });

  it('exits with code 1 and the reason for an invalid ADMIN_API_KEY, and writes nothing', async () => {
    const malformed = 'ADMIN_API_KEY is malformed; check that it was copied whole';
    for (const [ADMIN_API_KEY, reason] of [
      ['letmein', malformed],
      [KEY_1.slice(0, -1), malformed],
      [generateApiKey('staging'), 'ADMIN_API_KEY is a key for another environment; APP_ENV is production'],
    ] as const) {
      const printed = await expectRejected(() => seed({ ADMIN_API_KEY }), reason);
      expect(printed).toBe(`The settings are wrong:\n${reason}\n`);
    }
  });

  it('rejects the key of a client as the key of the administrator', async () => {
    await database.query("INSERT INTO plans VALUES ('free', 1, 2)");
    await issueKey(database, {}, KEY_1);
    const reason =
      "ADMIN_API_KEY is a client's key, or was revoked or has expired; give one that was never used";
    expectNoSecrets(await expectRejected(() => seed({ ADMIN_API_KEY: KEY_1 }), reason), [KEY_1]);
  });

  it('creates another administrator when none is valid, and rejects a revoked key', async () => {
    await seed({ ADMIN_API_KEY: KEY_1 });
    const [administrator] = await database.query<{ id: string }>('SELECT id FROM api_keys');
    expect((await admin('keys', 'revoke', administrator?.id ?? '')).code).toBe(0);
    await expectRejected(() => seed({ ADMIN_API_KEY: KEY_1 }), 'was revoked');
    expect((await seed()).stdout).toMatch(PRINTED_KEY);
  });

  it('waits for a seed that takes longer than any statement timeout', async () => {
    const holder = await hold(database.url, 'SELECT pg_advisory_xact_lock(7446220112)');
    const waiting = seedProcess();
    const outcome = await Promise.race([
      waiting,
      new Promise((resolve) => setTimeout(resolve, 7000, 'nothing')),
    ]);
    await holder.letGo();
    expect(outcome).toBe('nothing');
    expect((await waiting).stdout).toMatch(PRINTED_KEY);
  });

  it('reports that no database runs', async () => {
    await expectRejected(() => run('cli/seed.js', { DATA_DIR: '/nonexistent/data' }), 'DATABASE_URL');
  });
});

describe('animal-store seed with SEED_FILE', () => {
  const YAML = `
# What this deployment has from the first.
plans:
  - { name: startup, perMinute: 120, perDay: 3000 }
  - name: free
    perMinute: 61
    perDay: 1001
keys:
  - name: "Ann's shop"
    plan: startup
    key: ${KEY_1}
  - name: warehouse
    plan: enterprise
    perMinute: 5000
    perDay: 1000000
    role: admin
    expiresAt: 2999-01-01T00:00:00+01:00
`;
  const ANN = { name: 'Ann', plan: 'free', key: KEY_1 };

  it('creates plans and keys from YAML, and prints each key that it generated once', async () => {
    const ended = await seedFrom(YAML);
    const [ann] = await keysNamed("Ann's shop");
    const [warehouse] = await keysNamed('warehouse');
    const [, made = ''] = /warehouse: .*shown this once: (\S+)/.exec(ended.stdout) ?? [];
    expect(outputOf(ended)).toEqual([
      'Plan startup: 120 requests per minute, 3000 per day.',
      'Plan free: 61 requests per minute, 1001 per day.',
      `Key Ann's shop: issued, ${ann?.id}.`,
      `Key warehouse: issued, ${warehouse?.id}. The key, shown this once: ${made}`,
    ]);
    expect(ann).toMatchObject({
      role: 'client',
      plan: 'startup',
      per_minute: null,
      hash: hashApiKey(KEY_1),
      expires_at: null,
    });
    expect(warehouse).toMatchObject({
      role: 'admin',
      plan: 'enterprise',
      per_minute: 5000,
      per_day: 1_000_000,
      hash: hashApiKey(made),
      expires_at: new Date('2998-12-31T23:00:00Z'),
    });
    expect(await plansStored()).toEqual([
      ...OWN_PLANS.map((plan) =>
        plan.name === 'free' ? { name: 'free', per_minute: 61, per_day: 1001 } : plan,
      ),
      { name: 'startup', per_minute: 120, per_day: 3000 },
    ]);
    expect(await database.query('SELECT actor, action FROM audit_events ORDER BY id')).toEqual(
      ['key.issued', 'plan.created', 'plan.changed', 'key.issued', 'key.issued'].map((action) => ({
        actor: `terminal:${userInfo().username}`,
        action,
      })),
    );
    const stored = await Promise.all(
      ['audit_events', 'seed_entries'].map((table) => database.query(`SELECT t::text FROM ${table} t`)),
    );
    expectNoSecrets(JSON.stringify(stored), [KEY_1, made]);
    expectNoSecrets(ended.stdout, [KEY_1]);

    await seedInVain(YAML);
  });

  it('accepts JSON, with only plans, only keys, or neither', async () => {
    expect(outputOf(await seedFrom({ plans: [{ name: 'a', perMinute: 1, perDay: 2 }] }))).toHaveLength(1);
    expect(outputOf(await seedFrom({ keys: [{ name: 'Bob', plan: 'a' }] }))).toEqual([
      expect.stringMatching(/^Key Bob: issued/),
    ]);
    await seedInVain('{}');
  });

  it('applies the file once when two run together', async () => {
    const SEED_FILE = await writeSeedFile(YAML);
    const runs = await Promise.all([seedProcess({ SEED_FILE }), seedProcess({ SEED_FILE })]);
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    expect(runs.map((ended) => outputOf(ended).length).toSorted((one, other) => one - other)).toEqual([0, 4]);
    expect([
      ...(await keysNamed("Ann's shop")),
      ...(await keysNamed('warehouse')),
      ...(await keysNamed('administrator')),
    ]).toHaveLength(3);
  });

  it('applies changes of the file, and keeps other changes of an administrator', async () => {
    const file = {
      plans: [
        { name: 'one', perMinute: 1, perDay: 10 },
        { name: 'two', perMinute: 2, perDay: 20 },
      ],
      keys: [
        { name: 'Ann', plan: 'free', key: KEY_1 },
        { name: 'Bob', plan: 'free', key: KEY_2 },
      ],
    };
    await seedFrom(file);
    const [[ann], [bob]] = [await keysNamed('Ann'), await keysNamed('Bob')];
    // An administrator changes everything.
    await admin('plans', 'set', 'one', '--per-minute', '7', '--per-day', '70');
    await admin('plans', 'set', 'two', '--per-minute', '8', '--per-day', '80');
    await admin('keys', 'plan', ann?.id ?? '', 'business');
    await admin('keys', 'plan', bob?.id ?? '', 'business');
    await seedInVain(file);

    // The file changes one of each, and no longer names the others.
    const changed = {
      plans: [{ name: 'one', perMinute: 1, perDay: 11 }],
      keys: [{ name: 'Ann', plan: 'pro', perMinute: 9, perDay: 90, key: KEY_1 }],
    };
    expect(outputOf(await seedFrom(changed))).toEqual([
      'Plan one: 1 requests per minute, 11 per day.',
      `Key Ann: changed, ${ann?.id}.`,
    ]);
    expect(await plansStored()).toEqual(
      expect.arrayContaining([
        { name: 'one', per_minute: 1, per_day: 11 },
        { name: 'two', per_minute: 8, per_day: 80 },
      ]),
    );
    expect(await keysNamed('Ann')).toMatchObject([
      { id: ann?.id, plan: 'pro', per_minute: 9, per_day: 90, hash: hashApiKey(KEY_1), expires_at: null },
    ]);
    expect(await keysNamed('Bob')).toMatchObject([{ id: bob?.id, plan: 'business', expires_at: null }]);

    await seedInVain(changed);
  });

  it('rotates a key whose entry has another key, with an overlap of 24 hours, on the same quota', async () => {
    await seedFrom({ keys: [ANN] });
    const start = Date.now();
    const ended = await seedFrom({ keys: [{ ...ANN, plan: 'pro', key: KEY_2 }] });
    const [old, successor] = await keysNamed('Ann');
    expect(outputOf(ended)).toEqual([`Key Ann: rotated, ${successor?.id}.`]);
    expectNoSecrets(ended.stdout, [KEY_1, KEY_2]);
    expect(old).toMatchObject({ hash: hashApiKey(KEY_1), plan: 'pro', revoked_at: null });
    expect(successor).toMatchObject({
      hash: hashApiKey(KEY_2),
      predecessor_id: old?.id,
      quota_id: old?.quota_id,
      expires_at: null,
    });
    const overlap = (old?.expires_at?.getTime() ?? 0) - DAY_MS;
    expect(overlap).toBeGreaterThanOrEqual(start);
    expect(overlap).toBeLessThanOrEqual(Date.now());

    await seedInVain({ keys: [{ ...ANN, plan: 'pro', key: KEY_2 }] });
    // Without a key, an entry leaves the key unchanged.
    await seedInVain({ keys: [{ name: 'Ann', plan: 'pro' }] });
  });

  it('accepts a key that an administrator has rotated since, and rotates its successor for a new key', async () => {
    await seedFrom({ keys: [ANN] });
    const [ann] = await keysNamed('Ann');
    const rotated = await admin('keys', 'rotate', ann?.id ?? '', '--json');
    const { id, key } = JSON.parse(rotated.stdout);
    // The old key or its successor: no change is needed.
    await seedInVain({ keys: [ANN] });
    await seedInVain({ keys: [{ ...ANN, key }] });

    expect(outputOf(await seedFrom({ keys: [{ ...ANN, plan: 'pro' }] }))).toHaveLength(1);
    await seedInVain({ keys: [{ ...ANN, plan: 'pro' }] });
    expect(outputOf(await seedFrom({ keys: [{ ...ANN, plan: 'pro', key: KEY_3 }] }))).toEqual([
      expect.stringMatching(/^Key Ann: rotated/),
    ]);
    const [, , third] = await keysNamed('Ann');
    expect(third).toMatchObject({ hash: hashApiKey(KEY_3), predecessor_id: id, plan: 'pro' });
  });

  it('reports every error, rejects unknown fields, and then writes nothing', async () => {
    const staging = generateApiKey('staging');
    const file = {
      plans: [
        { name: 'Gold', perMinute: 0, perDay: 1.5 },
        { name: 'twin', perMinute: 1, perDay: 1 },
        { name: 'twin', perMinute: 1, perDay: 1, perHour: 1 },
      ],
      keys: [
        { name: ' ', plan: 'free', perMinute: 5 },
        { plan: 'free', role: 'king', key: staging },
        { name: 'same', plan: 'free', key: KEY_4.slice(0, -1) },
        { name: 'same', plan: 'free', expiresAt: '2999-01-01', colour: 'red', perDay: '7' },
      ],
      animals: [],
    };
    const stderr = await expectRejected(() => seedFrom(file), 'SEED_FILE');
    const faults = stderr
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.replace(/^SEED_FILE \S+: ?/, ''));
    const integer = 'must be an integer from 1 to 2147483647, written as digits';
    expect(faults.toSorted()).toEqual(
      [
        'plans.0.name must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter',
        `plans.0.perMinute ${integer}`,
        `plans.0.perDay ${integer}`,
        'plans.2 Unrecognized key: "perHour"',
        'plans.2 has the name of another, "twin"',
        'keys.0.name must not be blank',
        'keys.0.perDay is required with perMinute',
        'keys.1.name is required',
        'keys.1.role must be one of client, admin',
        'keys.1.key must be an API key of production',
        'keys.2.key must be an API key of production',
        'keys.3 Unrecognized key: "colour"',
        'keys.3 has the name of another, "same"',
        'keys.3.expiresAt must be a date-time with its offset, such as 2027-01-01T00:00:00Z',
        `keys.3.perDay ${integer}`,
        'keys.3.perMinute is required with perDay',
        'Unrecognized key: "animals"',
      ].toSorted(),
    );
    expectNoSecrets(stderr, [staging, KEY_4]);
  });

  it('is atomic: an entry that fails undoes those before it', async () => {
    const plan = { name: 'good', perMinute: 1, perDay: 1 };
    const good = { name: 'good', plan: 'good', key: KEY_5 };
    const bad = (fields: object) => ({
      plans: [plan],
      keys: [good, { name: 'bad', plan: 'free', ...fields }],
    });
    // Not even the built-in plans or an administrator are created.
    for (const [content, reason] of [
      [bad({ plan: 'gold' }), 'key "bad": There is no plan "gold"'],
      [bad({ plan: 'enterprise' }), 'key "bad": Plan "enterprise" has'],
      [
        { plans: [plan, { name: 'enterprise', perMinute: 1, perDay: 1 }], keys: [good] },
        'plan "enterprise": Plan "enterprise" has no limits of its own',
      ],
      [
        bad({ expiresAt: '2020-01-01T00:00:00Z' }),
        'key "bad": The request is invalid: expiresAt must be in the future.',
      ],
      [bad({ key: KEY_5 }), 'key "bad": This very key'],
    ] as const) {
      expectNoSecrets(await expectRejected(() => seedFrom(content), `SEED_FILE, ${reason}`), [KEY_5]);
    }
  });

  it('rejects a change of a role', async () => {
    await seedFrom({ keys: [ANN] });
    for (const key of [KEY_1, KEY_2]) {
      const file = { keys: [{ ...ANN, role: 'admin', key }] };
      await expectRejected(() => seedFrom(file), 'SEED_FILE, key "Ann": Its role stays as it was issued');
    }
  });

  it('changes when a key expires, with a new key or without', async () => {
    await seedFrom({ keys: [ANN] });
    for (const [expiresAt, key, count] of [
      ['2998-01-01T00:00:00Z', ANN.key, 1],
      ['2999-01-01T00:00:00Z', KEY_2, 2],
    ] as const) {
      expect(outputOf(await seedFrom({ keys: [{ ...ANN, expiresAt, key }] }))).toHaveLength(1);
      const keys = await keysNamed('Ann');
      expect(keys).toHaveLength(count);
      expect(keys.at(-1)?.expires_at).toEqual(new Date(expiresAt));
    }
    expect(outputOf(await seedFrom({ keys: [{ ...ANN, key: KEY_2 }] }))).toHaveLength(1);
    expect((await keysNamed('Ann')).at(-1)?.expires_at).toBeNull();
    const { stdout } = await admin('audit', '--json');
    expect(JSON.parse(stdout)[0]).toMatchObject({
      action: 'key.expiry_changed',
      before: { expiresAt: '2999-01-01T00:00:00.000Z' },
      after: { expiresAt: null },
    });
  });

  it('issues a new key for one that was revoked since, when the entry has one', async () => {
    await seedFrom({ keys: [ANN] });
    const [first] = await keysNamed('Ann');
    expect((await admin('keys', 'revoke', first?.id ?? '')).code).toBe(0);
    await seedInVain({ keys: [ANN] });
    expect(outputOf(await seedFrom({ keys: [{ ...ANN, key: KEY_2 }] }))).toEqual([
      expect.stringMatching(/^Key Ann: issued, /),
    ]);
    expect((await keysNamed('Ann')).map(({ hash }) => hash)).toContainEqual(hashApiKey(KEY_2));
  });

  it('exits with code 1 when the file cannot be read, and prints no key from it', async () => {
    const SEED_FILE = path.join(folder, 'nowhere.yaml');
    await expectRejected(() => seedProcess({ SEED_FILE }), `SEED_FILE ${SEED_FILE} cannot be read: ENOENT`);
    expect(await expectRejected(() => seedFrom(`keys: "${KEY_1}`), 'SEED_FILE')).toMatch(
      /^The settings are wrong:\nSEED_FILE \S+ cannot be read: .* at line 1, column \d+\n$/,
    );
    const broken = [
      `keys:\n  - { name: x, plan: free, key: "${KEY_1} }\n`,
      `keys:\n  - name: x\n   key: ${KEY_1}\n`,
      `keys: [${KEY_1}\nplans: ]`,
      `${KEY_1}: 1\n${KEY_1}: 2\n`,
      `keys: *${KEY_1}\n`,
      `{"keys": [{"name": "x", "key": "${KEY_1}"}]} ${KEY_1}`,
      `keys:\n  - name: ${KEY_1}\n    plan: [${'x'.repeat(90)}, "${KEY_1}\n`,
    ];
    for (const text of broken) {
      const reason = await errorOf(text);
      expect([text, reason]).toEqual([
        text,
        expect.stringMatching(/^SEED_FILE \S+ cannot be read: .+[\w…]$/),
      ]);
      expectNoSecrets(reason, [KEY_1]);
    }
    for (const text of ['', '[]', KEY_1]) {
      expect([text, await errorOf(text)]).toEqual([
        text,
        expect.stringMatching(/^SEED_FILE \S+: the file must hold "plans", "keys" or both$/),
      ]);
    }
  });

  it('prints no key in the warning about an unknown tag', async () => {
    const content = `keys:\n  - { name: x, plan: free, key: !secret ${KEY_1} }\n`;
    const ended = await seedProcess({ SEED_FILE: await writeSeedFile(content) });
    expectNoSecrets(ended.stdout + ended.stderr, [KEY_1]);
    expect(ended.code).toBe(0);
  });
});
