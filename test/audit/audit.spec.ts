import type { AuditEvent } from '../../src/audit/audit.schemas.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { headers } from '../../src/openapi/headers.js';
import { HOUR_MS } from '../support/time/clock.js';
import { useAdministration } from '../support/keys/administration.js';
import { ban, bannedUntil } from '../support/keys/bans.js';
import { expectError } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { parseLinks } from '../support/http/links.js';
import { readPages } from '../support/http/pages.js';
import { changingNothing } from '../support/database/stored-state.js';

/** The limits of a quota on a plan, as the audit has them. */
const FREE = { plan: 'free', perMinute: 60, perDay: 1000, limitsSource: 'plan' };
const PRO = { plan: 'pro', perMinute: 300, perDay: 10_000, limitsSource: 'plan' };
const NOW = new Date('2027-03-05T12:00:00.000Z');
const UNTIL = new Date('2027-03-05T13:00:00.000Z');
const UNKNOWN_ID = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';

const admin = useAdministration();
const { send: sendAsAdmin, issue } = admin;

afterEach(() => admin.store.clock.goOn());

const inFuture = (milliseconds: number) => new Date(admin.store.clock.now() + milliseconds);
const act = ({ id }: { id: string }, action: 'rotate' | 'revoke', body?: unknown) =>
  sendAsAdmin(`POST /admin/keys/${id}/${action}`, body);
const update = ({ id }: { id: string }, body: unknown) => sendAsAdmin(`PATCH /admin/keys/${id}`, body);
const updateQuota = ({ quotaId }: { quotaId: string }, body: unknown) =>
  sendAsAdmin(`PATCH /admin/quotas/${quotaId}`, body);
const unban = ({ quotaId }: { quotaId: string }) => sendAsAdmin(`POST /admin/quotas/${quotaId}/unban`);
const setPlan = (name: string, perMinute: number, perDay: number) =>
  sendAsAdmin(`PUT /admin/plans/${name}`, { perMinute, perDay });
const newest = async (): Promise<AuditEvent> => (await sendAsAdmin('GET /admin/audit?limit=1')).json[0];

type Party = AuditEvent['actor'] & AuditEvent['subject'];

/** A key as the actor or the subject of an entry, with its present name. */
const keyParty = ({ id, name: issued, prefix, lastFour }: IssuedKey, name = issued): Party => ({
  type: 'key',
  id,
  name,
  prefix,
  lastFour,
});
const NO_KEY = { name: null, prefix: null, lastFour: null };
const planSubject = (name: string): AuditEvent['subject'] => ({ type: 'plan', id: name, ...NO_KEY, name });
const quotaSubject = ({ quotaId: id }: IssuedKey): AuditEvent['subject'] => ({
  type: 'quota',
  id,
  ...NO_KEY,
});

async function countEntries(): Promise<number> {
  const [row] = await admin.store.database.query<{ count: number }>('SELECT count(*)::int FROM audit_events');
  return row?.count ?? NaN;
}

/** Runs `work`, and returns the entries that it wrote, oldest first. */
async function collectEntries(work: () => Promise<unknown>): Promise<AuditEvent[]> {
  const before = await countEntries();
  await work();
  const written = (await countEntries()) - before;
  const { json } = await sendAsAdmin('GET /admin/audit?limit=100');
  return (json as AuditEvent[]).slice(0, written).toReversed();
}

describe('the audit log', () => {
  /** An entry of the administrator, with these fields. */
  const by = (fields: Partial<AuditEvent>) => ({
    id: expect.stringMatching(/^\d+$/),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    actor: keyParty(admin.administrator),
    ...fields,
  });

  it('records who did what to what and when: a key is issued', async () => {
    const since = Date.now();
    let key: IssuedKey | undefined;
    const issued = { name: 'Ann', note: 'first', plan: 'pro', perMinute: 5, perDay: 50, role: 'admin' };
    const expiresAt = inFuture(HOUR_MS).toISOString();
    const entries = await collectEntries(async () => {
      key = await issue({ ...issued, expiresAt });
    });
    expect(entries).toEqual([
      by({
        action: 'key.issued',
        ...(key && { subject: keyParty(key) }),
        before: null,
        after: { ...issued, limitsSource: 'quota', scopes: null, allowedNetworks: null, expiresAt },
      }),
    ]);
    const at = Date.parse(entries[0]?.createdAt ?? '');
    expect(at).toBeGreaterThanOrEqual(since - 1);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it.each<[string, (key: IssuedKey) => Promise<unknown>, AuditEvent['action'], object, object]>([
    [
      'a key is rotated',
      (key) => act(key, 'rotate', { overlapSeconds: 60 }),
      'key.rotated',
      { expiresAt: null, successorId: null },
      {
        // Within the seconds of the test, because the clock of the database goes on.
        expiresAt: expect.stringMatching(/^2027-03-05T12:01:/),
        successorId: expect.any(String),
        successorExpiresAt: null,
      },
    ],
    ['a ban is lifted', unban, 'quota.unbanned', { bannedUntil: UNTIL.toISOString() }, { bannedUntil: null }],
    [
      'a key is revoked',
      (key) => act(key, 'revoke'),
      'key.revoked',
      { revokedAt: null },
      { revokedAt: expect.stringMatching(/^2027-03-05T12:0/) },
    ],
    [
      'the plan of a quota is changed',
      (key) => updateQuota(key, { plan: 'pro' }),
      'quota.updated',
      FREE,
      PRO,
    ],
    [
      'a quota gets own limits',
      (key) => updateQuota(key, { perMinute: 60, perDay: 1000 }),
      'quota.updated',
      FREE,
      { ...FREE, limitsSource: 'quota' },
    ],
    [
      'a key is updated',
      (key) => update(key, { name: 'Bob', note: null }),
      'key.updated',
      { name: 'Ann', note: 'first' },
      { name: 'Bob', note: null },
    ],
  ])('records the state before and after: %s', async (_what, work, action, before, after) => {
    admin.store.clock.stopAt(NOW);
    const key = await issue({ name: 'Ann', note: 'first' });
    await ban(admin.store.database, key, UNTIL);
    expect(await collectEntries(() => work(key))).toEqual([
      by({
        action,
        subject: action.startsWith('quota.')
          ? quotaSubject(key)
          : keyParty(key, action === 'key.updated' ? 'Bob' : 'Ann'),
        before: { ...before },
        after: { ...after },
      }),
    ]);
  });

  it('records the state before and after: a plan is created and changed', async () => {
    const entries = await collectEntries(async () => {
      await setPlan('made', 5, 50);
      await setPlan('made', 5, 51);
    });
    const first = { perMinute: 5, perDay: 50 };
    expect(entries).toEqual([
      by({ action: 'plan.created', subject: planSubject('made'), before: null, after: first }),
      by({
        action: 'plan.updated',
        subject: planSubject('made'),
        before: first,
        after: { ...first, perDay: 51 },
      }),
    ]);
  });
});

describe('the audit log of a request that changes nothing', () => {
  it.each<[string, (key: IssuedKey, revoked: IssuedKey) => Promise<HttpResponse>, number]>([
    ['a revoked key is revoked again', (_key, revoked) => act(revoked, 'revoke'), 200],
    ['an unknown key is revoked', () => act({ id: UNKNOWN_ID }, 'revoke'), 404],
    ['a ban is lifted when there is none', unban, 200],
    ['a quota is put on the plan that it is on', (key) => updateQuota(key, { plan: 'free' }), 200],
    ['a key gets the name that it has', (key) => update(key, { name: key.name }), 200],
    [
      'a client sends a request of administrators',
      ({ id, key }) => send(`${admin.store.url}/admin/keys/${id}/revoke`, { method: 'POST', key }),
      403,
    ],
  ])('has no entry, and nothing else changes, when %s', async (_what, attempt, status) => {
    const [key, revoked] = [await issue(), await issue()];
    await act(revoked, 'revoke');
    const response = await changingNothing(admin.store.database, () => attempt(key, revoked));
    expect(response.status).toBe(status);
  });
});

describe('an action whose audit event cannot be written', () => {
  beforeAll(async () => {
    await admin.store.database.query(
      `CREATE FUNCTION refuse_entry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no more ` +
        `room'; END $$`,
    );
  });
  afterEach(() => admin.store.database.query('DROP TRIGGER IF EXISTS full_audit ON audit_events'));

  it.each<[string, (key: IssuedKey) => Promise<HttpResponse>]>([
    ['issue a key', () => sendAsAdmin('POST /admin/keys', { name: 'x', plan: 'free' })],
    ['rotate a key', (key) => act(key, 'rotate')],
    ['revoke a key', (key) => act(key, 'revoke')],
    ['lift a ban', unban],
    ['change the plan of a quota', (key) => updateQuota(key, { plan: 'pro' })],
    ['update a key', (key) => update(key, { name: 'other' })],
    ['create a plan', () => setPlan('never', 1, 1)],
    ['change a plan', () => setPlan('free', 1, 1)],
  ])('returns 500 and changes nothing: %s', async (_what, attempt) => {
    const key = await issue();
    const until = inFuture(HOUR_MS);
    await ban(admin.store.database, key, until);
    await admin.store.database.query(
      'CREATE TRIGGER full_audit BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION refuse_entry()',
    );
    const response = await changingNothing(admin.store.database, () => attempt(key));
    expectError(response, 500, 'internal_error', expect.not.stringContaining('room'));
    expect(await bannedUntil(admin.store.database, key)).toEqual(until);
  });
});

describe('the table audit_events', () => {
  const CHANGES = [
    "UPDATE audit_events SET actor = 'nobody'",
    "UPDATE audit_events SET actor = 'nobody' WHERE false",
    'DELETE FROM audit_events',
    'DELETE FROM audit_events WHERE id = -1',
    'TRUNCATE audit_events',
    'TRUNCATE audit_events, plans CASCADE',
    `INSERT INTO audit_events (id, actor, action, subject, after)
     SELECT min(id), 'x', 'x', 'x', '{}' FROM audit_events
     ON CONFLICT (id) DO UPDATE SET actor = 'nobody'`,
  ];

  it.each(CHANGES)('rejects every change, even of zero rows: %s', async (statement) => {
    expect(await countEntries()).toBeGreaterThan(0);
    // Ordinary triggers are off during replication.
    for (const role of ['origin', 'replica']) {
      await changingNothing(admin.store.database, () =>
        expect(
          admin.store.database.query(`SET session_replication_role = ${role}; ${statement}`),
        ).rejects.toMatchObject({
          code: '42501',
          message: expect.stringMatching(/^The audit is append only: (UPDATE|DELETE|TRUNCATE) is rejected$/),
        }),
      );
    }
  });
});

describe('GET /admin/audit', () => {
  it('returns 200 with a bare array, newest first, 20 entries by default', async () => {
    for (let made = 0; made < 21; made += 1) {
      await setPlan(`row-${made}`, 1, 1);
    }
    const response = await sendAsAdmin('GET /admin/audit');
    expect(response.json.map(({ subject }: AuditEvent) => subject.id)).toEqual(
      Array.from({ length: 20 }, (_, index) => `row-${20 - index}`),
    );
    expect(parseLinks(response)).toEqual({
      next: expect.stringMatching(/^\/admin\/audit\?limit=20&cursor=[\w-]+$/),
      first: '/admin/audit?limit=20',
    });
  });

  it('returns each existing entry exactly once over all pages, while others are written', async () => {
    const stored = await admin.store.database.query<{ id: string }>(
      'SELECT id FROM audit_events ORDER BY id DESC',
    );
    let written = 0;
    const pages = await readPages<AuditEvent>(
      (target) => sendAsAdmin(`GET ${target}`),
      '/admin/audit?limit=9',
      () => setPlan(`walk-${(written += 1)}`, 1, 1),
    );
    expect(pages.flat().map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
    expect(pages.length).toBeGreaterThan(3);
  });

  it('returns the present name of a key, and null if it was deleted by SQL', async () => {
    const key = await issue({ role: 'admin' });
    const body = { name: 'Renamed' };
    await send(`${admin.store.url}/admin/keys/${key.id}`, { method: 'PATCH', key: key.key, body });
    const renamed = keyParty(key, 'Renamed');
    expect(await newest()).toMatchObject({ actor: renamed, subject: renamed });
    await admin.store.database.query('DELETE FROM api_keys WHERE id = $1', [key.id]);
    const deleted = { type: 'key', id: key.id, ...NO_KEY };
    expect(await newest()).toMatchObject({ actor: deleted, subject: deleted });
  });

  it.each([
    ['service', { type: 'service', id: null, ...NO_KEY }],
    ['terminal:ann: the second', { type: 'terminal', id: null, ...NO_KEY, name: 'ann: the second' }],
  ])('returns an actor that is no key: %s', async (actor, shown) => {
    await admin.store.database.query(
      `INSERT INTO audit_events (actor, action, subject, after)
       VALUES ($1, 'plan.updated', 'plan:free', '{}')`,
      [actor],
    );
    expect((await newest()).actor).toEqual(shown);
  });

  it('returns ids exactly, even beyond 2^53', async () => {
    await admin.store.database.query(
      `INSERT INTO audit_events (id, actor, action, subject, after) VALUES (9007199254740993, ` +
        `'service', 'plan.updated', 'plan:free', '{}')`,
    );
    expect((await newest()).id).toBe('9007199254740993');
  });

  describe('with filters', () => {
    const get = async (query: string): Promise<AuditEvent[]> => {
      const { status, json } = await sendAsAdmin(`GET /admin/audit?limit=100&${query}`);
      expect(status).toBe(200);
      return json;
    };

    it('returns the entries of an actor, of an action, and on a key', async () => {
      const other = await issue({ role: 'admin' });
      const key = await issue();
      await act(key, 'rotate');
      await send(`${admin.store.url}/admin/keys/${key.id}/revoke`, { method: 'POST', key: other.key });
      const toActions = (entries: AuditEvent[]) => entries.map(({ action }) => action);
      expect(toActions(await get(`actorId=${other.id.toUpperCase()}`))).toEqual(['key.revoked']);
      expect(toActions(await get(`keyId=${key.id.toUpperCase()}`))).toEqual([
        'key.revoked',
        'key.rotated',
        'key.issued',
      ]);
      expect(toActions(await get(`keyId=${key.id}&action=key.rotated`))).toEqual(['key.rotated']);
      expect(await get(`keyId=${key.id}&action=key.rotated&actorType=service`)).toStrictEqual([]);
      expect(await get(`actorType=terminal&actorId=${other.id}`)).toStrictEqual([]);
      expect(new Set(toActions(await get('action=plan.created')))).toEqual(new Set(['plan.created']));
    });

    it('returns the entries on a quota, and with a key those on either', async () => {
      const [key, other] = [await issue(), await issue()];
      await updateQuota(key, { plan: 'pro' });
      await updateQuota(other, { plan: 'pro' });
      expect(await get(`quotaId=${key.quotaId.toUpperCase()}`)).toMatchObject([
        { subject: quotaSubject(key) },
      ]);
      expect(await get(`quotaId=${key.quotaId}&keyId=${key.id}`)).toMatchObject([
        { action: 'quota.updated', subject: quotaSubject(key) },
        { action: 'key.issued', subject: keyParty(key) },
      ]);
    });

    it('returns the entries of each type of actor', async () => {
      await admin.store.database.query(
        `INSERT INTO audit_events (actor, action, subject, after)
         SELECT actor, 'plan.updated', 'plan:free', '{}'
         FROM unnest('{service,terminal:bob}'::text[]) AS actor`,
      );
      for (const type of ['key', 'terminal', 'service']) {
        const entries = await get(`actorType=${type}`);
        expect(new Set(entries.map(({ actor }) => actor.type))).toEqual(new Set([type]));
      }
    });

    it('takes the longest name of a person, and keeps its links within the documented length', async () => {
      const name = '🐕'.repeat(255);
      await admin.store.database.query(
        `INSERT INTO audit_events (actor, action, subject, after)
         SELECT $1, 'plan.updated', 'plan:free', '{}' FROM generate_series(1, 2)`,
        [`terminal:${name}`],
      );
      const query = 'limit=1&action=plan.updated&since=2001-01-01T00:00:00Z&until=2999-01-01T00:00:00Z';
      const target = `/admin/audit?${query}&actorName=${encodeURIComponent(name)}`;
      const { json, headers: sent } = await sendAsAdmin(`GET ${target}`);
      expect(json).toMatchObject([{ actor: { type: 'terminal', name } }]);
      expect(sent.get('link')).toContain('rel="next"');
      expect(sent.get('link')?.length).toBeLessThanOrEqual(headers.PageLinks.schema.maxLength);
    });

    it('returns the entries since a time, that included, and before another, that excluded', async () => {
      await admin.store.database.query(
        `INSERT INTO audit_events (created_at, actor, action, subject, after)
         SELECT
           timestamptz '2001-01-01' + n * interval '1 ms', 'terminal:timed', 'plan.updated', 'plan:free', '{}'
         FROM generate_series(1, 4) n`,
      );
      const at = (ms: number) => `2001-01-01T00:00:00.00${ms}Z`;
      const times = async (query: string) =>
        (await get(`actorName=timed&${query}`)).map((entry) => entry.createdAt);
      expect(await times(`since=${at(2)}&until=${at(4)}`)).toEqual([at(3), at(2)]);
      expect(await times(`since=${at(4)}`)).toEqual([at(4)]);
      expect(await times(`until=${at(1)}`)).toStrictEqual([]);
      expect(await times('since=2001-01-01T01:00:00.003%2B01:00')).toEqual([at(4), at(3)]);
      expect(await times(`since=${at(2)}&until=${at(2)}`)).toStrictEqual([]);
      expect(await times(`since=${at(3)}&until=${at(2)}`)).toStrictEqual([]);
    });

    it('returns the entries of all filters from page to page', async () => {
      const key = await issue();
      for (const name of ['Bob', 'Ann', 'Bob']) {
        await update(key, { name });
      }
      const pages = await readPages<AuditEvent>(
        (target) => sendAsAdmin(`GET ${target}`),
        `/admin/audit?limit=1&actorId=${admin.administrator.id}&action=key.updated&keyId=${key.id}` +
          '&since=2001-01-01T00:00:00Z',
      );
      expect(pages.map(([event]) => event?.after['name'])).toEqual(['Bob', 'Ann', 'Bob']);
    });
  });
});
