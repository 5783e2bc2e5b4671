import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { about } from '../../src/openapi/about.js';
import { hashApiKey } from '../../src/auth/rules/api-key.js';
import { DAY_MS } from '../support/time/clock.js';
import { ban } from '../support/keys/bans.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { eventually } from '../support/eventually.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { type Ended, run, ServiceProcess } from '../support/service/service-process.js';
import { changingNothing } from '../support/database/stored-state.js';
import { animalStore } from '../support/service/terminal.js';

const NOBODY = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';
/** The usage of a key without requests. */
const UNUSED = {
  lastUsedAt: null,
  recentUsage: Array.from({ length: 24 }, () => ({
    startsAt: expect.any(String),
    requests: 0,
    denied: 0,
  })),
};
/** The migration that is applied once more. */
const REDONE = '20261123000000_init';
const NOWHERE = 'postgres://nobody@127.0.0.1:1/nothing';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const settings = () => ({ DATABASE_URL: database.url, APP_ENV: 'production' });
const admin = (...args: string[]) => animalStore(settings(), ...args);
/** Runs `animal-store` on another database. */
const on = ({ url }: { url: string }, ...args: string[]) =>
  animalStore({ DATABASE_URL: url, APP_ENV: 'production' }, ...args);
/** Runs a command that is given as one text. */
const called = (command: string) => admin(...command.split(' '));

/** Returns the output of a command that succeeds. */
async function succeed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await admin(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

// oxlint-disable-next-line typescript/no-explicit-any
const json = async (...args: string[]): Promise<any> => JSON.parse(await succeed(...args, '--json'));
const readJson = (command: string) => json(...command.split(' '));
const issue = (options = '--plan free') => readJson(`keys issue --name test ${options}`);
/** Uses another database, which is dropped in the end. */
async function withDatabase(
  template: 'template_store' | 'template0',
  use: (other: TestDatabase) => Promise<void>,
): Promise<void> {
  const other = await createDatabase(template);
  try {
    await use(other);
  } finally {
    await other.drop();
  }
}
const rows = (table: string): string[][] =>
  table
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

/** Expects that a command failed with this reason on standard error, and with no output. */
function expectFailure({ code, stdout, stderr }: Ended, reason: string): void {
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `${reason}\n` });
}

const unchanged = <Result>(work: () => Promise<Result>) => changingNothing(database, work);

describe('the commands of keys', () => {
  it('issue a key as one JSON object or as lines, which alone show the key itself', async () => {
    const { key, ...shown } = await issue(
      '--plan enterprise --per-minute 7 --per-day 70 --role admin --expires 2999-01-01T00:00:00+01:00',
    );
    expect(key).toMatch(/^ask_live_\w{38}$/);
    const own = { plan: 'enterprise', role: 'admin', perMinute: 7, perDay: 70, limitsSource: 'quota' };
    expect(shown).toMatchObject({ ...own, expiresAt: '2998-12-31T23:00:00.000Z' });
    expect(await json('keys', 'show', shown.id)).toEqual({ ...shown, ...UNUSED });

    const lines = await succeed('keys', 'issue', '--name', 'Bob', '--plan', 'free');
    const [, other = ''] = /^key +(ask_live_\w{38})$/m.exec(lines) ?? [];
    const [, id = ''] = /^id +(\S+)$/m.exec(lines) ?? [];
    expect(lines).toMatch(/^plan +free, 60 requests per minute, 1000 per day$/m);
    expect(lines).toMatch(/^expires +never$/m);
    expect(lines).toMatch(/\nThe key is not shown again\.\n$/);
    const facts = await succeed('keys', 'show', id);
    expect(facts).toMatch(new RegExp(`^shown +ask_live_…${other.slice(-4)}$`, 'm'));
    expectNoSecrets(facts, [other]);
    const stored = await database.query('SELECT id FROM api_keys WHERE hash = $1', [hashApiKey(other)]);
    expect(stored).toEqual([{ id }]);
  });

  it('update scopes and networks, which the issue sets too, and keep what is not given', async () => {
    const { id } = await issue('--plan free --scopes pets:read,orders:read --networks 203.0.113.7');
    const shown = await succeed('keys', 'show', id);
    expect(shown).toMatch(/^scopes +pets:read, orders:read$/m);
    expect(shown).toMatch(/^allowed networks +203\.0\.113\.7\/32$/m);
    const set = await succeed('keys', 'update', id, '--scopes', 'pets:write, pets:read ');
    expect(set).toMatch(/^scopes +pets:read, pets:write$/m);
    expect(await readJson(`keys update ${id} --networks 2001:db8::/32`)).toMatchObject({
      scopes: ['pets:read', 'pets:write'],
      allowedNetworks: ['2001:db8::/32'],
    });
    const unrestricted = { scopes: null, allowedNetworks: null };
    expect(await readJson(`keys update ${id} --scopes all --networks any`)).toMatchObject(unrestricted);
    const none = await succeed('keys', 'update', id, '--scopes', 'none', '--networks', 'none');
    expect(none).toMatch(/^scopes +none$/m);
    expect(none).toMatch(/^allowed networks +none$/m);
    expect(await readJson(`keys show ${id}`)).toMatchObject({ scopes: [], allowedNetworks: [] });
  });

  it('suggest the scopes that a key used', async () => {
    const { id, quotaId } = await issue();
    await database.query(
      `INSERT INTO usage VALUES ($1, $2, 'day', date_trunc('day', now(), 'UTC'), 'createPet', false, ` +
        '3, 0, 5, 0, 0, now())',
      [id, quotaId],
    );
    const suggested = await succeed('keys', 'scope-suggestion', id, '--days', '1');
    expect(rows(suggested)).toEqual(
      expect.arrayContaining([
        ['pets:write', '3', '5', expect.any(String)],
        ['pets:read', '0', '0', '-'],
      ]),
    );
    expect(suggested).toMatch(/^Since \S+T00:00:00\.000Z\.$/m);
    expect((await readJson(`keys show ${id}`)).scopes).toBeNull();
  });

  it('revoke a key that leaked by the key itself', async () => {
    const { id, key } = await issue();
    expect(await readJson(`keys revoke --leaked-key ${key} --yes`)).toMatchObject({ id, state: 'revoked' });
    expectFailure(
      await called('keys revoke --leaked-key ask_live_nonsense --yes'),
      'This key was never issued here. Check that it was copied whole.',
    );
  });

  it('fail when standard input has no leaked key', async () => {
    const args = ['dist/cli/admin.js', 'keys', 'revoke', '--leaked-key', '-'];
    const revocation = promisify(execFile)(process.execPath, args, {
      env: { ...process.env, ...settings() },
    });
    revocation.child.stdin?.end();
    await expect(revocation).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'Standard input was empty: write the leaked key there, on one line.\n',
    });
  });

  it('revoke a key that leaked as read from standard input, so that no argument shows it', async () => {
    const { id, key } = await issue();
    const args = ['dist/cli/admin.js', 'keys', 'revoke', '--leaked-key', '-', '--json'];
    const revocation = promisify(execFile)(process.execPath, args, {
      env: { ...process.env, ...settings() },
    });
    revocation.child.stdin?.end(` ${key}\r\n`);
    expect(JSON.parse((await revocation).stdout)).toMatchObject({ id, state: 'revoked' });
  });

  it('list keys oldest first, filtered by each option, as a table or as JSON, and show one key', async () => {
    await succeed('plans', 'set', 'listed', '--per-minute', '1', '--per-day', '2');
    const keys = [await issue('--plan listed'), await issue('--plan listed --role admin')];
    const other = await issue();
    const until = new Date(Date.now() + DAY_MS);
    await ban(database, keys[1], until);
    await ban(database, other, until);
    const [first, second] = keys.map(({ key: _key, ...shown }) => ({ ...shown, ...UNUSED }));
    const banned = { ...second, bannedUntil: until.toISOString() };

    for (const [options, expected] of [
      ['--plan listed', [first, banned]],
      ['--plan listed --banned', [banned]],
      ['--search nameless', []],
      ['--plan listed --state revoked', []],
      ['--plan listed --sort -createdAt', [banned, first]],
      [`--quota ${second.quotaId}`, [banned]],
      [`--quota ${second.quotaId.slice(-8)}`, [banned]],
      ['--unused-since 2020-01-01T00:00:00Z', []],
      ['--plan listed --expires-before 2999-01-01T00:00:00Z', []],
    ] as const) {
      expect([options, await readJson(`keys list ${options}`)]).toEqual([options, expected]);
    }
    expect(await readJson(`keys list --search ${first.lastFour} --state active`)).toContainEqual(first);
    const all = await json('keys', 'list');
    expect(all.map(({ id }: { id: string }) => ({ id }))).toEqual(
      await database.query('SELECT id FROM api_keys ORDER BY id'),
    );
    expect(await succeed('keys', 'list', '--plan', 'nothing-is-on-it')).toBe('None.\n');

    const table = await succeed('keys', 'list', '--plan', 'listed');
    const row = ({ id, role, quotaId, lastFour }: Record<string, string>, bannedUntil: string) =>
      `test  ${id}  ask_live_…${lastFour}  ${role}  ${quotaId}  listed  1  2  active  -  ${bannedUntil}  -`;
    expect(rows(table).map((cells) => cells.join('  '))).toEqual([
      'NAME  ID  KEY  ROLE  QUOTA  PLAN  PER MINUTE  PER DAY  STATE  EXPIRES  BANNED UNTIL  LAST USED',
      row(first, '-'),
      row(second, until.toISOString().replace(/\.\d+/, '')),
    ]);
    const facts = await succeed('keys', 'show', second.id);
    expect(facts).toMatch(new RegExp(`^banned until +${until.toISOString()}$`, 'm'));
    expectNoSecrets(table + facts + JSON.stringify(all), [keys[0].key, keys[1].key, other.key]);
  });

  it('issue a key on the quota of another, and list both together, with what they share once', async () => {
    const first = await issue('--plan pro');
    await issue();
    const further = await issue(`--quota ${first.quotaId.slice(-8)}`);
    expect(further).toMatchObject({ quotaId: first.quotaId, plan: 'pro', perMinute: 300 });
    const cells = rows(await succeed('keys', 'list', '--search', 'test')).map((row) => row.join('  '));
    const at = cells.findIndex((row) => row.includes(first.id));
    const shown = ({ id, lastFour }: typeof first) => `${id}  ask_live_…${lastFour}  client`;
    expect(cells.slice(at, at + 2)).toEqual([
      `test  ${shown(first)}  ${first.quotaId}  pro  300  10000  active  -  -  -`,
      `└ test  ${shown(further)}  active  -  -`,
    ]);
  });

  it('warn on standard error of a limit per minute that is above that per day', async () => {
    const warned = {
      code: 0,
      stdout: expect.not.stringContaining('Warning'),
      stderr: expect.stringMatching(/^Warning: The limit per minute is above that per day.*\n$/),
    };
    const limits = '--per-minute 60 --per-day 10';
    expect(await called(`keys issue --name x --plan enterprise ${limits}`)).toMatchObject(warned);
    expect(await called(`plans set narrow ${limits}`)).toMatchObject(warned);
    const { quotaId } = await issue();
    expect(await called(`quotas update ${quotaId} --plan narrow`)).toMatchObject(warned);
    const { warnings } = await readJson(`quotas show ${quotaId}`);
    expect(warnings).toHaveLength(1);
    await succeed('quotas', 'update', quotaId, '--plan', 'free');
  });

  it('issue a key that expires a duration from now', async () => {
    const startMs = Date.now();
    const { expiresAt } = await issue('--plan free --expires 30d');
    const fromMs = Date.parse(expiresAt) - 30 * DAY_MS;
    expect([startMs <= fromMs, fromMs <= Date.now()]).toEqual([true, true]);
  });

  it('issue a key that expires at the end of a day in UTC', async () => {
    const { id, expiresAt } = await issue('--plan free --expires 2999-01-31');
    expect(expiresAt).toBe('2999-01-31T23:59:59.999Z');
    const successor = await readJson(`keys rotate ${id} --expires 2998-12-31`);
    expect(successor.expiresAt).toBe('2998-12-31T23:59:59.999Z');
    const list = async (before: string) =>
      (await readJson(`keys list --quota ${successor.quotaId} --expires-before ${before}`)).length;
    expect([await list('2998-12-31'), await list('2999-01-01')]).toEqual([1, 2]);
  });

  it('suspend and resume a key, and show since when it is suspended', async () => {
    const { id } = await issue();
    const suspended = await readJson(`keys suspend ${id}`);
    expect(suspended).toMatchObject({ id, state: 'suspended', suspendedAt: expect.any(String) });
    const repeated = await succeed('keys', 'suspend', id);
    expect(repeated).toMatch(
      new RegExp(`^suspended +${suspended.suspendedAt}\n[^]*The key was suspended already.\n$`, 'm'),
    );
    expect((await readJson('keys list --state suspended')).map((key: { id: string }) => key.id)).toEqual([
      id,
    ]);
    expect(await readJson(`keys resume ${id}`)).toMatchObject({ state: 'active', suspendedAt: null });
    const audit = await readJson(`audit list --key ${id}`);
    expect(audit.map(({ action }: { action: string }) => action)).toEqual([
      'key.resumed',
      'key.suspended',
      'key.issued',
    ]);
    expect(await succeed('keys', 'suspend', id)).toMatch(/\nThe key is suspended\.\n$/);
    expect(await succeed('keys', 'resume', id)).toMatch(/\nThe key is no longer suspended\.\n$/);
    expect(await succeed('keys', 'resume', id)).toMatch(/\nThe key was not suspended\.\n$/);
    await readJson(`keys revoke ${id}`);
    for (const [command, end] of [
      ['suspend', 'suspended'],
      ['resume', 'resumed'],
    ] as const) {
      expectFailure(
        await unchanged(() => admin('keys', command, id)),
        `The key is revoked, so it cannot be ${end}.`,
      );
    }
  });

  it('issue, list and show keys with the external id of their customer', async () => {
    const { id, quotaId } = await issue('--plan free --external-id customer-7');
    await issue();
    const listed = await readJson('keys list --external-id customer-7');
    expect(listed).toEqual([expect.objectContaining({ id, externalId: 'customer-7' })]);
    expect(await succeed('keys', 'show', id)).toMatch(/^external id +customer-7$/m);
    expect(await succeed('quotas', 'show', quotaId)).toMatch(/^external id +customer-7$/m);
    expect(await succeed('keys', 'list', '--external-id', 'customer-7')).toMatch(
      / EXTERNAL ID .*\n.* customer-7 /,
    );
    const renamed = await readJson(`quotas update ${quotaId} --external-id customer-8`);
    expect(renamed).toMatchObject({ externalId: 'customer-8', plan: 'free', limitsSource: 'plan' });
    expect(await readJson('usage totals --external-id customer-8')).toStrictEqual([]);
    expect(await readJson('usage list --external-id customer-8')).toStrictEqual([]);
    expect(await readJson(`quotas update ${quotaId} --no-external-id`)).toMatchObject({ externalId: null });
    expect(await readJson('keys list --external-id customer-8')).toStrictEqual([]);
  });

  it('revoke a key, and show it afterwards', async () => {
    const { id, key } = await issue();
    expect(await succeed('keys', 'revoke', id)).toMatch(/\nThe key is revoked\.\n$/);
    const revoked = await readJson(`keys revoke ${id}`);
    expect(revoked).toMatchObject({ id, state: 'revoked', revokedAt: expect.any(String) });
    const again = await succeed('keys', 'revoke', id);
    expect(again).toMatch(
      new RegExp(`^revoked +${revoked.revokedAt}\n[^]*The key was revoked already.\n$`, 'm'),
    );
    expect(await succeed('audit', 'list', '--key', id)).not.toMatch(/→ null|: null(,|$)/m);
    const audit = await readJson(`audit list --key ${id}`);
    expect(audit.map(({ action }: { action: string }) => action)).toEqual(['key.revoked', 'key.issued']);
    expectNoSecrets(JSON.stringify(audit), [key]);
  });
});

describe('the commands of quotas', () => {
  it('show and update a quota, keep what is not given, and lift its ban', async () => {
    const { quotaId: id } = await issue();
    const shown = await readJson(`quotas show ${id.slice(-8)}`);
    expect(shown).toMatchObject({
      id,
      plan: 'free',
      limitsSource: 'plan',
      validKeyCount: 1,
      bannedUntil: null,
    });
    expect(await readJson(`quotas update ${id} --plan pro`)).toMatchObject({ plan: 'pro', perMinute: 300 });
    const own = await succeed(
      ...`quotas update ${id} --plan enterprise --per-minute 5000 --per-day 1000000`.split(' '),
    );
    expect(own).toMatch(/^plan +enterprise, 5000 requests per minute, 1000000 per day \(its own\)$/m);
    expect(await readJson(`quotas update ${id} --plan free`)).toMatchObject({
      plan: 'free',
      perDay: 1_000_000,
    });
    expect(await readJson(`quotas update ${id} --no-limits`)).toEqual(shown);
    await ban(database, { quotaId: id }, new Date(Date.now() + DAY_MS));
    expect(await succeed('quotas', 'show', id)).toMatch(/^banned until +\S+Z$/m);
    expect(await succeed('quotas', 'unban', id)).toMatch(/\nIts ban until \S+Z has ended\.\n$/);
    expect(await readJson(`quotas unban ${id}`)).toEqual(shown);
    expect(await succeed('quotas', 'unban', id)).toMatch(/\nIt was not banned\.\n$/);
    expectFailure(await called(`quotas show ${NOBODY}`), `There is no quota with the id "${NOBODY}".`);
  });

  it('show the windows and the ban of a quota', async () => {
    const { quotaId: id } = await issue('--plan pro');
    expect(await readJson(`quotas rate-limit ${id}`)).toMatchObject({
      plan: 'pro',
      windows: [{ remaining: 300 }, { remaining: 10_000 }],
    });
    const table = await succeed('quotas', 'rate-limit', id);
    expect(table).toMatch(/^this minute +300 of 300 requests remain until \S+:00\.000Z$/m);
    expect(table).toMatch(/^banned until +-$/m);
  });
});

describe('animal-store quotas what-if', () => {
  it('shows what a plan or two limits would have denied, and the smallest plans', async () => {
    const { id, quotaId } = await issue('--plan pro');
    await database.query(
      `INSERT INTO usage VALUES ($1, $2, 'minute', date_trunc('minute', now()), 'listPets', false, 70, ` +
        '0, 0, 0, 0, now())',
      [id, quotaId],
    );
    expect(await readJson(`quotas what-if ${quotaId} --plan free`)).toMatchObject({
      perMinute: 60,
      requests: 70,
      denied: 10,
      smallestPlans: [
        { maxDeniedRatio: 0, plan: 'pro' },
        { maxDeniedRatio: 0.001, plan: 'pro' },
      ],
    });
    const lines = await succeed(...`quotas what-if ${quotaId} --plan free --per-day 40`.split(' '));
    expect(lines).toMatch(/^tried +60 requests per minute, 40 per day$/m);
    expect(lines).toMatch(/^would be denied +30, in 1 minute, on 1 day$/m);
    expect(lines).toMatch(/^worst minute +\S+:00\.000Z, 30 of 70$/m);
    expect(lines).toMatch(/^smallest plan that denies no request +pro$/m);
    expect(lines).toMatch(/^smallest plan that denies at most 0\.1 % +pro$/m);
  });

  it('fails unless a plan with limits or both limits are given', async () => {
    const { quotaId } = await issue();
    const plans = (await json('plans', 'list')) as { name: string; perDay: number | null }[];
    const limited = plans.flatMap(({ name, perDay }) => (perDay === null ? [] : [{ name, perDay }]));
    const names = limited.toSorted((a, b) => a.perDay - b.perDay).map(({ name }) => name);
    for (const options of ['--plan enterprise', '--plan gold --per-day 5']) {
      expectFailure(
        await called(`quotas what-if ${quotaId} ${options}`.trim()),
        `The request is invalid: give a plan with limits (${names.join(', ')}), or those per minute ` +
          'and per day.',
      );
    }
  });
});

describe('animal-store keys update', () => {
  it('sets the name and the note, keeps what is not given, and removes the note', async () => {
    const { id } = await issue('--plan free --note first');
    for (const [options, expected] of [
      ['--name Ann', { name: 'Ann', note: 'first' }],
      ['--note second', { name: 'Ann', note: 'second' }],
      ['--no-note', { name: 'Ann', note: null }],
    ] as const) {
      expect(await readJson(`keys update ${id} ${options}`)).toMatchObject(expected);
    }
    const [, event] = rows(await succeed('audit', 'list', '--limit', '1'));
    expect(event?.at(-1)).toBe('note: second → null');
  });

  it('say that the limits are set for each quota if a quota of such a plan has none', async () => {
    const { quotaId: id } = await issue();
    await database.query("UPDATE quotas SET plan = 'enterprise' WHERE id = $1", [id]);
    expect(await succeed('quotas', 'show', id)).toMatch(/^plan +enterprise, limits set for each quota$/m);
  });
});

describe('animal-store quotas erase', () => {
  it('revokes the keys of a quota, removes the name and the note, and shows what is left', async () => {
    const { id, quotaId } = await issue('--plan free --note secret --external-id erased-7');
    await succeed('quotas', 'update', quotaId, '--external-id', 'erased-8');
    const erased = await succeed('quotas', 'erase', 'erased-8', '--yes');
    expect(erased).toMatch(/^valid keys +0\n[^]*^Its customer was erased\.\n$/m);
    expect(erased).not.toContain('erased-');
    expect(await succeed('quotas', 'erase', quotaId, '--yes')).toMatch(
      /^Its customer was erased already\.$/m,
    );
    const [, ...events] = rows(await succeed('audit', 'list', '--quota', quotaId));
    expect(events.map((cells) => [cells[2], cells.at(-1)])).toEqual([
      ['quota.erased', 'revokedKeys: 1'],
      ['quota.updated', 'erased'],
    ]);
    expect(await readJson(`keys show ${id}`)).toMatchObject({ name: 'Erased', note: null, state: 'revoked' });
    expectFailure(await called(`quotas erase ${NOBODY}`), `There is no quota with the id "${NOBODY}".`);
  });
});

describe('the commands of plans', () => {
  it('list plans by name, create and change them', async () => {
    const created = {
      name: 'a-startup',
      perMinute: 120,
      perDay: 3000,
      maxKeyLifetimeDays: null,
      validKeyCount: 0,
      warnings: [],
    };
    expect(await readJson('plans set a-startup --per-minute 120 --per-day 3000')).toEqual(created);
    const kept = await readJson('plans set a-startup --per-day 3001');
    expect(kept).toEqual({ ...created, perDay: 3001 });
    const changed = await succeed('plans', 'set', 'a-startup', '--per-minute', '121');
    const [head, row] = [
      ['PLAN', 'PER MINUTE', 'PER DAY', 'VALID KEYS'],
      ['a-startup', '121', '3001', '0'],
    ];
    expect(rows(changed)).toEqual([head, row]);
    const listed = (await json('plans', 'list')) as { warnings: unknown }[];
    expect(listed.map(({ warnings: _warnings, ...plan }) => plan)).toEqual(
      await database.query(
        `SELECT
           plans.name, plans.per_minute AS "perMinute", plans.per_day AS "perDay",
           max_key_lifetime_days AS "maxKeyLifetimeDays", count(k.id)::int AS "validKeyCount"
         FROM
           plans LEFT JOIN quotas q ON plan = plans.name
           LEFT JOIN api_keys k ON k.quota_id = q.id AND revoked_at IS NULL AND suspended_at IS NULL
             AND coalesce(expires_at > now(), true)
         GROUP BY plans.name ORDER BY plans.name`,
      ),
    );
    const table = rows(await succeed('plans', 'list'));
    expect(table).toEqual(
      expect.arrayContaining([
        head,
        row,
        ['enterprise', 'set for each quota', 'set for each quota', expect.any(String)],
      ]),
    );
    const bounded = await succeed('plans', 'set', 'a-startup', '--max-key-lifetime-days', '90');
    expect(rows(bounded)).toEqual([
      [...head.slice(0, -1), 'KEY LIFETIME', ...head.slice(-1)],
      [...row.slice(0, -1), '90 days', ...row.slice(-1)],
    ]);
    expect(await readJson('plans set a-startup --no-max-key-lifetime-days')).toEqual({
      ...kept,
      perMinute: 121,
    });
  });
});

describe('animal-store audit list', () => {
  it('shows the newest entries first, 20 by default, by the system user or that of --as', async () => {
    await readJson('plans set audited --per-minute 1 --per-day 2');
    await readJson('plans set audited --per-minute 1 --per-day 3');
    await database.query(
      `INSERT INTO audit_events (actor, action, subject, after) SELECT 'service', 'plan.updated', ` +
        "'plan:free', '{}' FROM generate_series(1, 19)",
    );
    const shown = await json('audit', 'list');
    expect(shown).toHaveLength(20);
    expect(shown.at(-1)).toEqual({
      id: expect.stringMatching(/^\d+$/),
      createdAt: expect.any(String),
      actor: { type: 'terminal', id: null, name: userInfo().username, prefix: null, lastFour: null },
      action: 'plan.updated',
      subject: { type: 'plan', id: 'audited', name: 'audited', prefix: null, lastFour: null },
      before: { perMinute: 1, perDay: 2 },
      after: { perMinute: 1, perDay: 3 },
    });
    expect(rows(await succeed('audit', 'list', '--limit', '21')).at(-1)).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      `terminal ${userInfo().username}`,
      'plan.created',
      'plan audited',
      'perDay: 2, perMinute: 1',
    ]);
    const since = `--since ${shown.at(-1).createdAt}`;
    const filters = `--action plan.updated --actor-name ${userInfo().username} ${since}`;
    expect(await readJson(`audit list ${filters}`)).toEqual([shown.at(-1)]);
    expect(await readJson(`audit list ${filters} --actor-type service`)).toStrictEqual([]);
    expect(await readJson(`audit list ${filters} --until ${shown.at(-1).createdAt}`)).toStrictEqual([]);
    const { id } = await issue('--plan free --as Ann');
    expect(await readJson(`audit list --key ${id.slice(-8)}`)).toMatchObject([{ actor: { name: 'Ann' } }]);
    expect(await readJson(`audit list --actor-key ${id.slice(-8)}`)).toStrictEqual([]);
    const stored = await database.query('SELECT FROM audit_events');
    expect(await readJson('audit list --limit 2147483647')).toHaveLength(stored.length);
  });
});

describe('keys rotate', () => {
  it('prints the successor, and until when the old key works: 24 hours, or the given overlap', async () => {
    expect(await succeed('keys', 'rotate', '--help')).toMatch(/--overlap <duration>[^]*\(default: 24h\)/);
    const start = Date.now();
    const old = await issue();
    const rotated = await succeed('keys', 'rotate', old.id);
    expect(rotated).toMatch(/^key +ask_live_\w{38}$/m);
    expect(rotated).toMatch(new RegExp(`^succeeds +${old.id}$`, 'm'));
    const { expiresAt, successorId } = await json('keys', 'show', old.id);
    expect(rotated).toMatch(new RegExp(`\\nThe old key works until ${expiresAt}\\.\\n$`));
    const overlapMs = Date.parse(expiresAt) - start;
    expect(Math.abs(overlapMs - DAY_MS)).toBeLessThan(60_000);

    const again = await succeed('keys', 'rotate', successorId, '--overlap', '0');
    expect(again).toMatch(/\nThe old key no longer works\.\n$/);
    expect(await succeed('keys', 'show', successorId)).toMatch(/^state +expired$/m);
    expectFailure(
      await unchanged(() => admin('keys', 'rotate', old.id)),
      `The key was rotated already. Rotate its successor ${successorId}.`,
    );
  });
});

describe('animal-store usage', () => {
  let id: string;

  beforeAll(async () => {
    const ann = await readJson('keys issue --name Ann --plan free');
    const bob = await readJson('keys issue --name Bob --plan free');
    ({ id } = ann);
    await database.query(
      `INSERT INTO usage
       VALUES ($1, $2, 'day', '2027-03-05', 'listPets', false, 5, 0, 2, 0, 1, '2027-03-05T12:00Z'),
         ($1, $2, 'day', '2027-03-04', 'getPet', true, 1, 0, 0, 0, 0, '2027-03-04T12:00Z'),
         ($3, $4, 'day', '2027-03-05', 'listPets', false, 9, 0, 0, 0, 0, '2027-03-05T12:00Z'),
         ($1, $2, 'day', date_trunc('day', now()), 'listPets', false, 3, 0, 0, 0, 0, now())`,
      [id, ann.quotaId, bob.id, bob.quotaId],
    );
  });

  /** The time of all usage but the recent one. */
  const RANGE = '--since 2027-03-04T00:00:00Z --until 2027-03-06T00:00:00Z';
  const table = async (command: string) => rows(await succeed(...command.split(' ')));

  it('shows the names of keys before their ids', async () => {
    const [head, ...entries] = await table(`usage list --key ${id} --days 1`);
    expect(head?.slice(0, 6)).toEqual(['FROM', 'NAME', 'KEY', 'OPERATION', 'DEPRECATED', 'REQUESTS']);
    expect(entries.at(-1)?.slice(1, 6)).toEqual(['Ann', id, 'listPets', '-', '3']);
  });

  it('list shows the last seven days, or the range, of all keys or one', async () => {
    const key = await issue();
    await database.query(
      `INSERT INTO usage
       SELECT $1, $2, 'day', date_trunc('day', now(), 'UTC') - ago * interval '1 day', 'listPets', false,
         ago + 1, 0, 0, 0, 0, now()
       FROM unnest('{0,6,7}'::int[]) AS ago`,
      [key.id, key.quotaId],
    );
    const requests = async (options: string) => {
      const usage = await readJson(`usage list --key ${key.id} ${options}`.trim());
      return usage.map((entry: { requests: number }) => entry.requests);
    };
    expect(await requests('')).toEqual([1, 7]);
    expect(await requests('--days 8')).toEqual([1, 7, 8]);
    const today = new Date().toISOString().slice(0, 10);
    expect(await requests(`--until ${today}T00:00:00Z`)).toEqual([7, 8]);
    expect(await requests('--since 2026-01-01T00:00:00Z')).toEqual([1, 7, 8]);
    expect(await readJson(`usage list ${RANGE}`)).toHaveLength(3);
  });

  it('totals shows the totals of each period, newest first, of all keys or one', async () => {
    expect(await table(`usage totals ${RANGE}`)).toEqual([
      ['FROM', 'REQUESTS', '2XX', '3XX', '4XX', '5XX', 'DENIED'],
      ['2027-03-05T00:00:00Z', '16', '14', '0', '2', '0', '1'],
      ['2027-03-04T00:00:00Z', '1', '1', '0', '0', '0', '0'],
    ]);
    const ofKey = await readJson(`usage totals ${RANGE} --limit 1 --key ${id.slice(-8)}`);
    expect(ofKey).toMatchObject([{ startsAt: '2027-03-05T00:00:00.000Z', requests: 7, denied: 1 }]);
    expect(await succeed('usage', 'totals', '--period', 'hour')).toBe('None.\n');
  });

  it('top shows the keys with the most requests, by name', async () => {
    const shown = await table(`usage top ${RANGE}`);
    const callers = ['NAME PLAN REQUESTS', 'Bob free 9', 'Ann free 8'];
    expect(shown.map(([name, , plan, requests]) => `${name} ${plan} ${requests}`)).toEqual(callers);
    expect(await readJson(`usage top ${RANGE} --limit 1`)).toMatchObject([{ keyName: 'Bob' }]);
    const quotas = await readJson(`usage top ${RANGE} --by quota`);
    expect(quotas).toMatchObject([
      { keyId: null, requests: 9 },
      { keyId: null, requests: 8 },
    ]);
    const [head, first] = await table(`usage top ${RANGE} --by quota`);
    expect(head?.slice(0, 3)).toEqual(['QUOTA', 'PLAN', 'REQUESTS']);
    expect(first?.slice(0, 3)).toEqual([quotas[0].quotaId, 'free', '9']);
  });

  it('operations shows the requests for each operation', async () => {
    const shown = await table(`usage operations ${RANGE}`);
    expect(shown.map((row) => row.slice(0, 3))).toEqual([
      ['OPERATION', 'DEPRECATED', 'REQUESTS'],
      ['listPets', '-', '16'],
      ['getPet', 'yes', '1'],
    ]);
    const ofKey = await readJson(`usage operations ${RANGE} --key ${id}`);
    expect(ofKey).toMatchObject([{ requests: 7 }, { requests: 1 }]);
  });

  it.each([
    [`list ${RANGE}`, 'startsAt,keyId,quotaId,externalId,operation,deprecated', ',lastRequestAt'],
    [`totals ${RANGE}`, 'startsAt', ''],
    [`top ${RANGE}`, 'keyId,keyName,prefix,lastFour,quotaId,externalId,plan', ',lastRequestAt'],
    [`operations ${RANGE}`, 'operation,deprecated', ',lastRequestAt'],
  ])('prints the entries of %s as CSV', async (report, first, last) => {
    const entries = await readJson(`usage ${report}`);
    const [header, ...lines] = (await succeed(...`usage ${report} --csv`.split(' '))).split('\r\n');
    expect(header).toBe(`${first},requests,denied,2xx,3xx,4xx,5xx${last}`);
    expect(entries.length).toBeGreaterThan(1);
    expect(lines).toEqual([
      ...entries.map(({ statuses, ...fields }: { statuses: Record<string, number> }) => {
        const cells: Record<string, string | number | null> = { ...fields, ...statuses };
        return header!
          .split(',')
          .map((name) => String(cells[name] ?? ''))
          .join(',');
      }),
      '',
    ]);
  });

  it('fails for an unknown key and a range that is none', async () => {
    expectFailure(await called('usage operations --key nobody'), 'There is no key with the id "nobody".');
    for (const list of ['usage top', 'requests list']) {
      expectFailure(
        await called(`${list} --since 2027-03-05 --until 2027-03-05`),
        'error: --since must be before --until.',
      );
    }
    expect(await readJson('audit list --since 2027-03-05 --until 2027-03-04')).toStrictEqual([]);
  });
});

describe('animal-store deprecations list', () => {
  it('lists the keys that called a deprecated operation', async () => {
    const { id, quotaId } = await issue();
    await database.query(
      `INSERT INTO usage VALUES ($1, $2, 'day', date_trunc('day', now()), 'getPet', true, 3, 0, 0, 0, ` +
        '0, now())',
      [id, quotaId],
    );
    expect(await readJson('deprecations list')).toContainEqual(
      expect.objectContaining({ keyId: id, requests: 3 }),
    );
    const [head] = rows(await succeed('deprecations', 'list'));
    expect(head?.slice(-2)).toEqual(['REQUESTS', 'LAST']);
  });
});

describe('the id of a key', () => {
  it('is accepted by its end, with and without an ellipsis', async () => {
    const { id, quotaId } = await issue();
    const end = id.slice(-8);
    for (const given of [end, `…${end}`, id.slice(-12).toUpperCase()]) {
      expect(await readJson(`keys show ${given}`)).toMatchObject({ id });
    }
    expect(await readJson(`usage list --key ${end}`)).toStrictEqual([]);
    for (const [command, expected] of [
      [`keys update ${end} --name Ann`, { id, name: 'Ann' }],
      [`keys rotate ${end}`, { predecessorId: id }],
      [`quotas unban ${quotaId.slice(-8)}`, { id: quotaId }],
      [`keys revoke ${end}`, { id, state: 'revoked' }],
    ] as const) {
      expect(await readJson(command)).toMatchObject(expected);
    }
  });

  it('is accepted as the last four characters of the key, as a table shows them', async () => {
    const { id, key } = await issue();
    const { id: otherId } = await issue();
    await database.query("UPDATE api_keys SET last_four = 'Zz9x' WHERE id = $1", [id]);
    for (const given of ['Zz9x', '…Zz9x', `${key.slice(0, 9)}…Zz9x`]) {
      expect(await readJson(`keys show ${given}`)).toMatchObject({ id });
    }
    expect(await readJson('usage list --key Zz9x')).toStrictEqual([]);
    expect(await readJson('keys show zz9X')).toMatchObject({ id });
    expectFailure(
      await unchanged(() => admin('keys', 'revoke', 'zz9X')),
      'There is no key with the id "zz9X".',
    );
    await database.query("UPDATE api_keys SET last_four = 'zz9x' WHERE id = $1", [otherId]);
    expect(await readJson('keys show zz9x')).toMatchObject({ id: otherId });
    expect((await admin('keys', 'show', 'ZZ9X')).stderr).toContain('Several keys end with "ZZ9X":');
    await database.query("UPDATE api_keys SET last_four = 'Zz9x' WHERE id = $1", [otherId]);
    const { stderr } = await unchanged(() => admin('keys', 'revoke', 'Zz9x'));
    expect(stderr).toContain('Several keys end with "Zz9x":');
    expect(stderr).toContain(`${id} "test" (quota `);
    expect(stderr).toContain(`${otherId} "test" (quota `);
    await database.query("UPDATE api_keys SET last_four = 'Zz9y' WHERE id = $1", [otherId]);
    await database.query("UPDATE api_keys SET id = (left(id::text, 32) || 'beef')::uuid WHERE id = $1", [id]);
    await database.query("UPDATE api_keys SET last_four = 'beef' WHERE id = $1", [otherId]);
    expect((await admin('keys', 'show', 'beef')).stderr).toContain('Several keys end with "beef":');
    await database.query('DELETE FROM api_keys WHERE last_four = ANY ($1)', [['Zz9x', 'beef']]);
  });

  it('is rejected when several keys have this end, and nothing is done', async () => {
    const keys = [await issue(), await issue()];
    const ids = keys.map(({ id }) => id);
    const twins = ids.map((id) => `${id.slice(0, 24)}aaaaaaaaaaaa`);
    await database.query(
      "UPDATE api_keys SET id = (left(id::text, 24) || 'aaaaaaaaaaaa')::uuid WHERE id = ANY ($1)",
      [ids],
    );
    expectFailure(
      await unchanged(() => admin('keys', 'revoke', 'aaaaaaaa')),
      `Several keys end with "aaaaaaaa": ${twins
        .map((id, index) => `${id} "test" (quota ${keys[index]!.quotaId})`)
        .toSorted()
        .join(', ')}. Give the id.`,
    );
    expectFailure(await admin('keys', 'revoke', 'beefbeef'), 'There is no key with the id "beefbeef".');
    await database.query('DELETE FROM api_keys WHERE id = ANY ($1)', [twins]);
  });
});

describe('the id of a quota', () => {
  it('is accepted by its end, as its external id, and by the id, end or last four of a key', async () => {
    const { id, quotaId, lastFour } = await issue('--plan free --external-id Cust-77');
    for (const given of [quotaId.slice(-8), 'Cust-77', id, id.slice(-8), lastFour, `…${lastFour}`]) {
      expect([given, await readJson(`quotas show ${given}`)]).toMatchObject([given, { id: quotaId }]);
    }
    expect(await readJson('keys list --quota Cust-77')).toMatchObject([{ id }]);
    expect(await readJson('audit list --quota Cust-77')).toStrictEqual([]);
    expect(await readJson('quotas unban Cust-77')).toMatchObject({ id: quotaId });
    expectFailure(
      await called('quotas show cust-77'),
      'There is no quota with the id, external id or key "cust-77".',
    );
  });

  it('is a key that several keys of one quota share an end with', async () => {
    const { id, quotaId } = await issue();
    const { id: further } = await issue(`--quota ${quotaId}`);
    await database.query("UPDATE api_keys SET last_four = 'Qq7z' WHERE id = ANY ($1)", [[id, further]]);
    expect(await readJson('quotas show Qq7z')).toMatchObject({ id: quotaId });
  });

  it('is rejected with the candidates when the text fits several quotas', async () => {
    const first = await issue('--plan free --external-id twin');
    const second = await issue('--plan free --external-id twin');
    expectFailure(
      await unchanged(() => called('quotas erase twin --yes')),
      `Several quotas fit "twin": ${first.quotaId} "twin", ${second.quotaId} "twin". Give the id.`,
    );
    // The number of one customer may be the end of another quota's id.
    const end = first.quotaId.slice(-4);
    const third = await issue(`--plan free --external-id ${end}`);
    const { stderr } = await unchanged(() => called(`quotas unban ${end}`));
    expect(stderr).toContain(`Several quotas fit "${end}": `);
    expect(stderr).toContain(`${third.quotaId} "${end}"`);
    expect(await readJson(`quotas show ${first.quotaId}`)).toMatchObject({ id: first.quotaId });
  });

  it('is needed whole, or as the external id, to erase: again, it erases no other quota', async () => {
    const [other, { quotaId }] = [await issue(), await issue()];
    const end = other.quotaId.slice(-8);
    await succeed('quotas', 'update', quotaId, '--external-id', end);
    expect(await readJson(`quotas erase ${end} --yes`)).toMatchObject({ id: quotaId, externalId: null });
    for (const text of [end, `…${end}`, other.id.slice(-8), other.lastFour]) {
      expectFailure(
        await unchanged(() => called(`quotas erase ${text} --yes`)),
        `There is no quota with the whole id or external id "${text}".`,
      );
    }
    expectFailure(
      await called(`quotas erase ${other.id} --yes`),
      `There is no quota with the id "${other.id}".`,
    );
    expect(await succeed('quotas', 'erase', quotaId.toUpperCase())).toContain('was erased already.');
    expect(await readJson(`keys show ${other.id}`)).toMatchObject({ state: 'active' });
  });
});

describe('animal-store on a terminal', () => {
  const COLUMNS = 80;

  /** Returns what a command prints there, line by line, when this is typed at its prompt. */
  async function typed(input: string, ...args: string[]): Promise<{ code: number | null; lines: string[] }> {
    const process = new ServiceProcess('cli/admin.js', settings(), args, { columns: COLUMNS, input });
    const { code, stdout } = await process.ended;
    return { code, lines: stdout.trimEnd().split('\r\n') };
  }

  it('prints tables with the endings of ids, by which commands find keys', async () => {
    const { id } = await issue('--plan pro --as Ann');
    for (const command of ['keys list --search test', 'audit list --actor-name Ann --limit 1']) {
      const { code, lines } = await typed('', ...command.split(' '));
      expect(code).toBe(0);
      expect(lines.join('\n')).toContain(`…${id.slice(-8)}`);
      expect(lines.join('\n')).not.toContain(id);
    }
  });

  it('prompts before it revokes a key or changes a plan, and changes nothing without a yes', async () => {
    const { id, quotaId, key } = await issue();
    const { id: rotatedId, key: rotated } = await issue();
    await succeed('keys', 'rotate', rotatedId);
    await succeed('keys', 'revoke', rotatedId, '--yes');
    await succeed('plans', 'set', 'asked', '--per-minute', '1', '--per-day', '2');
    const all = 'its successors and what was issued by them immediately and permanently? [y/N]';
    for (const [command, prompt] of [
      [`keys revoke ${id}`, `Revoke key "test" (${id}) immediately and permanently? [y/N]`],
      [`keys revoke --leaked-key ${key}`, `Revoke key "test" (${id}), ${all}`],
      [`keys revoke --leaked-key ${rotated}`, `Revoke key "test" (${rotatedId}), ${all}`],
      [
        `quotas update ${quotaId} --plan pro --no-limits`,
        `Change quota ${quotaId} from plan free, 60 requests per minute, 1000 per day, to plan pro, the ` +
          'limits of the plan? [y/N]',
      ],
      [
        'plans set asked --per-minute 3 --per-day 4',
        'Change plan asked from 1 requests per minute, 2 per day, to 3 requests per minute, 4 per day, ' +
          'for all its keys? [y/N]',
      ],
    ] as const) {
      const { code, lines } = await unchanged(() => typed('n', ...command.split(' ')));
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(lines.join('').replaceAll(/\s+/g, ' ')).toContain(prompt);
      expect(lines.at(-1)).toBe('Nothing was changed.');
    }
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-C after a yes', 'yes\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('changes nothing, and reports that, on %s at a prompt', async (_name, input) => {
    const { id } = await issue();
    const { code, lines } = await unchanged(() => typed(input, 'keys', 'revoke', id));
    expect([code, lines.at(-1)]).toEqual([1, 'Nothing was changed.']);
    // The prompt may take two lines.
    expect(lines.length).toBeLessThanOrEqual(3);
  });

  it('proceeds after a yes, and without a prompt with --yes or when nothing is lost', async () => {
    const { id, quotaId } = await issue();
    for (const [input, command, isPrompted] of [
      ['n', `quotas update ${quotaId} --plan pro --yes`, false],
      ['y', `keys revoke ${id}`, true],
      ['n', 'plans set unasked --per-minute 1 --per-day 2', false],
    ] as const) {
      const { code, lines } = await typed(input, ...command.split(' '));
      expect([command, code, lines.join('').includes('[y/N]')]).toEqual([command, 0, isPrompted]);
    }
    expect(await readJson(`keys show ${id}`)).toMatchObject({ plan: 'pro', state: 'revoked' });
    expect(await readJson('plans list')).toContainEqual({
      name: 'unasked',
      perMinute: 1,
      perDay: 2,
      maxKeyLifetimeDays: null,
      validKeyCount: 0,
      warnings: [],
    });
  });
});

describe('control characters', () => {
  const HOSTILE = 'a\u001b[2Jb\u0007\r\nc\td\u009b31m\u007f\u202ee';
  const ESCAPED = String.raw`a\u001b[2Jb\u0007\u000d\u000ac\u0009d\u009b31m\u007f\u202ee`;
  const CONTROL = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;

  it('are escaped in tables, details and errors, and a line stays one line', async () => {
    // Validation rejects such names; another program or an older version may have written them.
    const { id } = await issue();
    await database.query('UPDATE api_keys SET name = $1 WHERE id = $2', [HOSTILE, id]);
    await database.query('INSERT INTO audit_events (actor, action, subject, after) VALUES ($1, $1, $1, $2)', [
      HOSTILE,
      { name: HOSTILE },
    ]);
    const list = await succeed('keys', 'list', '--sort', '-createdAt');
    const noKey = (await admin('keys', 'show', HOSTILE)).stderr;
    for (const text of [
      list,
      await succeed('keys', 'show', id),
      await succeed('audit', 'list', '--limit', '1'),
      (await admin('keys', HOSTILE.replaceAll('\n', ''))).stderr,
      noKey,
    ]) {
      expect(text).not.toMatch(CONTROL);
      expect(text).toContain(String.raw`a\u001b[2Jb\u0007\u000d`);
    }
    expect(rows(list)[1]?.[0]).toBe(ESCAPED);
    expect(noKey).toBe(`There is no key with the id "${ESCAPED}".\n`);
    expect((await json('keys', 'show', id)).name).toBe(HOSTILE);
  });
});

describe('a command', () => {
  it('is a process that exits with code 0 on success, 1 on failure, and 2 on wrong usage', async () => {
    const process = (...args: string[]) => run('cli/admin.js', settings(), ...args);
    const [listed, failed, wrong] = await Promise.all([
      process('plans', 'list', '--json'),
      process('keys', 'show', NOBODY),
      process('keys', 'burn'),
    ]);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(listed.stdout)).toEqual(await json('plans', 'list'));
    expectFailure(failed, `There is no key with the id "${NOBODY}".`);
    expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: "error: unknown command 'burn'\n" });
  });

  const ISSUE = 'keys issue --name x --plan free';
  const NUMBER = 'It must be a whole number from 1 to 2147483647.';

  it.each([
    ['keys', 'Usage: animal-store keys'],

    ['keys issue --plan free', "required option '--name <name>' not specified"],

    ['keys issue --name= --plan free', 'It must not be blank.'],
    [`${ISSUE} --per-minute 0 --per-day 5`, NUMBER],

    [`${ISSUE} --per-minute 5`, '--per-minute and --per-day go together'],
    [`quotas what-if ${NOBODY}`, 'add --plan, or --per-minute and --per-day'],
    [`quotas what-if ${NOBODY} --per-day 5`, 'add --plan, or --per-minute and --per-day'],
    [`quotas what-if ${NOBODY} --per-day 0`, 'It must be a whole number from 1 to 2147483647.'],
    [`${ISSUE} --role king`, 'Allowed choices are client, admin'],
    [
      `${ISSUE} --expires tomorrow`,
      'It must be a duration such as 30d, a date such as 2027-01-31, or a date-time',
    ],
    [`${ISSUE} --expires 2999-02-29`, 'It must be a day that exists.'],
    ['keys issue --nmae x --plan free', "error: unknown option '--nmae'\n(Did you mean --name?)\n"],
    ['keys issue --plan free --help-me', "error: unknown option '--help-me'"],
    [`${ISSUE} --external-id ${'x'.repeat(300)}`, `argument '${'x'.repeat(60)}…' is invalid`],
    ['keys show ', 'It must not be empty.'],
    ['requests show ', 'It must not be empty.'],
    ['keys list --quota=', 'It must not be empty.'],
    ['keys revoke -', 'to read the leaked key itself, give --leaked-key -'],
    [`${ISSUE} --external-id=`, 'It must not be blank.'],
    [`keys issue --name x --quota ${NOBODY} --external-id x`, 'cannot be used with option'],
    [
      'usage totals --since yesterday',
      'It must be a date such as 2027-01-31, or a date-time with its offset',
    ],
    ['usage totals --since 2999-02-29T00:00:00Z', 'It must be a day that exists.'],
    [`keys issue --name x`, 'give --plan or --quota'],
    [`${ISSUE} --quota ${NOBODY}`, 'cannot be used with option'],
    [`keys issue --name x --quota ${NOBODY} --per-minute 1 --per-day 1`, 'cannot be used with option'],
    [`${ISSUE} --colour red`, "unknown option '--colour'"],
    [`keys rotate ${NOBODY} --overlap soon`, 'It must be a duration such as 90s, 30m, 24h or 7d'],
    [`keys rotate ${NOBODY} --overlap 366d`, 'It must be at most 365 days'],
    ['keys rotate', "missing required argument 'id'"],
    [`keys show ${NOBODY} ${NOBODY}`, 'too many arguments'],
    [
      `quotas update ${NOBODY}`,
      'give --plan, --per-minute, --per-day, --no-limits, --external-id or --no-external-id',
    ],
    [`quotas update ${NOBODY} --per-day 0`, NUMBER],
    [`quotas update ${NOBODY} --no-limits --per-day 5`, '--no-limits cannot be used with'],
    ['plans set startup', 'give --per-minute, --per-day, '],
    ['audit list --limit 0', NUMBER],
    ['audit list --action key.lost', 'Allowed choices are key.issued'],
    ['keys list --sort age', 'Allowed choices are createdAt, -createdAt, name, -lastUsedAt, expiresAt'],
    [`keys update ${NOBODY}`, 'give --name, --note, --no-note, --scopes or --networks'],
    [`${ISSUE} --scopes pets:burn`, 'It must be one of pets:read'],
    [`${ISSUE} --scopes pets:burn`, ', with commas between, or "all", or "none".'],
    [`${ISSUE} --networks 10/8`, 'It must be a network such as'],
    ['usage', 'Usage: animal-store usage'],
    ['usage list --since 2027-01-01T00:00:00Z --days 7', 'cannot be used with option'],
    ['usage list --csv --json', 'cannot be used with option'],
    ['usage list --days 401', 'It must be a whole number from 1 to 400.'],
    ['keys revoke', 'give the id of a key, or --leaked-key'],
    ['probe', "missing required argument 'path'"],
    ['probe healthz', 'Allowed choices are livez, readyz'],
    ['probe livez readyz', 'too many arguments'],
    [`keys revoke ${NOBODY} --leaked-key x`, 'give the id of a key or --leaked-key, not both'],
  ])('exits with code 2 and the reason when it is called as %j', async (command, fault) => {
    const { code, stdout, stderr } = await called(command);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(fault);
  });

  it.each([
    [`${ISSUE} --expires 2020-01-01`, 'error: --expires must be in the future.'],
    ['plans set unlimited --per-minute 10', 'error: --per-day is required for a new plan.'],
  ])('exits with code 1 and names the option that the service rejects (%s)', async (command, fault) => {
    const { code, stdout, stderr } = await called(command);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(fault);
  });

  it('has help, with an example for options that belong together', async () => {
    const ofKeys = ['issue', 'list', 'show', 'update', 'rotate', 'revoke'].map((name) => `keys ${name}`);
    const ofQuotas = ['show', 'update', 'unban', 'rate-limit'].map((name) => `quotas ${name}`);
    const others = [
      'plans list',
      'plans set',
      'audit list',
      'audit',
      'keys',
      'quotas',
      'plans',
      'migrate',
      'probe',
    ];
    for (const command of [...ofKeys, ...ofQuotas, ...others]) {
      const help = await succeed(...command.split(' '), '--help');
      expect(help).toContain(`Usage: animal-store ${command} `);
      if (/keys issue$|quotas update$|plans set$/.test(command)) {
        expect(help).toMatch(new RegExp(`\\nExamples?:\\n {2}animal-store ${command}`));
      }
    }
    const checkout = /\n {2}npm run -s admin -- keys issue --name "Ann's shop" --plan pro\n/;
    expect(await succeed('--help')).toMatch(checkout);
  });

  it('prints on standard error that a setting with an earlier name should be renamed', async () => {
    const earlier = { ...settings(), USAGE_MINUTES_KEPT: '2d' };
    const { code, stdout, stderr } = await animalStore(earlier, 'plans', 'list', '--json');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'The setting USAGE_MINUTES_KEPT is now USAGE_MINUTE_RETENTION: rename it.\n',
    });
    expect(JSON.parse(stdout)).toEqual(await json('plans', 'list'));
  });

  it('prints what to do when no database runs, none responds, or it has no tables', async () => {
    expectFailure(
      await animalStore({ DATA_DIR: '/nonexistent/data' }, 'keys', 'list'),
      'No embedded database runs in /nonexistent/data: start the service first ("npm start"), or set ' +
        'DATABASE_URL.',
    );
    for (const unreachable of [
      await on({ url: NOWHERE }, 'plans', 'list'),
      await run('cli/admin.js', { DATABASE_URL: NOWHERE, APP_ENV: 'production' }, 'migrate'),
    ]) {
      expect(unreachable).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^The database cannot be used \(check DATABASE_URL\): .+\n$/),
      });
    }
    await withDatabase('template0', async (empty) => {
      for (const command of ['keys', 'plans']) {
        expect(await on(empty, command, 'list')).toMatchObject({
          code: 1,
          stdout: '',
          stderr: expect.stringMatching(
            /^The database lacks the tables of this version: run "npx prisma migrate deploy", or in a container "animal-store migrate"\. .+ does not exist.*\n$/,
          ),
        });
      }
    });
  });

  it('prints how to create plans when there are none', () =>
    withDatabase('template_store', async (unseeded) => {
      await unseeded.query('DELETE FROM plans');
      expectFailure(
        await on(unseeded, 'keys', 'issue', '--name', 'x', '--plan', 'pro'),
        'There are no plans yet: run "npx prisma db seed" first, or in a container "animal-store seed".',
      );
    }));
});

describe('animal-store --version', () => {
  it('prints the version of the release', async () => {
    expect(await succeed('--version')).toBe(`${about.info.version}\n`);
  });
});

describe('animal-store probe', () => {
  const hasIpv6 = networkInterfaces()['lo']?.some(({ address }) => address === '::1') === true;
  const probe = (service: Record<string, string>, word: string) =>
    run('cli/admin.js', service, 'probe', word);

  it('prints the response of the service, and exits with code 0 only if it is healthy', () =>
    withDatabase('template0', async (unmigrated) => {
      const service = new ServiceProcess('main.js', {
        ...settings(),
        DATABASE_URL: unmigrated.url,
        HOST: '127.0.0.2',
      });
      const { hostname: HOST, port: PORT } = new URL(await service.listening());
      const ended = { code: 0, stdout: '', stderr: '' };
      expect(await probe({ HOST, PORT }, 'livez')).toMatchObject({
        ...ended,
        stdout: '200 {"status":"ok"}\n',
      });
      const notReady = '503 {"code":"service_unavailable","message":"Not ready.","status":503}\n';
      expect(await probe({ HOST, PORT }, 'readyz')).toMatchObject({ ...ended, code: 1, stderr: notReady });
      expect(await on(unmigrated, 'migrate')).toMatchObject({ code: 0 });
      await eventually(async () =>
        expect(await probe({ HOST, PORT }, 'readyz')).toMatchObject({ code: 0, stderr: '' }),
      );
      await service.kill('SIGTERM');
      const reason = `http://${HOST}:${PORT}/livez does not respond: connect ECONNREFUSED ${HOST}:${PORT}\n`;
      expect(await probe({ HOST, PORT }, 'livez')).toMatchObject({ ...ended, code: 1, stderr: reason });
    }));

  it('finds a service that listens on all addresses', async () => {
    const service = new ServiceProcess('main.js', { ...settings(), HOST: '0.0.0.0' });
    const { port: PORT } = new URL(await service.ready());
    expect(await probe({ HOST: '0.0.0.0', PORT }, 'readyz')).toMatchObject({ code: 0 });
    expect(await probe({ HOST: '', PORT }, 'readyz')).toMatchObject({ code: 0 });
    await service.kill('SIGTERM');
  });

  it.each(['', 'localhost'])(
    'finds a service where it listens if HOST is "%s", without a proxy',
    async (HOST) => {
      const service = new ServiceProcess('main.js', { ...settings(), HOST });
      const { port: PORT } = new URL(await service.ready());
      const proxies = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: '' };
      const found = { code: 0, stdout: '200 {"status":"ok"}\n' };
      expect(await probe({ HOST, PORT, ...proxies }, 'readyz')).toMatchObject(found);
      await service.kill('SIGTERM');
    },
  );

  it('asks ::1 if HOST is localhost and nothing listens on 127.0.0.1', async () => {
    // A machine without IPv6 has no such service.
    const [host = '127.0.0.1'] = hasIpv6 ? ['::1'] : [];
    const service = new ServiceProcess('main.js', { ...settings(), HOST: host });
    const { port: PORT } = new URL(await service.ready());
    expect(await probe({ HOST: 'localhost', PORT }, 'readyz')).toMatchObject({ code: 0 });
    await service.kill('SIGTERM');
  });

  it('loads no package and no other command, because it runs every few seconds', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'animal-store-probe-'));
    await probe({ PORT: '1', NODE_V8_COVERAGE: folder }, 'livez');
    const [file = ''] = await readdir(folder);
    const { result } = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as {
      result: { url: string }[];
    };
    await rm(folder, { recursive: true });
    const loaded = result.map(({ url }) => url.split('/dist/')[1]).filter((name) => name !== undefined);
    expect(loaded.toSorted()).toEqual([
      'cli/admin.js',
      'cli/health-probe.js',
      'packages/rolldown-runtime.js',
      'process/settings/env-file.js',
      'process/settings/text-file.js',
    ]);
  });
});

describe('the commands migrate and seed', () => {
  it('bring an empty database up to date, and report it', () =>
    withDatabase('template0', async (empty) => {
      const pooled = { DATABASE_URL: NOWHERE, DIRECT_DATABASE_URL: empty.url, APP_ENV: 'production' };
      const applied = OWN_MIGRATIONS.map((name) => `Applied the migration ${name}.\n`);
      const upToDate = 'The database is up to date.\n';
      expect(await run('cli/admin.js', pooled, 'migrate')).toMatchObject({
        code: 0,
        stderr: '',
        stdout: applied.join('') + upToDate,
      });
      expect(await on(empty, 'migrate')).toMatchObject({ code: 0, stdout: upToDate, stderr: '' });
      expect(await on(empty, 'seed')).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringMatching(
          /^The plans exist\.\nThe administrator's key, shown this once: ask_live_/,
        ),
      });
    }));

  it('may run in ten pods at once: each succeeds, and one prints the key of the administrator', () =>
    withDatabase('template0', async (empty) => {
      const pods = await Promise.all(
        Array.from({ length: 10 }, async () => [await on(empty, 'migrate'), await on(empty, 'seed')]),
      );
      const ended = pods.flat();
      expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, '']));
      const output = ended.map(({ stdout }) => stdout).join('');
      expect(output.match(/Applied the migration/g)).toHaveLength(OWN_MIGRATIONS.length);
      expect(output.match(/ask_live_/g)).toHaveLength(1);
    }));

  it('report a failed migration in one line, now and later', () =>
    withDatabase('template_store', async (lacking) => {
      const exists =
        `The migration ${REDONE} failed: ERROR: type "pet_status" already exists. ` +
        "It changed nothing. Correct the cause, and migrate again. If Prisma's own engine or an earlier " +
        'build had applied it without recording that, run "UPDATE _prisma_migrations SET finished_at = ' +
        `now() WHERE migration_name = '${REDONE}' AND rolled_back_at IS NULL" in the database instead.`;
      await lacking.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [REDONE]);
      expectFailure(await on(lacking, 'migrate'), exists);
      expectFailure(await on(lacking, 'migrate'), exists);
    }));

  it('report what PostgreSQL rejects in one line', () =>
    withDatabase('template0', async (empty) => {
      const url = new URL(empty.url);
      url.searchParams.set('options', '-c work_mem=none');
      for (const command of ['migrate', 'seed']) {
        expectFailure(
          await on({ url: url.href }, command),
          'The database cannot be used (check DATABASE_URL): invalid value for parameter "work_mem": "none"',
        );
      }
    }));
});

describe('a command whose output is not read', () => {
  const shell = promisify(execFile);
  const audit = (rest: string) =>
    shell('bash', ['-c', `"$0" dist/cli/admin.js audit list --json ${rest}`, process.execPath], {
      env: { ...process.env, DATABASE_URL: database.url, APP_ENV: 'staging' },
    }).then(
      ({ stderr }) => ({ code: 0, stderr }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
    );

  it('ends quietly when its reader has ended', async () => {
    expect(await audit('| head -c 0; exit "${PIPESTATUS[0]}"')).toEqual({ code: 0, stderr: '' });
  });

  it('exits with code 1, and prints in one line that the output could not be written', async () => {
    const { code, stderr } = await audit('> /dev/full');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Standard output cannot be written: .*\n$/);
  });
});
