import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { hashApiKey } from '../../src/auth/rules/api-key.js';
import { ban } from '../support/counters/bans.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';
import { expectNoSecrets } from '../support/service/secrets.js';
import { type Ended, run, ServiceProcess } from '../support/service/service-process.js';
import { changingNothing } from '../support/database/stored-state.js';
import { animalStore } from '../support/service/terminal.js';

const DAY_MS = 86_400_000;
const NOBODY = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';
/** The usage of a key without requests. */
const UNUSED = { lastUsedAt: null, requestsByHour: Array<number>(24).fill(0) };
/** The actor in the audit. */
const TERMINAL = `terminal:${userInfo().username}`;
/** The migration that is applied once more. */
const REDONE = '20261123000000_init';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const settings = () => ({ DATABASE_URL: database.url, APP_ENV: 'production' });
const admin = (...args: string[]) => animalStore(settings(), ...args);

/** Returns the output of a command that succeeds. */
async function outputOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await admin(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

// oxlint-disable-next-line typescript/no-explicit-any
const json = async (...args: string[]): Promise<any> => JSON.parse(await outputOf(...args, '--json'));
const issue = (...args: string[]) => json('keys', 'issue', '--name', 'test', ...args);
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
  it('issue a key on a quota with its own limits, as one JSON object', async () => {
    const own = ['--plan', 'enterprise', '--per-minute', '7', '--per-day', '70', '--role', 'admin'];
    const issued = await issue(...own, '--expires', '2999-01-01T00:00:00+01:00');
    expect(issued).toMatchObject({
      key: expect.stringMatching(/^ask_live_\w{38}$/),
      name: 'test',
      plan: 'enterprise',
      role: 'admin',
      perMinute: 7,
      perDay: 70,
      ownLimits: true,
      expiresAt: '2998-12-31T23:00:00.000Z',
    });
    const { key, ...shown } = issued;
    expect(await json('keys', 'show', issued.id)).toEqual({ ...shown, ...UNUSED });
    expect(await database.query('SELECT id FROM api_keys WHERE hash = $1', [hashApiKey(key)])).toEqual([
      { id: issued.id },
    ]);
  });

  it('show a key only when it is issued, with its limits', async () => {
    const table = await outputOf('keys', 'issue', '--name', 'Bob', '--plan', 'free');
    const [, key = ''] = /^key +(ask_live_\w{38})$/m.exec(table) ?? [];
    const [, id = ''] = /^id +(\S+)$/m.exec(table) ?? [];
    expect(table).toMatch(/^plan +free, 60 requests per minute, 1000 per day$/m);
    expect(table).toMatch(/^role +client$/m);
    expect(table).toMatch(/^expires +never$/m);
    expect(table).toMatch(/\nThe key is not shown again\.\n$/);
    const facts = await outputOf('keys', 'show', id);
    expect(facts).toMatch(new RegExp(`^shown +ask_live_…${key.slice(-4)}$`, 'm'));
    expectNoSecrets(facts, [key]);
  });

  it('list keys oldest first, filtered by each option, in a table or as a JSON array, and show one key', async () => {
    await outputOf('plans', 'set', 'listed', '--per-minute', '1', '--per-day', '2');
    const keys = [await issue('--plan', 'listed'), await issue('--plan', 'listed', '--role', 'admin')];
    const other = await issue('--plan', 'free');
    const until = new Date(Date.now() + DAY_MS);
    await ban(database, keys[1], until);
    await ban(database, other, until);
    const [first, second] = keys.map(({ key: _key, ...shown }) => ({ ...shown, ...UNUSED }));
    const banned = { ...second, bannedUntil: until.toISOString() };

    expect(await json('keys', 'list', '--plan', 'listed')).toEqual([first, banned]);
    expect(await json('keys', 'list', '--plan', 'listed', '--banned')).toEqual([banned]);
    const all = await json('keys', 'list');
    expect(all.map(({ id }: { id: string }) => id)).toEqual(
      (await database.query<{ id: string }>('SELECT id FROM api_keys ORDER BY id')).map(({ id }) => id),
    );
    expect(await json('keys', 'list', '--search', first.lastFour, '--state', 'active')).toContainEqual(first);
    expect(await json('keys', 'list', '--search', 'no such name')).toEqual([]);
    expect(await json('keys', 'list', '--plan', 'listed', '--state', 'revoked')).toEqual([]);
    expect(await json('keys', 'list', '--plan', 'listed', '--sort', '-created')).toEqual([banned, first]);
    expect(await json('keys', 'list', '--quota', second.quotaId)).toEqual([banned]);
    expect(await json('keys', 'list', '--unused-since', '2020-01-01T00:00:00Z')).toEqual([]);
    expect(
      await json('keys', 'list', '--plan', 'listed', '--expires-before', '2999-01-01T00:00:00Z'),
    ).toEqual([]);
    expect(await outputOf('keys', 'list', '--plan', 'nothing-is-on-it')).toBe('None.\n');

    const table = await outputOf('keys', 'list', '--plan', 'listed');
    const row = ({ id, role, lastFour }: Record<string, string>, bannedUntil: string) =>
      `test  ${id}  ask_live_…${lastFour}  ${role}  listed  1  2  active  -  ${bannedUntil}  -`;
    expect(rows(table).map((cells) => cells.join('  '))).toEqual([
      'NAME  ID  KEY  ROLE  PLAN  PER MINUTE  PER DAY  STATE  EXPIRES  BANNED UNTIL  LAST USED',
      row(first, '-'),
      row(second, until.toISOString()),
    ]);
    const facts = await outputOf('keys', 'show', second.id);
    expect(facts).toMatch(new RegExp(`^banned until +${until.toISOString()}$`, 'm'));
    expectNoSecrets(table + facts + JSON.stringify(all), [keys[0].key, keys[1].key, other.key]);
  });

  it('change the plan, unban and revoke, and each show the key afterwards', async () => {
    const { id, key, quotaId } = await issue('--plan', 'free');
    expect(await json('keys', 'plan', id, 'pro')).toMatchObject({ id, plan: 'pro', perMinute: 300 });
    expect(
      await outputOf('keys', 'plan', id, 'enterprise', '--per-minute', '5000', '--per-day', '1000000'),
    ).toMatch(/^plan +enterprise, 5000 requests per minute, 1000000 per day \(its own\)$/m);
    await ban(database, { quotaId }, new Date(Date.now() + DAY_MS));
    expect(await json('keys', 'unban', id)).toMatchObject({ id, bannedUntil: null });
    const revoked = await json('keys', 'revoke', id);
    expect(revoked).toMatchObject({ id, state: 'revoked', revokedAt: expect.any(String) });
    expect(await outputOf('keys', 'revoke', id)).toMatch(new RegExp(`^revoked +${revoked.revokedAt}$`, 'm'));

    const audit = await json('audit', '--limit', '5');
    expect(audit.map(({ action, subject }: Record<string, string>) => `${action} ${subject}`)).toEqual(
      ['key.revoked', 'key.unbanned', 'key.plan_changed', 'key.plan_changed', 'key.issued'].map(
        (action) => `${action} key:${id}`,
      ),
    );
    expectNoSecrets(JSON.stringify(audit), [key]);
  });
});

describe('animal-store keys rate-limit', () => {
  it('shows the windows and the ban of a key', async () => {
    const { id } = await issue('--plan', 'pro');
    expect(await json('keys', 'rate-limit', id)).toMatchObject({
      plan: 'pro',
      windows: [{ remaining: 300 }, { remaining: 10_000 }],
    });
    const table = await outputOf('keys', 'rate-limit', id);
    expect(table).toMatch(/^this minute +300 of 300 requests remain until \S+:00\.000Z$/m);
    expect(table).toMatch(/^banned until +-$/m);
  });
});

describe('animal-store keys label', () => {
  it('sets the name and the note, keeps what is not given, and removes the note', async () => {
    const { id } = await issue('--plan', 'free', '--note', 'first');
    expect(await json('keys', 'show', id)).toMatchObject({ name: 'test', note: 'first' });
    expect(await json('keys', 'label', id, '--name', 'Ann')).toMatchObject({ name: 'Ann', note: 'first' });
    expect(await outputOf('keys', 'label', id, '--note', 'second')).toMatch(/^note +second$/m);
    expect(await json('keys', 'label', id, '--no-note')).toMatchObject({ name: 'Ann', note: null });
    expect(
      rows(await outputOf('audit', '--limit', '1'))
        .at(-1)
        ?.at(-1),
    ).toBe('note: second → null');
  });
});

describe('the commands of plans', () => {
  it('list plans by name, create and change them', async () => {
    expect(await json('plans', 'set', 'a-startup', '--per-minute', '120', '--per-day', '3000')).toEqual({
      name: 'a-startup',
      perMinute: 120,
      perDay: 3000,
    });
    expect(
      rows(await outputOf('plans', 'set', 'a-startup', '--per-minute', '121', '--per-day', '3001')),
    ).toEqual([
      ['PLAN', 'PER MINUTE', 'PER DAY'],
      ['a-startup', '121', '3001'],
    ]);
    expect(await json('plans', 'list')).toEqual(
      await database.query(
        'SELECT name, per_minute AS "perMinute", per_day AS "perDay" FROM plans ORDER BY name',
      ),
    );
    expect(rows(await outputOf('plans', 'list'))).toEqual(
      expect.arrayContaining([
        ['a-startup', '121', '3001'],
        ['enterprise', 'custom', 'custom'],
      ]),
    );
  });
});

describe('animal-store audit', () => {
  it('shows the newest entries first, 20 by default, in a table or as a JSON array', async () => {
    await outputOf('plans', 'set', 'audited', '--per-minute', '1', '--per-day', '2');
    await outputOf('plans', 'set', 'audited', '--per-minute', '1', '--per-day', '3');
    await database.query(
      `INSERT INTO audit_events (actor, action, subject, after) SELECT 'x', 'x', 'x', '{}' FROM generate_series(1, 19)`,
    );
    const shown = await json('audit');
    expect(shown).toHaveLength(20);
    expect(shown.at(-1)).toEqual({
      id: expect.stringMatching(/^\d+$/),
      at: expect.any(String),
      actor: TERMINAL,
      action: 'plan.changed',
      subject: 'plan:audited',
      before: { perMinute: 1, perDay: 2 },
      after: { perMinute: 1, perDay: 3 },
    });
    expect(rows(await outputOf('audit', '--limit', '21')).at(-1)).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      TERMINAL,
      'plan.created',
      'plan:audited',
      'perDay: 2, perMinute: 1',
    ]);
    const filters = ['--action', 'plan.changed', '--actor', TERMINAL, '--since', shown.at(-1).at];
    expect(await json('audit', ...filters)).toEqual([shown.at(-1)]);
    expect(await json('audit', ...filters, '--until', shown.at(-1).at)).toEqual([]);
    const { id } = await issue('--plan', 'free');
    expect(await json('audit', '--key', id.slice(-8))).toMatchObject([{ subject: `key:${id}` }]);
    const [stored] = await database.query<{ count: number }>('SELECT count(*)::int FROM audit_events');
    expect(await json('audit', '--limit', '2147483647')).toHaveLength(stored?.count ?? NaN);
  });
});

describe('the actor of an audit event', () => {
  it('is the name of the system user, or the one given with --as', async () => {
    const { id } = await issue('--plan', 'free', '--as', 'Ann');
    await outputOf('keys', 'revoke', id, '--as', 'Bob');
    await outputOf('plans', 'set', 'recorded', '--per-minute', '1', '--per-day', '2');
    const entries: { actor: string; action: string }[] = await json('audit', '--limit', '3');
    expect(entries.map(({ actor, action }) => [actor, action])).toEqual([
      [TERMINAL, 'plan.created'],
      ['terminal:Bob', 'key.revoked'],
      ['terminal:Ann', 'key.issued'],
    ]);
  });
});

describe('keys rotate', () => {
  it('prints the successor, and until when the old key works: for 24 hours, or for the given overlap', async () => {
    expect(await outputOf('keys', 'rotate', '--help')).toMatch(/--overlap <duration>[^]*\(default: 24h\)/);
    const start = Date.now();
    const old = await issue('--plan', 'pro');
    const rotated = await outputOf('keys', 'rotate', old.id);
    expect(rotated).toMatch(/^key +ask_live_\w{38}$/m);
    expect(rotated).toMatch(new RegExp(`^succeeds +${old.id}$`, 'm'));
    const { expiresAt, successorId } = await json('keys', 'show', old.id);
    expect(rotated).toMatch(new RegExp(`\\nThe old key works until ${expiresAt}\\.\\n$`));
    expect(Date.parse(expiresAt) - DAY_MS).toBeGreaterThanOrEqual(start);
    expect(Date.parse(expiresAt) - DAY_MS).toBeLessThanOrEqual(Date.now());

    const options = ['--overlap', '0', '--expires', '2999-01-01T00:00:00Z'];
    const again = await outputOf('keys', 'rotate', successorId, ...options);
    expect(again).toMatch(/^expires +2999-01-01T00:00:00\.000Z$/m);
    expect(again).toMatch(/\nThe old key no longer works\.\n$/);
    expect(await outputOf('keys', 'show', successorId)).toMatch(/^state +expired$/m);
    expectFailure(
      await unchanged(() => admin('keys', 'rotate', old.id)),
      `The key was rotated already. Rotate its successor ${successorId}.`,
    );
  });
});

describe('animal-store usage', () => {
  it('shows the names of keys before their ids', async () => {
    const { id, quotaId } = await json('keys', 'issue', '--name', "Ann's shop", '--plan', 'free');
    await database.query(
      `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated,
         succeeded, redirected, client_errors, server_errors, refusals, last_at)
       VALUES ($1, $2, 'day', date_trunc('day', now()), 'listPets', false, 5, 0, 2, 0, 1, now())`,
      [id, quotaId],
    );
    const [head, row] = rows(await outputOf('usage', id));
    expect(head?.slice(0, 6)).toEqual(['FROM', 'NAME', 'KEY', 'OPERATION', 'DEPRECATED', 'REQUESTS']);
    expect(row?.slice(1, 11)).toEqual(["Ann's shop", id, 'listPets', 'false', '7', '5', '0', '2', '0', '1']);
  });

  describe('its reports', () => {
    let id: string;

    beforeAll(async () => {
      await database.query('DELETE FROM usage');
      const ann = await json('keys', 'issue', '--name', 'Ann', '--plan', 'free');
      const bob = await json('keys', 'issue', '--name', 'Bob', '--plan', 'free');
      ({ id } = ann);
      await database.query(
        `INSERT INTO usage (key_id, quota_id, period, starts_at, operation, deprecated,
           succeeded, redirected, client_errors, server_errors, refusals, last_at)
         VALUES ($1, $2, 'day', '2027-03-05', 'listPets', false, 5, 0, 2, 0, 1, '2027-03-05T12:00Z'),
           ($1, $2, 'day', '2027-03-04', 'getPet', true, 1, 0, 0, 0, 0, '2027-03-04T12:00Z'),
           ($3, $4, 'day', '2027-03-05', 'listPets', false, 9, 0, 0, 0, 0, '2027-03-05T12:00Z')`,
        [id, ann.quotaId, bob.id, bob.quotaId],
      );
    });

    it('show the totals of each period, newest first, of all keys or one', async () => {
      expect(rows(await outputOf('usage', 'totals'))).toEqual([
        ['FROM', 'REQUESTS', '2XX', '3XX', '4XX', '5XX', 'REFUSED'],
        ['2027-03-05T00:00:00.000Z', '16', '14', '0', '2', '0', '1'],
        ['2027-03-04T00:00:00.000Z', '1', '1', '0', '0', '0', '0'],
      ]);
      expect(await json('usage', 'totals', '--limit', '1', '--key', id.slice(-8))).toEqual([
        {
          startsAt: '2027-03-05T00:00:00.000Z',
          requests: 7,
          refusals: 1,
          statuses: { '2xx': 5, '3xx': 0, '4xx': 2, '5xx': 0 },
        },
      ]);
      expect(await outputOf('usage', 'totals', '--period', 'hour')).toBe('None.\n');
    });

    it('show the keys with the most requests, by name', async () => {
      const [head, ...keys] = rows(await outputOf('usage', 'top'));
      expect(head?.slice(0, 3)).toEqual(['NAME', 'KEY', 'REQUESTS']);
      expect(keys.map(([name, , requests]) => [name, requests])).toEqual([
        ['Bob', '9'],
        ['Ann', '8'],
      ]);
      const range = ['--since', '2027-03-04T00:00:00Z', '--until', '2027-03-05T00:00:00Z'];
      expect(await json('usage', 'top', ...range)).toMatchObject([
        { keyId: id, keyName: 'Ann', requests: 1 },
      ]);
      expect(await json('usage', 'top', '--limit', '1')).toMatchObject([{ keyName: 'Bob' }]);
    });

    it('show the requests for each operation', async () => {
      expect(rows(await outputOf('usage', 'operations')).map((row) => row.slice(0, 3))).toEqual([
        ['OPERATION', 'DEPRECATED', 'REQUESTS'],
        ['listPets', 'false', '16'],
        ['getPet', 'true', '1'],
      ]);
      expect(await json('usage', 'operations', '--key', id, '--since', '2027-03-05T00:00:00Z')).toMatchObject(
        [{ operation: 'listPets', requests: 7 }],
      );
    });

    it('fail for an unknown key and a range that is none', async () => {
      const unknown = await admin('usage', 'operations', '--key', 'nobody');
      expectFailure(unknown, 'There is no key with the id "nobody".');
      const range = ['--since', '2027-03-05T00:00:00Z', '--until', '2027-03-05T00:00:00Z'];
      expectFailure(
        await admin('usage', 'top', ...range),
        'The request is invalid: since must be before until.',
      );
      expect(await admin('usage', 'totals', '--since', 'yesterday')).toMatchObject({ code: 2 });
      expect(await admin('usage', 'top', '--limit', '101')).toMatchObject({ code: 2 });
    });
  });
});

describe('the id of a key', () => {
  it('is accepted by its end, with and without an ellipsis', async () => {
    const { id } = await issue('--plan', 'free');
    for (const end of [id.slice(-8), `…${id.slice(-8)}`, id.slice(-12).toUpperCase()]) {
      expect(await json('keys', 'show', end)).toMatchObject({ id });
    }
    expect(await json('keys', 'plan', id.slice(-8), 'pro')).toMatchObject({ id, plan: 'pro' });
    expect(await json('usage', id.slice(-8))).toEqual([]);
    expect(await json('keys', 'rotate', id.slice(-8))).toMatchObject({ predecessorId: id });
    expect(await json('keys', 'unban', id.slice(-8))).toMatchObject({ id });
    expect(await json('keys', 'revoke', id.slice(-8))).toMatchObject({ id, state: 'revoked' });
  });

  it('is rejected when several keys have this end, and nothing is done', async () => {
    const ids = [await issue('--plan', 'free'), await issue('--plan', 'free')].map(({ id }) => id);
    const twins = ids.map((id) => `${id.slice(0, 24)}aaaaaaaaaaaa`);
    for (const [index, id] of ids.entries()) {
      await database.query('UPDATE api_keys SET id = $1 WHERE id = $2', [twins[index], id]);
    }
    expectFailure(
      await unchanged(() => admin('keys', 'revoke', 'aaaaaaaa')),
      `Several ids end with "aaaaaaaa": ${twins.toSorted().join(', ')}. Give more of it.`,
    );
    expectFailure(await admin('keys', 'revoke', 'beefbeef'), 'There is no key with the id "beefbeef".');
    await database.query('DELETE FROM api_keys WHERE id = ANY ($1)', [twins]);
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
    const { id } = await issue('--plan', 'pro', '--as', 'Ann');
    for (const command of ['keys list --search test', 'audit --actor terminal:Ann --limit 1']) {
      const { code, lines } = await typed('', ...command.split(' '));
      expect(code).toBe(0);
      expect(lines.join('\n')).toContain(`…${id.slice(-8)}`);
      expect(lines.join('\n')).not.toContain(id);
    }
  });

  it('prompts before it revokes a key or changes a plan, and changes nothing without a yes', async () => {
    const { id } = await issue('--plan', 'free');
    await outputOf('plans', 'set', 'asked', '--per-minute', '1', '--per-day', '2');
    for (const [command, prompt] of [
      [`keys revoke ${id}`, `Revoke key "test" (${id}) immediately and permanently? [y/N]`],
      [
        `keys plan ${id} pro`,
        `Move key "test" (${id}) from plan free, 60 requests per minute, 1000 per day, to plan pro? [y/N]`,
      ],
      [
        'plans set asked --per-minute 3 --per-day 4',
        'Change plan asked from 1 requests per minute, 2 per day, to 3 requests per minute, 4 per day, for all its keys? [y/N]',
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
    const { id } = await issue('--plan', 'free');
    const { code, lines } = await unchanged(() => typed(input, 'keys', 'revoke', id));
    expect([code, lines.at(-1)]).toEqual([1, 'Nothing was changed.']);
    // The prompt may take two lines.
    expect(lines.length).toBeLessThanOrEqual(3);
  });

  it('proceeds after a yes, and without a prompt with --yes or when nothing is lost', async () => {
    const { id } = await issue('--plan', 'free');
    const moved = await typed('n', 'keys', 'plan', id, 'pro', '--yes');
    expect(moved.code).toBe(0);
    expect(moved.lines.join('\n')).not.toContain('[y/N]');
    expect(await json('keys', 'show', id)).toMatchObject({ plan: 'pro' });
    expect(await typed('y', 'keys', 'revoke', id)).toMatchObject({ code: 0 });
    expect(await json('keys', 'show', id)).toMatchObject({ state: 'revoked' });
    const created = await typed('n', 'plans', 'set', 'unasked', '--per-minute', '1', '--per-day', '2');
    expect(created).toMatchObject({
      code: 0,
      lines: expect.arrayContaining([expect.stringContaining('unasked')]),
    });
  });
});

describe('control characters', () => {
  const HOSTILE = 'a\u001b[2Jb\u0007\r\nc\td\u009b31m\u007f\u202ee';
  const ESCAPED = String.raw`a\u001b[2Jb\u0007\u000d\u000ac\u0009d\u009b31m\u007f\u202ee`;
  const CONTROL = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;

  /** Validation rejects such names; another program or an older version may have written them. */
  async function keyWithHostileNames(): Promise<string> {
    const { id } = await issue('--plan', 'free');
    await database.query('INSERT INTO plans (name, per_minute, per_day) VALUES ($1, 1, 2)', [HOSTILE]);
    await database.query('UPDATE api_keys SET name = $1 WHERE id = $2', [HOSTILE, id]);
    await database.query(
      'UPDATE quotas SET plan = $1 WHERE id = (SELECT quota_id FROM api_keys WHERE id = $2)',
      [HOSTILE, id],
    );
    await database.query(
      `INSERT INTO audit_events (actor, action, subject, after) VALUES ($1, $1, $1, jsonb_build_object('name', $1::text))`,
      [HOSTILE],
    );
    return id;
  }

  it('are escaped in tables, details and errors, and a line stays one line', async () => {
    const id = await keyWithHostileNames();
    const outputs = {
      list: await outputOf('keys', 'list', '--plan', HOSTILE),
      show: await outputOf('keys', 'show', id),
      plans: await outputOf('plans', 'list'),
      audit: await outputOf('audit', '--limit', '1'),
      noPlan: (await admin('keys', 'plan', id, `${HOSTILE}x`)).stderr,
      noKey: (await admin('keys', 'show', HOSTILE)).stderr,
      usage: (await admin('keys', HOSTILE.replaceAll('\n', ''))).stderr,
    };
    for (const [output, text] of Object.entries(outputs)) {
      expect([output, text]).toEqual([output, expect.not.stringMatching(CONTROL)]);
      expect([output, text]).toEqual([output, expect.stringContaining(String.raw`a\u001b[2Jb\u0007\u000d`)]);
    }
    expect(outputs.list.split('\n')).toHaveLength(3);
    expect(rows(outputs.list)[1]).toEqual(expect.arrayContaining([ESCAPED]));
    expect(outputs.noKey).toBe(`There is no key with the id "${ESCAPED}".\n`);
    expect(outputs.noPlan.split('\n')).toHaveLength(2);
    expect((await json('keys', 'show', id)).name).toBe(HOSTILE);
    await database.query('UPDATE quotas SET plan = $1 WHERE plan = $2', ['free', HOSTILE]);
    await database.query('DELETE FROM plans WHERE name = $1', [HOSTILE]);
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

  it('prints the reason of a failure on standard error, exits with code 1, and does nothing', async () => {
    const { id } = await issue('--plan', 'free');
    const noNumbers = 'Plan "enterprise" has no limits of its own; give those per minute and per day.';
    for (const [command, reason] of [
      ['keys issue --name x --plan enterprise', noNumbers],
      [`keys plan ${id} enterprise`, noNumbers],
      [
        'keys issue --name x --plan free --expires 2020-01-01T00:00:00Z',
        'The request is invalid: expiresAt must be in the future.',
      ],
      [`keys show ${NOBODY} --json`, `There is no key with the id "${NOBODY}".`],
      [
        'plans set enterprise --per-minute 1 --per-day 1',
        'Plan "enterprise" has no limits of its own; give each of its keys theirs.',
      ],
      [
        'plans set Gold --per-minute 1 --per-day 1',
        'The name of the plan must have 1 to 63 lower-case letters, digits and hyphens, and begin with a letter.',
      ],
    ] as const) {
      expectFailure(await unchanged(() => admin(...command.split(' '))), reason);
    }
  });

  const ISSUE = 'keys issue --name x --plan free';
  const NUMBER = 'It must be a whole number from 1 to 2147483647.';

  it.each([
    ['keys', 'Usage: animal-store keys'],
    ['keys burn', "unknown command 'burn'"],
    ['keys issue --plan free', "required option '--name <name>' not specified"],
    ['keys issue --name x', "required option '--plan <plan>' not specified"],
    ['keys issue --name= --plan free', 'It must not be blank.'],
    [`keys issue --name ${'x'.repeat(256)} --plan free`, 'It must have at most 255 characters.'],
    ['keys issue --name a\u001bb --plan free', 'It must be text without control characters.'],
    [`${ISSUE} --per-minute 0 --per-day 5`, NUMBER],
    [`${ISSUE} --per-minute 5 --per-day 1e3`, NUMBER],
    [`${ISSUE} --per-minute 5`, '--per-minute and --per-day go together'],
    [`${ISSUE} --role king`, 'Allowed choices are client, admin'],
    [`${ISSUE} --expires 2999-01-01`, 'It must be a date-time with its offset'],
    [`${ISSUE} --colour red`, "unknown option '--colour'"],
    [`keys rotate ${NOBODY} --overlap soon`, 'It must be a duration such as 90s, 30m, 24h or 7d'],
    ['keys rotate', "missing required argument 'id'"],
    [`keys show ${NOBODY} ${NOBODY}`, 'too many arguments'],
    [`keys plan ${NOBODY}`, "missing required argument 'plan'"],
    [`keys plan ${NOBODY} pro --per-day 5`, '--per-minute and --per-day go together'],
    ['plans set free --per-minute 5', "required option '--per-day <n>' not specified"],
    ['audit --limit 0', NUMBER],
    ['audit --action key.lost', 'Allowed choices are key.issued'],
    ['audit --since yesterday', 'It must be a date-time'],
    ['keys list --sort age', 'Allowed choices are created, -created, name, lastUsed, expires'],
    ['keys list --quota x', 'It must be a UUID'],
    [`keys label ${NOBODY}`, 'give --name, --note or --no-note'],
  ])('exits with code 2 and the reason when it is called as %j', async (command, fault) => {
    const { code, stdout, stderr } = await admin(...command.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(fault);
  });

  it('has help, with an example for options that belong together', async () => {
    const commands = [
      ...['issue', 'list', 'show', 'rotate', 'revoke', 'plan', 'unban'].map((name) => ['keys', name]),
      ...['list', 'set'].map((name) => ['plans', name]),
      ['audit'],
      ['keys'],
      ['plans'],
      [],
    ];
    const withExample = /keys (issue|plan)$|plans set$/;
    for (const command of commands) {
      const stdout = await outputOf(...command, '--help');
      const called = ['animal-store', ...command].join(' ');
      expect(stdout).toContain(`Usage: ${called} `);
      if (withExample.test(called)) {
        expect(stdout).toMatch(new RegExp(`\\nExamples?:\\n {2}${called}`));
      }
    }
    const checkout = /\n {2}npm run -s admin -- keys issue --name "Ann's shop" --plan pro\n/;
    expect(await outputOf('--help')).toMatch(checkout);
  });

  it('prints what to do when no database runs, none responds, or it has no tables', async () => {
    const nowhere = await animalStore({ DATA_DIR: '/nonexistent/data' }, 'keys', 'list');
    expectFailure(
      nowhere,
      'No embedded database runs in /nonexistent/data: start the service first ("npm start"), or set DATABASE_URL.',
    );
    const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing', APP_ENV: 'production' };
    for (const unreachable of [
      await animalStore(away, 'plans', 'list'),
      await run('cli/admin.js', away, 'migrate'),
    ]) {
      expect({ code: unreachable.code, stdout: unreachable.stdout }).toEqual({ code: 1, stdout: '' });
      expect(unreachable.stderr).toMatch(/^The database cannot be used \(check DATABASE_URL\): .+\n$/);
    }
    const empty = await createDatabase('template0');
    try {
      for (const command of ['keys', 'plans']) {
        const ended = await animalStore({ ...away, DATABASE_URL: empty.url }, command, 'list');
        expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 1, stdout: '' });
        expect(ended.stderr).toMatch(
          /^The database lacks the tables of this version: run "npx prisma migrate deploy", or in a container "animal-store migrate"\. .+ does not exist.*\n$/,
        );
      }
    } finally {
      await empty.drop();
    }
  });

  it('prints how to create plans when there are none', async () => {
    const unseeded = await createDatabase();
    try {
      await unseeded.query('DELETE FROM plans');
      const empty = { DATABASE_URL: unseeded.url, APP_ENV: 'production' };
      expectFailure(
        await animalStore(empty, 'keys', 'issue', '--name', 'x', '--plan', 'pro'),
        'There are no plans yet: run "npx prisma db seed" first, or in a container "animal-store seed".',
      );
    } finally {
      await unseeded.drop();
    }
  });
});

describe('the commands migrate and seed', () => {
  it('bring an empty database up to date, and report it', async () => {
    const empty = await createDatabase('template0');
    try {
      const nowhere = 'postgres://nobody@127.0.0.1:1/nothing';
      const pooled = { DATABASE_URL: nowhere, DIRECT_DATABASE_URL: empty.url, APP_ENV: 'production' };
      const migrated = await run('cli/admin.js', pooled, 'migrate');
      expect(migrated).toMatchObject({
        code: 0,
        stdout: [
          ...OWN_MIGRATIONS.map((name) => `Applied the migration ${name}.\n`),
          'The database is up to date.\n',
        ].join(''),
        stderr: '',
      });
      const direct = { DATABASE_URL: empty.url, APP_ENV: 'production' };
      const again = await animalStore(direct, 'migrate');
      expect(again).toMatchObject({ code: 0, stdout: 'The database is up to date.\n', stderr: '' });
      const seeded = await run('cli/admin.js', direct, 'seed');
      expect(seeded).toMatchObject({ code: 0, stderr: '' });
      expect(seeded.stdout).toMatch(
        /^The plans are there\.\nThe administrator's key, shown this once: ask_live_/,
      );
    } finally {
      await empty.drop();
    }
  });

  const failed = (why: string) =>
    `The migration ${REDONE} ${why}. Undo what it may have left, run "animal-store migrate --rolled-back ${REDONE}", and migrate ` +
    `again; or finish it by hand, and run "animal-store migrate --applied ${REDONE}". In a checkout, "npx prisma migrate ` +
    'resolve" takes the same options.';

  it('report a failed migration in one line, now and later, and accept --rolled-back and --applied', async () => {
    const lacking = await createDatabase();
    const migrate = (...args: string[]) =>
      animalStore({ DATABASE_URL: lacking.url, APP_ENV: 'production' }, 'migrate', ...args);
    const succeeded = (stdout: string) => expect.objectContaining({ code: 0, stdout, stderr: '' });
    try {
      await lacking.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [REDONE]);
      const why = 'ERROR: type "pet_status" already exists';
      expectFailure(await migrate(), failed(`failed: ${why}`));
      expectFailure(await migrate(), failed(`failed: ${why}`));
      expect(await migrate('--rolled-back', REDONE)).toEqual(
        succeeded(
          `The migration ${REDONE} is recorded as rolled back. "animal-store migrate" applies it again.\n`,
        ),
      );
      expectFailure(await migrate(), failed(`failed: ${why}`));
      expect(await migrate('--applied', REDONE)).toEqual(
        succeeded(`The migration ${REDONE} is recorded as applied.\n`),
      );
      expect(await migrate()).toEqual(succeeded('The database is up to date.\n'));
      expectFailure(
        await migrate('--rolled-back', 'no_such_migration'),
        'Migration `no_such_migration` cannot be rolled back because it was never applied to the database. ' +
          'Hint: did you pass in the whole migration name? (example: "20201207184859_initial_migration")',
      );
      const both = await migrate('--applied', REDONE, '--rolled-back', REDONE);
      expect({ code: both.code, stdout: both.stdout }).toEqual({ code: 2, stdout: '' });
    } finally {
      await lacking.drop();
    }
  });
});

describe('a command whose output is not read', () => {
  const shell = promisify(execFile);
  const audit = (rest: string) =>
    shell('bash', ['-c', `"$0" dist/cli/admin.js audit --json ${rest}`, process.execPath], {
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
