import type { AuditEvent } from '../../src/audit/audit.schemas.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { readEnvironment } from '../../src/process/settings/environment.js';
import { type ServiceHome, sharedStores } from '../support/counter-stores.js';
import { hold } from '../support/database/holding.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { limitHeaders } from '../support/http/rate-limit-headers.js';
import { useAdministration } from '../support/keys/administration.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { startApplication, useApplication } from '../support/service/application.js';
import { DAY_MS } from '../support/time/clock.js';

const SCOPES = ['pets:read', 'pets:write', 'keys:write'] as const;
const LEAKED = { leaked: true };
const YEAR_SECONDS = 31_536_000;
const NO_KEY_MESSAGE = /^Your key was revoked, with its successors and .* There is no new key, because /;

type Keyed = Pick<IssuedKey, 'id' | 'key'>;

const call = (
  url: string,
  { key }: Pick<Keyed, 'key'>,
  request: string,
  body?: unknown,
): Promise<HttpResponse> => {
  const [method = '', path = ''] = request.split(' ');
  return send(url + path, { method, key, body });
};

const admin = useAdministration();
const replica = useApplication(() => ({ database: admin.store.database, clock: admin.store.clock }));
beforeEach(() => admin.store.clock.travelToMinuteStart());

describe.each(sharedStores)('on two replicas that count in %s,', (name, start) => {
  let home: ServiceHome | undefined;
  let replicas = [admin.store, replica];
  let [one, other] = ['', ''];
  let lead: IssuedKey;
  let team: Keyed;
  let thiefs: Keyed;

  beforeAll(async () => {
    // The replicas of the other tests count in PostgreSQL.
    if (name !== 'PostgreSQL') {
      home = await start();
      const { COUNTER_STORE_URL } = readEnvironment(home.settings);
      const options = { database: home.database, environment: { COUNTER_STORE_URL } };
      const first = await startApplication(options);
      replicas = [first, await startApplication({ ...options, clock: first.clock })];
    }
    [one, other] = replicas.map(({ url }) => url) as [string, string];
  });
  afterAll(async () => {
    if (home !== undefined) {
      await Promise.all(replicas.map((each) => each.close()));
      await home.stop();
    }
  });
  beforeEach(async () => {
    const limits = { plan: 'enterprise', perMinute: 5, perDay: 100 } as const;
    lead = await replicas[0]!.issue({ ...limits, scopes: [...SCOPES] });
    const issue = (input: object) => call(one, lead, 'POST /v1/keys', { name: 'team', ...input });
    team = (await issue({})).json;
    thiefs = (await issue({ allowedNetworks: ['10.0.0.0/8'] })).json;
  });

  /** Uses the quota up from a forbidden address: until it is full, or banned. */
  async function use(times: number): Promise<HttpResponse> {
    const responses: HttpResponse[] = [];
    for (let sent = 0; sent < times; sent += 1) {
      responses.push(await call(one, thiefs, 'GET /v1/pets'));
    }
    return responses.at(-1)!;
  }
  /** Returns the rate-limit headers, without the seconds that pass meanwhile. */
  const windowsOf = (response: HttpResponse) =>
    JSON.stringify(limitHeaders(response)).replaceAll(/;t=\d+/g, '');
  const statusOf = async (key: Pick<Keyed, 'key'>) => (await call(other, key, 'GET /v1/rate-limit')).status;

  it.each([
    ['is banned', requestsBeforeBan(5), 'api_key_banned'],
    ['has no requests left', 5, 'rate_limit_exceeded'],
  ])('a quota that %s can end each of its keys, by itself and by its lead', async (_what, times, code) => {
    const denied = await use(times);
    expectError(denied, 429, code);
    const revoked = await call(other, lead, `POST /v1/keys/${thiefs.id}/revoke`);
    expect(revoked).toMatchObject({ status: 200, json: { id: thiefs.id, state: 'revoked' } });
    const replaced = await call(other, team, 'POST /v1/key/rotate', LEAKED);
    const next = await call(one, lead, 'POST /v1/key/rotate', LEAKED);
    for (const response of [revoked, replaced, next]) {
      expectRateLimitHeaders(response);
      expect(windowsOf(response)).toBe(windowsOf(denied));
    }
    expect([replaced.status, next.status]).toEqual([201, 201]);
    await eventually(async () =>
      expect(await Promise.all([thiefs, team, replaced.json, lead].map(statusOf))).toEqual([
        401, 401, 401, 401,
      ]),
    );
    expectError(await call(other, next.json, 'GET /v1/pets'), 429, code);
    expect(await statusOf(next.json)).toBe(200);
  });
});

const sendBy = (key: Pick<Keyed, 'key'>, request: string, body?: unknown) =>
  call(admin.store.url, key, request, body);
const issueLead = (input = {}): Promise<IssuedKey> => admin.issue({ ...UNLIMITED, scopes: SCOPES, ...input });
const issueBy = async (lead: Keyed, input = {}): Promise<IssuedKey> =>
  (await sendBy(lead, 'POST /v1/keys', { name: 'team', ...input })).json;
const rotate = (key: Keyed, body: object = LEAKED) => sendBy(key, 'POST /v1/key/rotate', body);
const revoke = (lead: Keyed, { id }: { id: string }) => sendBy(lead, `POST /v1/keys/${id}/revoke`);
const find = async ({ id }: { id: string }) => (await admin.send(`GET /admin/keys/${id}`)).json;
const statesOf = (keys: { id: string }[]) => Promise.all(keys.map(async (key) => (await find(key)).state));
const listEvents = async ({ id }: { id: string }): Promise<AuditEvent[]> =>
  (await admin.send(`GET /admin/audit?keyId=${id}`)).json;
const statusOf = async (key: Keyed) => (await sendBy(key, 'GET /v1/pets')).status;
const findValid = ({ quotaId }: IssuedKey) =>
  admin.store.database.query<{ id: string }>(
    `SELECT id FROM api_keys WHERE quota_id = $1 AND revoked_at IS NULL AND coalesce(expires_at > $2, true)`,
    [quotaId, new Date(admin.store.clock.now())],
  );
const lockQuota = ({ quotaId }: Pick<IssuedKey, 'quotaId'>, ...statements: string[]) =>
  hold(
    admin.store.database.url,
    `SELECT 1 FROM quotas WHERE id = '${quotaId}' FOR NO KEY UPDATE`,
    ...statements,
  );

describe('revocations by a holder', () => {
  it('have a limit of 60 a minute for each key and operation, apart from all others', async () => {
    const lead = await issueLead({ perMinute: 20, perDay: 1000 });
    const key = await issueBy(lead);
    const responses = await Promise.all(Array.from({ length: 125 }, () => revoke(key, key)));
    const denied = responses.filter(({ status }) => status !== 403);
    expect(denied).toHaveLength(65);
    const message = /^Rate limit exceeded: this operation allows 60 requests per minute\. Wait \d+ second/;
    for (const response of denied) {
      expectError(response, 429, 'rate_limit_exceeded', expect.stringMatching(message));
      expect(limitHeaders(response).slice(0, 2)).toEqual([60, 0]);
    }
    const { status, json } = await sendBy(key, 'GET /v1/rate-limit');
    expect([status, json.windows[0].remaining, json.bannedUntil]).toEqual([200, 19, null]);
    const next = await rotate(key);
    expect(next.status).toBe(201);
    expect((await revoke(lead, next.json)).status).toBe(200);
  });

  it('are counted in the windows if they report no leak, or the report is no JSON or too long', async () => {
    const key = await admin.issue({ plan: 'enterprise', perMinute: 20, perDay: 100 });
    const bodies = [undefined, {}, { leaked: false }, { leaked: 'true' }, { ...LEAKED, x: 'x'.repeat(1100) }];
    let left = 20;
    for (const body of bodies.slice(0, 4).map((each) => ({ overlapSeconds: 0, ...each }))) {
      left -= 1;
      expect(limitHeaders(await rotate(key, body)).slice(0, 2)).toEqual([20, left]);
    }
    const raw = { method: 'POST', key: key.key, headers: { 'Content-Type': 'application/json' } };
    const broken = await send(`${admin.store.url}/v1/key/rotate`, { ...raw, body: '{"leaked": true' });
    expect([broken.status, ...limitHeaders(broken).slice(0, 2)]).toEqual([400, 20, left - 1]);
    const invalid = await rotate(key, { ...LEAKED, overlapSeconds: 3600 });
    expect([invalid.status, ...limitHeaders(invalid).slice(0, 2)]).toEqual([400, 20, left - 1]);
    const long = await rotate(key, bodies[4]);
    expect([long.status, ...limitHeaders(long).slice(0, 2)]).toEqual([201, 20, left - 2]);
  });
});

describe('POST /v1/keys/{id}/revoke', () => {
  it('revokes the successors of the key too, each with its audit event', async () => {
    const lead = await issueLead();
    const key = await issueBy(lead);
    const kept = await issueBy(lead);
    const second = (await rotate(key, { overlapSeconds: YEAR_SECONDS })).json;
    const third = (await rotate(second, {})).json;
    expect((await revoke(lead, key)).json).toMatchObject({ id: key.id, state: 'revoked' });
    expect(await statesOf([key, second, third, kept])).toEqual(['revoked', 'revoked', 'revoked', 'active']);
    await eventually(async () =>
      expect([await statusOf(second), await statusOf(third), await statusOf(kept)]).toEqual([401, 401, 200]),
    );
    for (const each of [key, second, third]) {
      expect((await listEvents(each))[0]).toMatchObject({ action: 'key.revoked', actor: { id: lead.id } });
    }
  });

  it.each(['revoked', 'expired'])('revokes the successors of a key that is %s', async (state) => {
    const lead = await issueLead();
    const key = await issueBy(lead);
    const next = (await rotate(key, state === 'revoked' ? LEAKED : { overlapSeconds: 3600 })).json;
    admin.store.clock.travel(state === 'revoked' ? 0 : 3_600_001);
    expect((await find(key)).state).toBe(state);
    expect((await revoke(lead, key)).status).toBe(200);
    expect(await statesOf([next])).toEqual(['revoked']);
  });

  it('leaves the predecessors of the key valid, and what they issued', async () => {
    const lead = await issueLead();
    const [key, issued] = [await issueBy(lead), await issueBy(lead)];
    const next = (await rotate(key, {})).json;
    await revoke(lead, next);
    expect(await statesOf([key, next, issued])).toEqual(['rotating', 'revoked', 'active']);
  });

  it('ends a key at once whose thief goes on rotating it as leaked', async () => {
    const lead = await issueLead();
    const key = await issueBy(lead);
    let rotations = 0;
    const steal = async () => {
      for (let current: Keyed = key; ; rotations += 1) {
        const rotated = await call(replica.url, current, 'POST /v1/key/rotate', LEAKED);
        if (rotated.status !== 201) {
          return rotated.status;
        }
        current = rotated.json;
      }
    };
    const thief = steal();
    await eventually(async () => expect(rotations).toBeGreaterThan(2));
    expect((await revoke(lead, key)).status).toBe(200);
    expect([401, 409]).toContain(await thief);
    expect(await findValid(lead)).toEqual([{ id: lead.id }]);
  });

  it('ends what the last release rotated, which stores no line', async () => {
    const lead = await issueLead();
    const key = await issueBy(lead);
    let predecessorId = key.id;
    for (const hash of ['a', 'b']) {
      const [row] = await admin.store.database.query<{ id: string }>(
        `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four, predecessor_id, issuer_id)
         VALUES (gen_random_uuid(), $1, 'x', sha256($2), 'ask_test_', '0000', $3, $4) RETURNING id`,
        [lead.quotaId, hash + key.id, predecessorId, lead.id],
      );
      predecessorId = row!.id;
    }
    await revoke(lead, key);
    expect(await findValid(lead)).toEqual([{ id: lead.id }]);
  });
});

describe('POST /v1/key/rotate', () => {
  it('allows five rotations a day of a key and its successors, and of each other key as many', async () => {
    const lead = await issueLead();
    let key: Keyed = await issueBy(lead);
    const rotateAll = async (statuses: number[]) => {
      for (const status of statuses) {
        const response = await rotate(key, {});
        expect(response.status).toBe(status);
        key = status === 201 ? response.json : key;
      }
    };
    await rotateAll([201, 201, 201, 201, 201, 409]);
    const message =
      'The key was rotated 5 times today, with its predecessors. ' +
      'Try again after 00:00 UTC, or ask an administrator.';
    expectError(await rotate(key, {}), 409, 'conflict', message);
    expect((await rotate(lead, {})).status).toBe(201);
    key = (await admin.send(`POST /admin/keys/${key.id}/rotate`, {})).json;
    admin.store.clock.travel(DAY_MS);
    await rotateAll([201]);
  });

  it('is denied without waiting for another change of the quota', async () => {
    const lead = await issueLead();
    const { json: successor } = await rotate(lead, {});
    expect(await statusOf(successor)).toBe(200);
    const lock = await lockQuota(lead);
    expectError(await rotate(lead, {}), 409, 'conflict', expect.stringMatching(/^The key was rotated alre/));
    const full = { name: 'x', scopes: ['orders:read'] };
    expectError(await sendBy(lead, 'POST /v1/keys', full), 400, 'invalid_request');
    await lock.letGo();
  });
});

describe('POST /v1/key/rotate of a leaked key', () => {
  it('ends a key that its thief rotated first, and returns a successor of the newest', async () => {
    const key = await issueLead({ name: 'Shop' });
    const stolen = (await rotate(key, { overlapSeconds: YEAR_SECONDS })).json;
    // What the old key reports may come from its thief, so it lives no longer than that key did.
    const expiresAt = stolen.overlapEndsAt;
    const newest = (await rotate(stolen, { overlapSeconds: YEAR_SECONDS })).json;
    const issued = await issueBy(newest);
    const response = await rotate(key);
    expect(response.status).toBe(201);
    expect(await find(response.json)).toMatchObject({
      name: 'Shop',
      state: 'active',
      scopes: SCOPES,
      expiresAt,
      predecessorId: newest.id,
    });
    expect(await statesOf([key, stolen, newest, issued])).toEqual(Array(4).fill('revoked'));
    await eventually(async () => expect(await statusOf(newest)).toBe(401));
    expect(await statusOf(response.json)).toBe(200);
    const actions = (await listEvents(newest)).map(({ action }) => action);
    expect(actions.slice(0, 2)).toEqual(['key.rotated', 'key.revoked']);
  });

  it('returns a key that may do no more than the old one and the newest', async () => {
    const key = await issueLead({ allowedNetworks: ['127.0.0.0/8'] });
    const next = (await rotate(key, {})).json;
    await admin.send(`PATCH /admin/keys/${key.id}`, { scopes: ['pets:read', 'pets:write'] });
    await admin.send(`PATCH /admin/keys/${next.id}`, {
      scopes: ['pets:read', 'keys:write'],
      allowedNetworks: ['127.0.0.1/32'],
    });
    const { json } = await rotate(key);
    expect(await find(json)).toMatchObject({ scopes: ['pets:read'], allowedNetworks: ['127.0.0.1/32'] });
  });

  it('ends the key without a new one after 20 rotations in a day, and no other', async () => {
    const lead = await issueLead();
    const other = await issueBy(lead);
    let key: Keyed = await issueBy(lead);
    for (let rotation = 0; rotation < 20; rotation += 1) {
      const response = await rotate(key);
      expect(response.status).toBe(201);
      key = response.json;
    }
    const denied = await rotate(key);
    expectError(denied, 409, 'conflict', expect.stringMatching(NO_KEY_MESSAGE));
    expect(denied.json.message).toMatch(/rotated 20 times today, .* Ask an administrator for one\.$/);
    expectRateLimitHeaders(denied);
    expect(await statesOf([key, other])).toEqual(['revoked', 'active']);
    expect((await listEvents(key))[0]).toMatchObject({ action: 'key.revoked', actor: { id: key.id } });
    expect((await rotate(other)).status).toBe(201);
  });

  it('issues no key if an administrator revoked the newest one', async () => {
    const key = await issueLead();
    const next = (await rotate(key, {})).json;
    await admin.send(`POST /admin/keys/${next.id}/revoke`);
    expectError(await rotate(key), 409, 'conflict', expect.stringMatching(NO_KEY_MESSAGE));
    expect(await statesOf([key, next])).toEqual(['revoked', 'revoked']);
  });

  it('ends what its thief derived from it while the request waited', async () => {
    const lead = await issueLead();
    const next = await rotate(lead, {});
    await admin.send(`PATCH /admin/keys/${next.json.id}`, { note: 'cached' });
    const lock = await lockQuota(lead, `UPDATE api_keys SET revoked_at = now() WHERE id = '${lead.id}'`);
    const replaced = rotate(lead);
    await eventually(() => expectLocksWaitedFor(admin.store.database, 1));
    await lock.letGo();
    expectError(await replaced, 409, 'conflict', expect.stringMatching(NO_KEY_MESSAGE));
    expect(await findValid(lead)).toEqual([]);
  });
});

describe('PATCH /admin/keys/{id} of scopes and networks', () => {
  it('restricts what the key and its predecessors issued, with an audit event each', async () => {
    const lead = await issueLead();
    const issued = await issueBy(lead, { allowedNetworks: ['10.1.0.0/16', '192.0.2.0/24'] });
    const anywhere = await issueBy(lead, { scopes: ['pets:write'] });
    const ended = await issueBy(lead);
    await revoke(lead, ended);
    const next = (await rotate(lead, {})).json;
    const changes = { scopes: ['pets:read', 'keys:write'], allowedNetworks: ['10.0.0.0/8', '192.0.2.7/32'] };
    expect((await admin.send(`PATCH /admin/keys/${next.id}`, changes)).json).toMatchObject(changes);
    const narrow = { scopes: ['pets:read'], allowedNetworks: ['10.1.0.0/16', '192.0.2.7/32'] };
    expect(await find(issued)).toMatchObject(narrow);
    expect(await find(anywhere)).toMatchObject({ scopes: [], allowedNetworks: changes.allowedNetworks });
    expect(await find(ended)).toMatchObject({ scopes: ['pets:read', 'pets:write'], allowedNetworks: null });
    expect(await find(lead)).toMatchObject({ scopes: SCOPES, allowedNetworks: null });
    expect((await listEvents(issued))[0]).toMatchObject({
      action: 'key.updated',
      actor: { id: admin.administrator.id },
      before: {
        scopes: ['pets:read', 'pets:write'],
        allowedNetworks: ['10.1.0.0/16', '192.0.2.0/24'],
      },
      after: narrow,
    });
  });

  it('reaches what was issued before a restriction that an earlier version stored', async () => {
    const lead = await issueLead();
    const issued = await issueBy(lead, { scopes: ['pets:read', 'pets:write'] });
    const scopes = ['pets:read', 'keys:write'];
    await admin.store.database.query('UPDATE api_keys SET scopes = $2 WHERE id = $1', [lead.id, scopes]);
    await admin.send(`PATCH /admin/keys/${lead.id}`, { scopes });
    expect(await find(issued)).toMatchObject({ scopes: ['pets:read'] });
  });

  it('leaves what a successor issued', async () => {
    const lead = await issueLead();
    const next = (await rotate(lead, {})).json;
    const issued = await issueBy(next, { scopes: ['pets:read'] });
    await admin.send(`PATCH /admin/keys/${lead.id}`, { scopes: [] });
    expect(await find(issued)).toMatchObject({ scopes: ['pets:read'] });
  });

  it('widens nothing, and leaves what does not change', async () => {
    const lead = await issueLead();
    const allowedNetworks = ['10.1.0.0/16'];
    const issued = await issueBy(lead, { scopes: ['pets:read', 'pets:write'], allowedNetworks });
    await admin.send(`PATCH /admin/keys/${issued.id}`, { scopes: ['pets:write'] });
    const wide = { name: 'Wide', scopes: SCOPES, allowedNetworks: ['10.0.0.0/8'] };
    expect((await admin.send(`PATCH /admin/keys/${lead.id}`, wide)).status).toBe(200);
    expect(await find(issued)).toMatchObject({
      name: 'team',
      scopes: ['pets:write'],
      allowedNetworks,
    });
    expect((await listEvents(issued)).map(({ action }) => action)).toEqual(['key.updated', 'key.issued']);
  });
});

describe('POST /v1/keys', () => {
  it('counts the keys that a lead issued in a day apart from those of another on its quota', async () => {
    const lead = await issueLead();
    const other = await admin.issue({ plan: undefined, scopes: SCOPES, quotaId: lead.quotaId });
    await admin.store.database.query(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four, created_at, revoked_at, issuer_id)
       SELECT gen_random_uuid(), $1, 'x', sha256(($2 || n)::bytea), 'ask_test_', '0000', $3, $3, $2::uuid
       FROM generate_series(1, 100) n`,
      [lead.quotaId, lead.id, new Date(admin.store.clock.now())],
    );
    const next = (await rotate(lead, {})).json;
    for (const key of [lead, next]) {
      const denied = await sendBy(key, 'POST /v1/keys', { name: 'x' });
      expectError(denied, 409, 'conflict', expect.stringMatching(/^Your key, .* issued 100 keys today\./));
    }
    expect((await sendBy(other, 'POST /v1/keys', { name: 'x' })).status).toBe(201);
  });
});
