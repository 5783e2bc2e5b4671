import type { AuditEntry } from '../src/admin/audit.schemas.js';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { encodeCursor } from '../src/schemas/pagination.js';
import { type Administration, startAdministration } from './support/administration.js';
import { ban, bannedUntil } from './support/bans.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { type HttpResponse, send } from './support/http.js';
import { linksOf } from './support/links.js';
import { expectNoSecrets } from './support/secrets.js';

const HOUR_MS = 3_600_000;
const UNKNOWN_ID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';

let admin: Administration;
let sendAsAdmin: Administration['send'];
let issue: Administration['issue'];

beforeAll(async () => {
  admin = await startAdministration();
  ({ send: sendAsAdmin, issue } = admin);
});
afterAll(() => admin.store.close());
afterEach(() => admin.store.clock.goOn());

const inFuture = (milliseconds: number) => new Date(admin.store.clock.now() + milliseconds);
const newest = async (): Promise<AuditEntry> => (await sendAsAdmin('GET /admin/audit?limit=1')).json[0];

async function countEntries(): Promise<number> {
  const [row] = await admin.store.database.query<{ count: number }>(
    'SELECT count(*)::int FROM audit_entries',
  );
  return row?.count ?? NaN;
}

/** Runs `work`, and returns the entries that it wrote, oldest first. */
async function entriesOf(work: () => Promise<unknown>): Promise<AuditEntry[]> {
  const before = await countEntries();
  await work();
  const written = (await countEntries()) - before;
  const { json } = await sendAsAdmin('GET /admin/audit?limit=100');
  return (json as AuditEntry[]).slice(0, written).toReversed();
}

describe('the audit log', () => {
  /** An entry of the administrator, with these fields. */
  const by = (fields: Partial<AuditEntry>) => ({
    id: expect.stringMatching(/^\d+$/),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    actor: admin.administrator.id,
    ...fields,
  });

  it('records who did what to what and when: a key is issued', async () => {
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

  it('records the state before and after: a key is rotated', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const old = await issue();
    let successor: IssuedKey | undefined;
    const entries = await entriesOf(async () => {
      successor = (await sendAsAdmin(`POST /admin/keys/${old.id}/rotate`, { overlapSeconds: 60 })).json;
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

  it('records the state before and after: a key is revoked', async () => {
    const now = inFuture(0);
    admin.store.clock.stopAt(now);
    const { id } = await issue();
    expect(await entriesOf(() => sendAsAdmin(`POST /admin/keys/${id}/revoke`))).toEqual([
      by({
        action: 'key.revoked',
        subject: `key:${id}`,
        before: { revokedAt: null },
        after: { revokedAt: now.toISOString() },
      }),
    ]);
  });

  it('records the state before and after: the plan of a key is changed', async () => {
    const { id } = await issue();
    const free = { plan: 'free', perMinute: 60, perDay: 1000, ownLimits: false };
    const own = { plan: 'free', perMinute: 60, perDay: 1000, ownLimits: true };
    const pro = { plan: 'pro', perMinute: 300, perDay: 10_000, ownLimits: false };
    const entries = await entriesOf(async () => {
      await sendAsAdmin(`PATCH /admin/keys/${id}`, { plan: 'free', perMinute: 60, perDay: 1000 });
      await sendAsAdmin(`PATCH /admin/keys/${id}`, { plan: 'pro' });
    });
    const change = { action: 'key.plan_changed', subject: `key:${id}` };
    expect(entries).toEqual([
      by({ ...change, before: free, after: own }),
      by({ ...change, before: own, after: pro }),
    ]);
  });

  it('records the state before and after: a ban is lifted', async () => {
    const key = await issue();
    const until = inFuture(HOUR_MS);
    await ban(admin.store.database, key, until);
    expect(await entriesOf(() => sendAsAdmin(`POST /admin/keys/${key.id}/unban`))).toEqual([
      by({
        action: 'key.unbanned',
        subject: `key:${key.id}`,
        before: { bannedUntil: until.toISOString() },
        after: { bannedUntil: null },
      }),
    ]);
  });

  it('records the state before and after: a plan is created and changed', async () => {
    const entries = await entriesOf(async () => {
      await sendAsAdmin('PUT /admin/plans/made', { perMinute: 5, perDay: 50 });
      await sendAsAdmin('PUT /admin/plans/made', { perMinute: 5, perDay: 51 });
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

  it('records the key that sent the request', async () => {
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

describe('the audit log of a request that changes nothing', () => {
  let key: IssuedKey;
  let revoked: IssuedKey;
  let rotated: IssuedKey;
  let client: IssuedKey;

  beforeAll(async () => {
    [key, revoked, rotated, client] = [await issue(), await issue(), await issue(), await issue()];
    await sendAsAdmin(`POST /admin/keys/${revoked.id}/revoke`);
    await sendAsAdmin(`POST /admin/keys/${rotated.id}/rotate`);
  });

  it.each<[string, () => Promise<HttpResponse>, number]>([
    [
      'a key is issued on an unknown plan',
      () => sendAsAdmin('POST /admin/keys', { name: 'x', plan: 'gold' }),
      400,
    ],
    ['a key is issued without a name', () => sendAsAdmin('POST /admin/keys', { plan: 'free' }), 400],
    [
      'a key is issued with an expiry in the past',
      () => sendAsAdmin('POST /admin/keys', { name: 'x', plan: 'free', expiresAt: '2020-01-01T00:00:00Z' }),
      400,
    ],
    ['the body is not JSON', () => sendAsAdmin('POST /admin/keys', '{'), 400],
    ['a revoked key is rotated', () => sendAsAdmin(`POST /admin/keys/${revoked.id}/rotate`), 409],
    ['a rotated key is rotated again', () => sendAsAdmin(`POST /admin/keys/${rotated.id}/rotate`), 409],
    [
      'a key is rotated with a negative overlap',
      () => sendAsAdmin(`POST /admin/keys/${key.id}/rotate`, { overlapSeconds: -1 }),
      400,
    ],
    ['an unknown key is rotated', () => sendAsAdmin(`POST /admin/keys/${UNKNOWN_ID}/rotate`), 404],
    ['a revoked key is revoked again', () => sendAsAdmin(`POST /admin/keys/${revoked.id}/revoke`), 200],
    ['an unknown key is revoked', () => sendAsAdmin(`POST /admin/keys/${UNKNOWN_ID}/revoke`), 404],
    ['a ban is lifted when there is none', () => sendAsAdmin(`POST /admin/keys/${key.id}/unban`), 200],
    [
      'a key is moved to the plan that it is on',
      () => sendAsAdmin(`PATCH /admin/keys/${key.id}`, { plan: 'free' }),
      200,
    ],
    [
      'a key is moved to an unknown plan',
      () => sendAsAdmin(`PATCH /admin/keys/${key.id}`, { plan: 'gold' }),
      400,
    ],
    [
      'a plan gets the limits that it has',
      () => sendAsAdmin('PUT /admin/plans/pro', { perMinute: 300, perDay: 10_000 }),
      200,
    ],
    [
      'limits are set on enterprise',
      () => sendAsAdmin('PUT /admin/plans/enterprise', { perMinute: 1, perDay: 1 }),
      409,
    ],
    [
      'a plan gets an invalid name',
      () => sendAsAdmin('PUT /admin/plans/Gold', { perMinute: 1, perDay: 1 }),
      400,
    ],
    [
      'a client sends a request of administrators',
      () =>
        send(`${admin.store.url}/admin/plans/pro`, {
          method: 'PUT',
          key: client.key,
          body: { perMinute: 1, perDay: 1 },
        }),
      403,
    ],
    ['a key is read', () => sendAsAdmin(`GET /admin/keys/${key.id}`), 200],
  ])('has no entry when %s', async (_what, attempt, status) => {
    const entries = await entriesOf(async () => {
      expect((await attempt()).status).toBe(status);
    });
    expect(entries).toEqual([]);
  });
});

describe('an action whose audit entry cannot be written', () => {
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

  async function storedState(): Promise<string> {
    const rows = await Promise.all(
      ['api_keys', 'quotas', 'plans', 'audit_entries'].map((table) =>
        admin.store.database.query(`SELECT t::text FROM ${table} t ORDER BY 1`),
      ),
    );
    return JSON.stringify(rows);
  }

  it.each<[string, (key: IssuedKey) => Promise<HttpResponse>]>([
    ['issue a key', () => sendAsAdmin('POST /admin/keys', { name: 'x', plan: 'free' })],
    ['rotate a key', ({ id }) => sendAsAdmin(`POST /admin/keys/${id}/rotate`)],
    ['revoke a key', ({ id }) => sendAsAdmin(`POST /admin/keys/${id}/revoke`)],
    ['change the plan of a key', ({ id }) => sendAsAdmin(`PATCH /admin/keys/${id}`, { plan: 'pro' })],
    ['create a plan', () => sendAsAdmin('PUT /admin/plans/never', { perMinute: 1, perDay: 1 })],
    ['change a plan', () => sendAsAdmin('PUT /admin/plans/free', { perMinute: 1, perDay: 1 })],
  ])('returns 500 and changes nothing: %s', async (_what, attempt) => {
    const key = await issue();
    const before = await storedState();
    await fill();
    const response = await attempt(key);
    expectError(response, 500, 'internal_error', expect.not.stringContaining('room'));
    expectRateLimitHeaders(response);
    expect(await storedState()).toBe(before);
  });

  it('does not lift a ban', async () => {
    const key = await issue();
    const until = inFuture(HOUR_MS);
    await ban(admin.store.database, key, until);
    await fill();
    expectError(await sendAsAdmin(`POST /admin/keys/${key.id}/unban`), 500, 'internal_error');
    expect(await bannedUntil(admin.store.database, key)).toEqual(until);
  });
});

describe('the table audit_entries', () => {
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

  it.each(CHANGES)('rejects every change, also of zero rows: %s', async (statement) => {
    const before = await admin.store.database.query('SELECT t::text FROM audit_entries t ORDER BY id');
    expect(before.length).toBeGreaterThan(0);
    await expect(admin.store.database.query(statement)).rejects.toMatchObject({
      code: '42501',
      message: expect.stringMatching(/^The audit is append only: (UPDATE|DELETE|TRUNCATE) is refused$/),
    });
    expect(await admin.store.database.query('SELECT t::text FROM audit_entries t ORDER BY id')).toEqual(
      before,
    );
  });

  it('rejects changes even when ordinary triggers are off, as during replication', async () => {
    const before = await countEntries();
    for (const change of CHANGES) {
      await expect(
        admin.store.database.query(`SET session_replication_role = replica; ${change}`),
      ).rejects.toMatchObject({ code: '42501' });
    }
    expect(await countEntries()).toBe(before);
  });
});

describe('GET /admin/audit', () => {
  it('returns 200 with a bare array, newest first, 20 entries by default', async () => {
    for (let made = 0; made < 21; made += 1) {
      await sendAsAdmin(`PUT /admin/plans/row-${made}`, { perMinute: 1, perDay: 1 });
    }
    const response = await sendAsAdmin('GET /admin/audit');
    expect(response.status).toBe(200);
    expect(response.json.map(({ subject }: AuditEntry) => subject)).toEqual(
      Array.from({ length: 20 }, (_, index) => `plan:row-${20 - index}`),
    );
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(linksOf(response)).toEqual({
      next: expect.stringMatching(/^\/admin\/audit\?limit=20&cursor=[\w-]+$/),
      first: '/admin/audit?limit=20',
    });
    expectRateLimitHeaders(response);
  });

  it('returns each existing entry exactly once over all pages, while others are written', async () => {
    const stored = await admin.store.database.query<{ id: string }>(
      'SELECT id FROM audit_entries ORDER BY id DESC',
    );
    const seen: string[] = [];
    let target: string | undefined = '/admin/audit?limit=9';
    let page = 0;
    while (target !== undefined) {
      const response: HttpResponse = await sendAsAdmin(`GET ${target}`);
      expect(response.status).toBe(200);
      seen.push(...response.json.map(({ id }: AuditEntry) => id));
      target = linksOf(response)['next'];
      await sendAsAdmin(`PUT /admin/plans/walk-${(page += 1)}`, { perMinute: 1, perDay: 1 });
    }
    expect(seen).toEqual(stored.map(({ id }) => id));
    expect(page).toBeGreaterThan(3);
  });

  it('returns ids exactly, also beyond 2^53', async () => {
    await admin.store.database.query(
      `INSERT INTO audit_entries (id, actor, action, subject, after) VALUES (9007199254740993, 'x', 'x', 'x', '{}')`,
    );
    expect((await newest()).id).toBe('9007199254740993');
  });

  it('returns for HEAD what GET returns, without the body', async () => {
    const [got, headed] = [
      await sendAsAdmin('GET /admin/audit?limit=1'),
      await sendAsAdmin('HEAD /admin/audit?limit=1'),
    ];
    expect([headed.status, headed.text, headed.headers.get('link')]).toEqual([
      200,
      '',
      got.headers.get('link'),
    ]);
    expectRateLimitHeaders(headed);
  });

  describe('with an invalid parameter', () => {
    const LIMIT = 'limit must be an integer from 1 to 100';
    const CURSOR = 'cursor is not one that this service gave: follow the Link header of the page before';

    it.each([
      ...['0', '101', '-1', '', '1.0', 'ten'].map((limit) => [`limit=${limit}`, LIMIT]),
      ...['', 'x', 'MQ', '%00'].map((cursor) => [`cursor=${cursor}`, CURSOR]),
      // Cursors of other lists: the id of a key, the name of a plan.
      [`cursor=${encodeCursor(UNKNOWN_ID)}`, CURSOR],
      [`cursor=${encodeCursor('free')}`, CURSOR],
      [`cursor=${encodeCursor('9223372036854775808')}`, CURSOR],
      ['limit=1&limit=1', 'limit must be given once'],
      ['cursor=x&cursor=x', 'cursor must be given once'],
      ['limit=0&cursor=x', `${LIMIT}; ${CURSOR}`],
    ])('returns 400 that names the parameter: %s', async (query, faults) => {
      const response = await sendAsAdmin(`GET /admin/audit?${query}`);
      expectError(response, 400, 'invalid_request', `The request is invalid: ${faults}.`);
      expectRateLimitHeaders(response);
    });
  });
});

describe('the audit log after every action', () => {
  it('contains neither keys nor hashes', async () => {
    const first = await issue({ role: 'admin' });
    const second = (await sendAsAdmin(`POST /admin/keys/${first.id}/rotate`)).json;
    const third = (await sendAsAdmin(`POST /admin/keys/${second.id}/rotate`, { overlapSeconds: 0 })).json;
    await ban(admin.store.database, third, inFuture(HOUR_MS));
    await sendAsAdmin(`POST /admin/keys/${third.id}/unban`);
    await sendAsAdmin(`PATCH /admin/keys/${third.id}`, { plan: 'pro' });
    await sendAsAdmin(`POST /admin/keys/${third.id}/revoke`);
    const keys = [admin.administrator.key, first.key, second.key, third.key];
    const rows = await admin.store.database.query<{ line: string }>(
      'SELECT t::text AS line FROM audit_entries t',
    );
    expect(rows.some(({ line }) => line.includes(third.id))).toBe(true);
    expectNoSecrets(rows.map(({ line }) => line).join('\n'), keys);
    expectNoSecrets((await sendAsAdmin('GET /admin/audit?limit=100')).text, keys);
  });
});
