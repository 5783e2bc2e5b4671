import type { AuditEntry } from '../src/admin/audit.schemas.js';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { encodeCursor } from '../src/http/pagination.js';
import { type Administration, startAdministration } from './support/administration.js';
import { ban, bannedUntil } from './support/bans.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { type Answer, send } from './support/http.js';
import { linksOf } from './support/links.js';
import { expectNoSecrets } from './support/secrets.js';

const HOUR_MS = 3_600_000;
const NOBODY = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';

let admin: Administration;
let ask: Administration['ask'];
let issue: Administration['issue'];

beforeAll(async () => {
  admin = await startAdministration();
  ({ ask, issue } = admin);
});
afterAll(() => admin.store.close());
afterEach(() => admin.store.clock.goOn());

const inFuture = (milliseconds: number) => new Date(admin.store.clock.now() + milliseconds);
const newest = async (): Promise<AuditEntry> => (await ask('GET /admin/audit?limit=1')).json[0];

async function countEntries(): Promise<number> {
  const [row] = await admin.store.database.query<{ count: number }>(
    'SELECT count(*)::int FROM audit_entries',
  );
  return row?.count ?? NaN;
}

/** The entries that something wrote, oldest first. */
async function entriesOf(work: () => Promise<unknown>): Promise<AuditEntry[]> {
  const before = await countEntries();
  await work();
  const written = (await countEntries()) - before;
  const { json } = await ask('GET /admin/audit?limit=100');
  return (json as AuditEntry[]).slice(0, written).toReversed();
}

describe('a deed', () => {
  /** What stands in every entry of the administrator's. */
  const by = (fields: Partial<AuditEntry>) => ({
    id: expect.stringMatching(/^\d+$/),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    actor: admin.administrator.id,
    ...fields,
  });

  it('is written down with who did what on what and when: a key is issued', async () => {
    const since = Date.now();
    let key: IssuedKey | undefined;
    const expiresAt = inFuture(HOUR_MS).toISOString();
    const entries = await entriesOf(async () => {
      key = await issue({ name: 'Ann', plan: 'pro', perMinute: 5, perDay: 50, role: 'admin', expiresAt });
    });
    expect(entries).toEqual([
      by({
        action: 'key.issued',
        subject: `key:${key?.id}`,
        before: null,
        after: {
          name: 'Ann',
          role: 'admin',
          plan: 'pro',
          perMinute: 5,
          perDay: 50,
          ownLimits: true,
          expiresAt,
        },
      }),
    ]);
    const at = Date.parse(entries[0]?.at ?? '');
    expect(at).toBeGreaterThanOrEqual(since - 1);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it('is written down with what was before and after: a key is rotated', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const old = await issue();
    let successor: IssuedKey | undefined;
    const entries = await entriesOf(async () => {
      successor = (await ask(`POST /admin/keys/${old.id}/rotate`, { overlapSeconds: 60 })).json;
    });
    expect(entries).toEqual([
      by({
        action: 'key.rotated',
        subject: `key:${old.id}`,
        before: { expiresAt: null, successorId: null },
        after: {
          expiresAt: new Date(now.getTime() + 60_000).toISOString(),
          successorId: successor?.id,
          successorExpiresAt: null,
        },
      }),
    ]);
  });

  it('is written down with what was before and after: a key is revoked', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const { id } = await issue();
    expect(await entriesOf(() => ask(`POST /admin/keys/${id}/revoke`))).toEqual([
      by({
        action: 'key.revoked',
        subject: `key:${id}`,
        before: { revokedAt: null },
        after: { revokedAt: now.toISOString() },
      }),
    ]);
  });

  it('is written down with what was before and after: the plan of a key is changed', async () => {
    const { id } = await issue();
    const free = { plan: 'free', perMinute: 60, perDay: 1000, ownLimits: false };
    const own = { plan: 'free', perMinute: 60, perDay: 1000, ownLimits: true };
    const pro = { plan: 'pro', perMinute: 300, perDay: 10_000, ownLimits: false };
    const entries = await entriesOf(async () => {
      await ask(`PATCH /admin/keys/${id}`, { plan: 'free', perMinute: 60, perDay: 1000 });
      await ask(`PATCH /admin/keys/${id}`, { plan: 'pro' });
    });
    const change = { action: 'key.plan_changed', subject: `key:${id}` };
    expect(entries).toEqual([
      by({ ...change, before: free, after: own }),
      by({ ...change, before: own, after: pro }),
    ]);
  });

  it('is written down with what was before and after: a ban is lifted', async () => {
    const key = await issue();
    const until = inFuture(HOUR_MS);
    await ban(admin.store.database, key, until);
    expect(await entriesOf(() => ask(`POST /admin/keys/${key.id}/unban`))).toEqual([
      by({
        action: 'key.unbanned',
        subject: `key:${key.id}`,
        before: { bannedUntil: until.toISOString() },
        after: { bannedUntil: null },
      }),
    ]);
  });

  it('is written down with what was before and after: a plan is made, and changed', async () => {
    const entries = await entriesOf(async () => {
      await ask('PUT /admin/plans/made', { perMinute: 5, perDay: 50 });
      await ask('PUT /admin/plans/made', { perMinute: 5, perDay: 51 });
    });
    const first = { perMinute: 5, perDay: 50 };
    expect(entries).toEqual([
      by({ action: 'plan.created', subject: 'plan:made', before: null, after: first }),
      by({
        action: 'plan.changed',
        subject: 'plan:made',
        before: first,
        after: { perMinute: 5, perDay: 51 },
      }),
    ]);
  });

  it('is written down as done by the key that asked', async () => {
    const other = await issue({ role: 'admin' });
    await send(`${admin.store.url}/admin/plans/others`, {
      method: 'PUT',
      key: other.key,
      body: { perMinute: 1, perDay: 1 },
    });
    expect(await newest()).toMatchObject({ actor: other.id, subject: 'plan:others' });
    await admin.store.issue();
    expect(await newest()).toMatchObject({ actor: 'terminal', action: 'key.issued' });
  });
});

describe('writes nothing down:', () => {
  let key: IssuedKey;
  let revoked: IssuedKey;
  let rotated: IssuedKey;
  let client: IssuedKey;

  beforeAll(async () => {
    [key, revoked, rotated, client] = [await issue(), await issue(), await issue(), await issue()];
    await ask(`POST /admin/keys/${revoked.id}/revoke`);
    await ask(`POST /admin/keys/${rotated.id}/rotate`);
  });

  it.each<[string, () => Promise<Answer>, number]>([
    ['a key issued on no plan', () => ask('POST /admin/keys', { name: 'x', plan: 'gold' }), 400],
    ['a key issued without a name', () => ask('POST /admin/keys', { plan: 'free' }), 400],
    [
      'a key issued expired',
      () => ask('POST /admin/keys', { name: 'x', plan: 'free', expiresAt: '2020-01-01T00:00:00Z' }),
      400,
    ],
    ['a body that is no JSON', () => ask('POST /admin/keys', '{'), 400],
    ['a revoked key rotated', () => ask(`POST /admin/keys/${revoked.id}/rotate`), 409],
    ['a rotated key rotated', () => ask(`POST /admin/keys/${rotated.id}/rotate`), 409],
    [
      'a key rotated to the past',
      () => ask(`POST /admin/keys/${key.id}/rotate`, { overlapSeconds: -1 }),
      400,
    ],
    ['no key rotated', () => ask(`POST /admin/keys/${NOBODY}/rotate`), 404],
    ['a revoked key revoked', () => ask(`POST /admin/keys/${revoked.id}/revoke`), 200],
    ['no key revoked', () => ask(`POST /admin/keys/${NOBODY}/revoke`), 404],
    ['a ban lifted where there is none', () => ask(`POST /admin/keys/${key.id}/unban`), 200],
    ['the plan that a key is on', () => ask(`PATCH /admin/keys/${key.id}`, { plan: 'free' }), 200],
    ['a plan that there is not', () => ask(`PATCH /admin/keys/${key.id}`, { plan: 'gold' }), 400],
    ['numbers that a plan has', () => ask('PUT /admin/plans/pro', { perMinute: 300, perDay: 10_000 }), 200],
    ['numbers for Enterprise', () => ask('PUT /admin/plans/enterprise', { perMinute: 1, perDay: 1 }), 409],
    ['a name that no plan can have', () => ask('PUT /admin/plans/Gold', { perMinute: 1, perDay: 1 }), 400],
    [
      "a client's attempt",
      () =>
        send(`${admin.store.url}/admin/plans/pro`, {
          method: 'PUT',
          key: client.key,
          body: { perMinute: 1, perDay: 1 },
        }),
      403,
    ],
    ['what was only looked at', () => ask(`GET /admin/keys/${key.id}`), 200],
  ])('%s', async (_what, attempt, status) => {
    const entries = await entriesOf(async () => {
      expect((await attempt()).status).toBe(status);
    });
    expect(entries).toEqual([]);
  });
});

describe('a deed and its entry are one transaction: what cannot be written down is not done', () => {
  beforeAll(async () => {
    await admin.store.database.query(
      `CREATE FUNCTION refuse_entry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no more room'; END $$`,
    );
  });
  afterEach(() => admin.store.database.query('DROP TRIGGER IF EXISTS full_audit ON audit_entries'));

  const fill = () =>
    admin.store.database.query(
      'CREATE TRIGGER full_audit BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_entry()',
    );

  async function everything(): Promise<string> {
    const rows = await Promise.all(
      ['api_keys', 'quotas', 'plans', 'audit_entries'].map((table) =>
        admin.store.database.query(`SELECT t::text FROM ${table} t ORDER BY 1`),
      ),
    );
    return JSON.stringify(rows);
  }

  it.each<[string, (key: IssuedKey) => Promise<Answer>]>([
    ['no key is issued', () => ask('POST /admin/keys', { name: 'x', plan: 'free' })],
    ['no key is rotated', ({ id }) => ask(`POST /admin/keys/${id}/rotate`)],
    ['no key is revoked', ({ id }) => ask(`POST /admin/keys/${id}/revoke`)],
    ['no plan of a key is changed', ({ id }) => ask(`PATCH /admin/keys/${id}`, { plan: 'pro' })],
    ['no plan is made', () => ask('PUT /admin/plans/never', { perMinute: 1, perDay: 1 })],
    ['no plan is changed', () => ask('PUT /admin/plans/free', { perMinute: 1, perDay: 1 })],
  ])('%s', async (_what, attempt) => {
    const key = await issue();
    const before = await everything();
    await fill();
    const answer = await attempt(key);
    expectError(answer, 500, 'internal_error', expect.not.stringContaining('room'));
    expectRateLimitHeaders(answer);
    expect(await everything()).toBe(before);
  });

  it('no ban is lifted', async () => {
    const key = await issue();
    const until = inFuture(HOUR_MS);
    await ban(admin.store.database, key, until);
    await fill();
    expectError(await ask(`POST /admin/keys/${key.id}/unban`), 500, 'internal_error');
    expect(await bannedUntil(admin.store.database, key)).toEqual(until);
  });
});

describe('the database', () => {
  const CHANGES = [
    "UPDATE audit_entries SET actor = 'nobody'",
    "UPDATE audit_entries SET actor = 'nobody' WHERE false",
    'DELETE FROM audit_entries',
    'DELETE FROM audit_entries WHERE id = -1',
    'TRUNCATE audit_entries',
    'TRUNCATE audit_entries, plans CASCADE',
    `INSERT INTO audit_entries (id, actor, action, subject, after) SELECT min(id), 'x', 'x', 'x', '{}' FROM audit_entries
     ON CONFLICT (id) DO UPDATE SET actor = 'nobody'`,
  ];

  it.each(CHANGES)(
    'refuses to change or remove what was written, also of zero rows: %s',
    async (statement) => {
      const before = await admin.store.database.query('SELECT t::text FROM audit_entries t ORDER BY id');
      expect(before.length).toBeGreaterThan(0);
      await expect(admin.store.database.query(statement)).rejects.toMatchObject({
        code: '42501',
        message: expect.stringMatching(/^The audit is append only: (UPDATE|DELETE|TRUNCATE) is refused$/),
      });
      expect(await admin.store.database.query('SELECT t::text FROM audit_entries t ORDER BY id')).toEqual(
        before,
      );
    },
  );

  it('refuses it also while ordinary triggers are off, as during replication', async () => {
    const before = await countEntries();
    for (const change of CHANGES) {
      await expect(
        admin.store.database.query(`SET session_replication_role = replica; ${change}`),
      ).rejects.toMatchObject({ code: '42501' });
    }
    expect(await countEntries()).toBe(before);
  });
});

describe('listAudit', () => {
  it('answers 200 with a bare array, newest first, 20 unless told otherwise', async () => {
    for (let made = 0; made < 21; made += 1) {
      await ask(`PUT /admin/plans/row-${made}`, { perMinute: 1, perDay: 1 });
    }
    const answer = await ask('GET /admin/audit');
    expect(answer.status).toBe(200);
    expect(answer.json.map(({ subject }: AuditEntry) => subject)).toEqual(
      Array.from({ length: 20 }, (_, place) => `plan:row-${20 - place}`),
    );
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(linksOf(answer)).toEqual({
      next: expect.stringMatching(/^\/admin\/audit\?limit=20&cursor=[\w-]+$/),
      first: '/admin/audit?limit=20',
    });
    expectRateLimitHeaders(answer);
  });

  it('walked over all pages shows each entry that was there exactly once, while others are written', async () => {
    const stored = await admin.store.database.query<{ id: string }>(
      'SELECT id FROM audit_entries ORDER BY id DESC',
    );
    const seen: string[] = [];
    let target: string | undefined = '/admin/audit?limit=9';
    let page = 0;
    while (target !== undefined) {
      const answer: Answer = await ask(`GET ${target}`);
      expect(answer.status).toBe(200);
      seen.push(...answer.json.map(({ id }: AuditEntry) => id));
      target = linksOf(answer)['next'];
      await ask(`PUT /admin/plans/walk-${(page += 1)}`, { perMinute: 1, perDay: 1 });
    }
    expect(seen).toEqual(stored.map(({ id }) => id));
    expect(page).toBeGreaterThan(3);
  });

  it('tells identifiers exactly that a double cannot hold', async () => {
    await admin.store.database.query(
      `INSERT INTO audit_entries (id, actor, action, subject, after) VALUES (9007199254740993, 'x', 'x', 'x', '{}')`,
    );
    expect((await newest()).id).toBe('9007199254740993');
  });

  it('answers HEAD as GET, without the body', async () => {
    const [got, headed] = [await ask('GET /admin/audit?limit=1'), await ask('HEAD /admin/audit?limit=1')];
    expect([headed.status, headed.text, headed.headers.get('link')]).toEqual([
      200,
      '',
      got.headers.get('link'),
    ]);
    expectRateLimitHeaders(headed);
  });

  describe('refuses with 400 invalid_request, naming the parameter,', () => {
    const LIMIT = 'limit must be an integer from 1 to 100';
    const CURSOR = 'cursor is not one that this service gave: follow the Link header of the page before';

    it.each([
      ...['0', '101', '-1', '', '1.0', 'ten'].map((limit) => [`limit=${limit}`, LIMIT]),
      ...['', 'x', 'MQ', '%00'].map((cursor) => [`cursor=${cursor}`, CURSOR]),
      // Those of other lists: a key's id, a plan's name.
      [`cursor=${encodeCursor(NOBODY)}`, CURSOR],
      [`cursor=${encodeCursor('free')}`, CURSOR],
      [`cursor=${encodeCursor('9223372036854775808')}`, CURSOR],
      ['limit=1&limit=1', 'limit must be given once'],
      ['cursor=x&cursor=x', 'cursor must be given once'],
      ['limit=0&cursor=x', `${LIMIT}; ${CURSOR}`],
    ])('%s', async (query, faults) => {
      const answer = await ask(`GET /admin/audit?${query}`);
      expectError(answer, 400, 'invalid_request', `The request is invalid: ${faults}.`);
      expectRateLimitHeaders(answer);
    });
  });
});

it('shows neither a key nor a hash, whatever was done', async () => {
  const first = await issue({ role: 'admin' });
  const second = (await ask(`POST /admin/keys/${first.id}/rotate`)).json;
  const third = (await ask(`POST /admin/keys/${second.id}/rotate`, { overlapSeconds: 0 })).json;
  await ban(admin.store.database, third, inFuture(HOUR_MS));
  await ask(`POST /admin/keys/${third.id}/unban`);
  await ask(`PATCH /admin/keys/${third.id}`, { plan: 'pro' });
  await ask(`POST /admin/keys/${third.id}/revoke`);
  const keys = [admin.administrator.key, first.key, second.key, third.key];
  const rows = await admin.store.database.query<{ line: string }>(
    'SELECT t::text AS line FROM audit_entries t',
  );
  expect(rows.some(({ line }) => line.includes(third.id))).toBe(true);
  expectNoSecrets(rows.map(({ line }) => line).join('\n'), keys);
  expectNoSecrets((await ask('GET /admin/audit?limit=100')).text, keys);
});
