import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiKeyCache } from '../../src/auth/api-key-cache.js';
import { DatabaseClock } from '../../src/database/access/database-clock.js';
import { generateApiKey, hashApiKey } from '../../src/auth/rules/api-key.js';
import { ApiKeyChangeListener } from '../../src/auth/api-key-change-listener.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { TestClock } from '../support/time/clock.js';
import { useApplication } from '../support/service/application.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { head, sendRaw, toHttpResponse } from '../support/http/raw-http.js';
import { issueKey } from '../support/keys/keys.js';
import { until } from '../support/eventually.js';
import { whileBroken } from '../support/database/broken-table.js';

const MARGIN_MS = 250;
const DESCRIPTIONS = {
  malformed: 'The API key is malformed; check that it was copied whole',
  spaces: 'The API key is malformed; a bearer token has no spaces',
  otherEnvironment: 'The API key is for another environment; this is staging',
  unknown: 'The API key is unknown',
  revoked: 'The API key was revoked',
  expired: 'The API key has expired',
};

/** The parts of a 401 response that its client relies on. */
const summarize = ({ status, headers, json }: HttpResponse) => ({
  status,
  challenge: headers.get('www-authenticate'),
  type: headers.get('content-type'),
  limit: headers.get('x-ratelimit-limit'),
  body: json,
});

const MISSING = {
  status: 401,
  challenge: 'Bearer realm="animal-store"',
  type: expect.stringMatching(/^application\/json/),
  limit: '300',
  body: {
    code: 'missing_api_key',
    message: 'An API key is required. Send it in the header "Authorization: Bearer <API_KEY>".',
    status: 401,
  },
};

const invalid = (description: string) => ({
  status: 401,
  challenge: `Bearer realm="animal-store", error="invalid_token", error_description="${description}"`,
  type: expect.stringMatching(/^application\/json/),
  limit: '300',
  body: { code: 'invalid_api_key', message: `${description}.`, status: 401 },
});

describe('authentication', () => {
  const store = useApplication();
  let pets: string;
  let key: string;

  beforeAll(async () => {
    pets = `${store.url}/v1/pets`;
    ({ key } = await store.issue({ plan: 'business' }));
  });

  const withAuthorization = (Authorization: string) => send(pets, { headers: { Authorization } });

  describe('a request with several credentials', () => {
    const REPEATED = {
      ...MISSING,
      status: 400,
      challenge: 'Bearer realm="animal-store", error="invalid_request"',
      body: {
        code: 'invalid_request',
        message: 'Send one Authorization header, with one API key.',
        status: 400,
      },
    };
    const other = 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBps';

    it.each<[string, (own: string) => string[]]>([
      ['two headers', (own) => [`Authorization: Bearer ${own}`, `Authorization: Bearer ${other}`]],
      ['the valid one last', (own) => [`Authorization: Bearer ${other}`, `Authorization: Bearer ${own}`]],
      ['the same twice', (own) => [`Authorization: Bearer ${own}`, `Authorization: Bearer ${own}`]],
      ['names in another case', (own) => [`authorization: bearer ${own}`, `AUTHORIZATION: Basic eDp5`]],
      ['an empty one', (own) => ['Authorization:', 'X-Other: Authorization', `Authorization: Bearer ${own}`]],
      ['two in one header', (own) => [`Authorization: Bearer ${own}, Bearer ${other}`]],
      ['two in one header without a space', (own) => [`Authorization: Bearer ${own},Basic eDp5`]],
    ])('returns 400, and counts against the address: %s', async (_what, headers) => {
      const used = async () => (await send(`${store.url}/v1/rate-limit`, { key })).json.windows[0].remaining;
      const before = await used();
      const request = head('GET /v1/pets', ...headers(key), 'Connection: close');
      expect(summarize(toHttpResponse(await sendRaw(store.url, request)))).toEqual(REPEATED);
      expect(await used()).toBe(before);
    });

    it('accepts a header whose value is Authorization, and other schemes with lists', async () => {
      const request = head('GET /v1/pets', 'X-Header: Authorization', `Authorization: Bearer ${key}`);
      const one = await sendRaw(store.url, request.replace('Host: x', 'Host: x\r\nConnection: close'));
      expect(one.status).toBe(200);
      const digest = 'Digest username="x", realm="a, b", uri="/"';
      expect(summarize(await withAuthorization(digest))).toEqual(MISSING);
    });
  });

  describe('a request without a bearer credential', () => {
    it.each([
      ['no Authorization header', {}],
      ['another scheme', { Authorization: 'Basic c3RvcmU6c2VjcmV0' }],
      ['a key without a scheme', { Authorization: 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBps' }],
      ['a scheme that begins like Bearer', { Authorization: 'Bearers ask_test_x' }],
      ['an empty Authorization header', { Authorization: '' }],
      ['Bearer alone', { Authorization: 'Bearer' }],
      ['Bearer and a space', { Authorization: 'Bearer ' }],
      ['a key in another header', { 'X-Api-Key': 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBps' }],
    ])('returns 401 missing_api_key, whose challenge has no error: %s', async (_what, headers) => {
      expect(summarize(await send(pets, { headers: { ...headers } }))).toEqual(MISSING);
    });

    it('returns 401 missing_api_key for a valid key in the query', async () => {
      expect(summarize(await send(`${pets}?access_token=${key}`))).toEqual(MISSING);
    });

    it('returns 401 missing_api_key for a valid key in a JSON or form body, and adds no animal', async () => {
      const body = { access_token: key, name: 'Rex', categoryId: 7 };
      expect(summarize(await send(pets, { method: 'POST', body }))).toEqual(MISSING);
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const form = await send(pets, { method: 'POST', headers, body: `access_token=${key}` });
      expect(summarize(form)).toEqual(MISSING);
      expect(await store.database.query('SELECT id FROM pets')).toStrictEqual([]);
    });
  });

  describe('a request with an invalid bearer credential', () => {
    it.each([
      ['a word', 'letmein'],
      ['a truncated key', 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBp'],
      ['a wrong checksum', 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBpt'],
      ['a token with quotes, which must not break out of the challenge', '"x",realm="elsewhere"'],
    ])('returns 401 invalid_api_key with a challenge that says malformed: %s', async (_what, token) => {
      expect(summarize(await withAuthorization(`Bearer ${token}`))).toEqual(invalid(DESCRIPTIONS.malformed));
    });

    it.each<[string, () => string, string]>([
      ['two words', () => 'let mein', DESCRIPTIONS.spaces],
      ['a valid key twice', () => `${key} ${key}`, DESCRIPTIONS.spaces],
      ['a key of the other environment', () => generateApiKey('production'), DESCRIPTIONS.otherEnvironment],
      ['an unknown key', () => generateApiKey('staging'), DESCRIPTIONS.unknown],
    ])('returns 401 invalid_api_key with the reason, without the token: %s', async (_what, token, reason) => {
      const sent = token();
      const response = await send(pets, { key: sent });
      expect(summarize(response)).toEqual(invalid(reason));
      expect(JSON.stringify([...response.headers])).not.toContain(sent);
    });

    it.each([
      ['a revoked key', 'now()'],
      ['a key revoked by a process whose clock is ahead', "now() + '1 hour'"],
    ])('returns 401 invalid_api_key for %s', async (_what, revokedAt) => {
      const { id, key: revoked } = await store.issue();
      await store.database.query(`UPDATE api_keys SET revoked_at = ${revokedAt} WHERE id = $1`, [id]);
      expect(summarize(await send(pets, { key: revoked }))).toEqual(invalid(DESCRIPTIONS.revoked));
    });

    it('returns 401 invalid_api_key for an expired key, from the instant of expiry', async () => {
      const expiresAt = new Date(store.clock.now() + 3_600_000);
      const expiring = await store.issue({ expiresAt });
      expect((await send(pets, { key: expiring.key })).status).toBe(200);
      // The margin is for the time of the look-up, by which the replica follows the clock of the database.
      store.clock.travelTo(new Date(expiresAt.getTime() - MARGIN_MS));
      expect((await send(pets, { key: expiring.key })).status).toBe(200);
      store.clock.travelTo(new Date(expiresAt.getTime() + MARGIN_MS));
      expect(summarize(await send(pets, { key: expiring.key }))).toEqual(invalid(DESCRIPTIONS.expired));
    });
  });

  describe('a valid key', () => {
    it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer '])(
      'is accepted after the scheme "%s" and a space',
      async (scheme) => {
        const { status, json } = await withAuthorization(`${scheme} ${key}`);
        expect(status).toBe(200);
        expect(json).toStrictEqual([]);
      },
    );

    it('takes precedence over another in the query or the body', async () => {
      expect((await send(`${pets}?access_token=letmein`, { key })).status).toBe(200);
      const body = { access_token: 'letmein', name: 'Rex', categoryId: 7 };
      expect((await send(pets, { method: 'POST', key, body })).status).toBe(201);
    });

    it("is accepted under /v1 too if it is an administrator's, on the limits of its own plan", async () => {
      const admin = await store.issue({ role: 'admin', plan: 'business' });
      const { status, headers } = await send(pets, { key: admin.key });
      expect(status).toBe(200);
      expect(headers.get('x-ratelimit-limit')).toBe('1000');
    });

    it("gets 403 under /admin if it is a client's, whether or not there is a route", async () => {
      for (const path of ['/admin', '/admin/', '/admin/nothing', '/%61dmin/keys', '/admin/%zz']) {
        for (const init of [{}, { method: 'DELETE' }, { method: 'POST', body: '{' }]) {
          const response = await send(`${store.url}${path}`, { key, ...init });
          expectError(response, 403, 'forbidden', 'This needs an API key whose role is admin.');
          expectRateLimitHeaders(response);
        }
      }
    });

    it("is accepted under /admin if it is an administrator's: an unknown path there is 404", async () => {
      const admin = await store.issue({ role: 'admin', plan: 'business' });
      const response = await send(`${store.url}/admin/nothing`, { key: admin.key });
      expectError(response, 404, 'not_found', expect.stringContaining('/admin/nothing'));
      expectRateLimitHeaders(response);
    });
  });

  describe('the stored key', () => {
    it('is its SHA-256 with prefix and last four characters, and never the key itself', async () => {
      const issued = await store.issue({ name: 'warehouse' });
      const [row] = await store.database.query<Record<string, unknown>>(
        'SELECT * FROM api_keys WHERE id = $1',
        [issued.id],
      );
      expect(row).toMatchObject({
        name: 'warehouse',
        hash: createHash('sha256').update(issued.key).digest(),
        prefix: 'ask_test_',
        last_four: issued.key.slice(-4),
      });
      const secret = issued.key.slice('ask_test_'.length);
      const tables = ['api_keys', 'quotas', 'rate_limit_counters'];
      for (const table of tables) {
        const rows = await store.database.query(`SELECT t::text AS line FROM ${table} t`);
        expect(JSON.stringify(rows)).not.toContain(secret);
      }
    });
  });

  describe('the look-up of a key', () => {
    it('is skipped for a key of another environment: it gets 401 even if keys cannot be read', async () => {
      await whileBroken(store.database, 'api_keys', async () => {
        for (const malformed of ['letmein', 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBpt']) {
          expect(summarize(await send(pets, { key: malformed }))).toEqual(invalid(DESCRIPTIONS.malformed));
        }
        expect(summarize(await send(pets, { key: generateApiKey('production') }))).toEqual(
          invalid(DESCRIPTIONS.otherEnvironment),
        );
        expectError(
          await send(pets, { key: generateApiKey('staging') }),
          500,
          'internal_error',
          expect.not.stringContaining('api_keys'),
        );
      });
    });

    it('does not cache unknown keys, so a key works as soon as it is issued', async () => {
      const later = generateApiKey('staging');
      expect(summarize(await send(pets, { key: later }))).toEqual(invalid(DESCRIPTIONS.unknown));
      await issueKey(store.database, {}, later);
      expect((await send(pets, { key: later })).status).toBe(200);
    });
  });
});

/** Receives no notification, and reports that the cache is current. */
class SilentListener extends ApiKeyChangeListener {
  override currentUntilMs = Infinity;
}

describe('ApiKeyCache', () => {
  let database: TestDatabase;
  let prisma: PrismaService;
  let listener: ApiKeyChangeListener;
  let apiKeyCache: ApiKeyCache;
  const clock = new TestClock();

  beforeAll(async () => {
    database = await createDatabase();
    prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 });
    listener = new ApiKeyChangeListener({ DATABASE_URL: database.url });
    listener.onModuleInit();
    await until(() => listener.isCurrent);
  });
  afterAll(async () => {
    await listener.onApplicationShutdown();
    await prisma.onApplicationShutdown();
    await database.drop();
  });
  beforeEach(() => {
    apiKeyCache = new ApiKeyCache(prisma, listener, clock, new DatabaseClock(clock));
  });
  afterEach(() => jest.restoreAllMocks());

  /** Has the next query for keys run `after` before its rows are used. */
  function onceFound(after: () => unknown): void {
    const run = prisma.sql.query.bind(prisma.sql);
    jest.spyOn(prisma.sql, 'query').mockImplementationOnce(async (...args: Parameters<typeof run>) => {
      const rows = await run(...args);
      await after();
      return rows;
    });
  }
  const revoke = (id: string) => database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
  const isRevoked = async (key: string) => (await apiKeyCache.find(hashApiKey(key)))?.revoked;

  it('combines concurrent look-ups into one query, and returns to each its own result', async () => {
    const issued = await Promise.all(Array.from({ length: 5 }, () => issueKey(database)));
    const queries = jest.spyOn(prisma.sql, 'query');
    const unknownHashes = Array.from({ length: 20 }, () => randomBytes(32));
    const found = await Promise.all([
      ...issued.map(async ({ key }) => apiKeyCache.find(hashApiKey(key))),
      ...unknownHashes.map(async (hash) => apiKeyCache.find(hash)),
    ]);
    expect(found.map((known) => known?.principal.keyId ?? null)).toEqual([
      ...issued.map(({ id }) => id),
      ...unknownHashes.map(() => null),
    ]);
    expect(queries).toHaveBeenCalledTimes(1);
  });

  it('caches a key for at most 10 s from its query, even when no change is notified', async () => {
    apiKeyCache = new ApiKeyCache(
      prisma,
      new SilentListener({ DATABASE_URL: database.url }),
      clock,
      new DatabaseClock(clock),
    );
    const { id, key } = await issueKey(database);
    let nowMs = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    onceFound(() => (nowMs += 6000));
    await apiKeyCache.find(hashApiKey(key));
    await revoke(id);
    nowMs += 3900;
    expect(await isRevoked(key)).toBe(false);
    nowMs += 200;
    expect(await isRevoked(key)).toBe(true);
  });

  it('bounds the number of cached keys, of which none is unknown', async () => {
    const cache = apiKeyCache['cache'];
    await apiKeyCache.find(randomBytes(32));
    expect(cache.size).toBe(0);
    const [quota] = await database.query<{ id: string }>(
      "INSERT INTO quotas (id, plan) VALUES (gen_random_uuid(), 'free') RETURNING id",
    );
    const rows = await database.query<{ hash: Buffer }>(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
       SELECT gen_random_uuid(), $1, 'many', sha256(n::text::bytea), 'ask_test_', '0000'
       FROM generate_series(1, 11000) n
       RETURNING hash`,
      [quota?.id],
    );
    const found = await Promise.all(rows.map(async ({ hash }) => apiKeyCache.find(hash)));
    expect(found).not.toContain(null);
    expect(cache.size).toBeLessThanOrEqual(10_000);
  });

  it('does not cache a key that changed during its look-up', async () => {
    const { id, key } = await issueKey(database);
    onceFound(async () => {
      const { generation } = listener;
      await revoke(id);
      await until(() => listener.generation > generation);
    });
    expect(await isRevoked(key)).toBe(false);
    expect(await isRevoked(key)).toBe(true);
  });

  it('does not delay a look-up behind a slow one', async () => {
    const { id, key } = await issueKey(database);
    jest.spyOn(prisma.sql, 'query').mockReturnValueOnce(new Promise(() => {}));
    void apiKeyCache.find(randomBytes(32));
    await nextTurn();
    expect((await apiKeyCache.find(hashApiKey(key)))?.principal.keyId).toBe(id);
  });

  it('rejects only the look-up of a key whose own quota lacks its limits', async () => {
    const good = await issueKey(database);
    const broken = await issueKey(database);
    await database.query(
      "UPDATE quotas SET plan = 'enterprise' WHERE id = (SELECT quota_id FROM api_keys WHERE id = $1)",
      [broken.id],
    );
    const [, ofBroken, ofGood] = await Promise.allSettled([
      apiKeyCache.find(randomBytes(32)),
      apiKeyCache.find(hashApiKey(broken.key)),
      apiKeyCache.find(hashApiKey(good.key)),
    ]);
    expect(ofBroken).toMatchObject({ status: 'rejected' });
    expect(ofGood).toMatchObject({ status: 'fulfilled', value: { principal: { keyId: good.id } } });
  });
});
