import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiKeyCache } from '../src/auth/api-key-cache.js';
import { generateApiKey, hashApiKey } from '../src/auth/api-key.js';
import { ApiKeyChangeListener } from '../src/auth/api-key-change-listener.js';
import { PrismaService } from '../src/database/prisma.service.js';
import { QueryRunner } from '../src/database/query-runner.js';
import { startApplication, type TestApplication } from './support/application.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { type Answer, send } from './support/http.js';
import { issueKey } from './support/keys.js';
import { until } from './support/eventually.js';

const DESCRIPTIONS = {
  malformed: 'The API key is malformed; check that it was copied whole',
  spaces: 'The API key is malformed; a bearer token has no spaces',
  otherEnvironment: 'The API key is for another environment; this is staging',
  unknown: 'The API key is unknown',
  revoked: 'The API key was revoked',
  expired: 'The API key has expired',
};

/** What a refusal tells its client. */
const told = ({ status, headers, json }: Answer) => ({
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
  let store: TestApplication;
  let pets: string;
  let key: string;

  beforeAll(async () => {
    store = await startApplication();
    pets = `${store.url}/v1/pets`;
    ({ key } = await store.issue({ plan: 'business' }));
  });
  afterAll(() => store.close());

  const withAuthorization = (Authorization: string) => send(pets, { headers: { Authorization } });

  describe('a request without a bearer credential is 401 missing_api_key, with a challenge that names no error', () => {
    it.each([
      ['no Authorization header', {}],
      ['another scheme', { Authorization: 'Basic c3RvcmU6c2VjcmV0' }],
      ['the key without a scheme', { Authorization: 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBps' }],
      ['a scheme that begins like Bearer', { Authorization: 'Bearers ask_test_x' }],
      ['Bearer alone', { Authorization: 'Bearer' }],
      ['the key in a header of its own', { 'X-Api-Key': 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBps' }],
    ])('%s', async (_what, headers) => {
      expect(told(await send(pets, { headers: { ...headers } }))).toEqual(MISSING);
    });

    it('a valid key in the query', async () => {
      expect(told(await send(`${pets}?access_token=${key}`))).toEqual(MISSING);
    });

    it('a valid key in the body, as JSON or as a form, which adds no animal', async () => {
      const body = { access_token: key, name: 'Rex', categoryId: 7 };
      expect(told(await send(pets, { method: 'POST', body }))).toEqual(MISSING);
      expect(
        told(
          await send(pets, {
            method: 'POST',
            headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
            body: `access_token=${key}`,
          }),
        ),
      ).toEqual(MISSING);
      expect(await store.database.query('SELECT id FROM pets')).toEqual([]);
    });

    it('whatever else is wrong: an unknown path, another method, a body that is no JSON or too large', async () => {
      expect(told(await send(`${store.url}/v1/nothing`))).toEqual(MISSING);
      expect(told(await send(pets, { method: 'DELETE' }))).toEqual(MISSING);
      expect(told(await send(pets, { method: 'POST', body: '{' }))).toEqual(MISSING);
      expect(told(await send(pets, { method: 'POST', body: `"${'x'.repeat(70_000)}"` }))).toEqual(MISSING);
      expect(told(await send(`${store.url}/v1/%zz`))).toEqual(MISSING);
      expect(told(await send(`${store.url}/admin/keys`))).toEqual(MISSING);
    });
  });

  describe('a request with a bearer credential that is no valid key is 401 invalid_api_key, and the challenge says why', () => {
    it.each([
      ['a word', 'letmein'],
      ['a key cut short', 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBp'],
      ['a wrong checksum', 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBpt'],
      ['a token with quotes, which must not break out of the challenge', '"x",realm="elsewhere"'],
    ])('malformed: %s', async (_what, token) => {
      expect(told(await withAuthorization(`Bearer ${token}`))).toEqual(invalid(DESCRIPTIONS.malformed));
    });

    it('two words after the scheme', async () => {
      expect(told(await withAuthorization('Bearer a b'))).toEqual(invalid(DESCRIPTIONS.spaces));
      expect(told(await withAuthorization(`Bearer ${key} ${key}`))).toEqual(invalid(DESCRIPTIONS.spaces));
    });

    it('the other environment', async () => {
      expect(told(await send(pets, { key: generateApiKey('production') }))).toEqual(
        invalid(DESCRIPTIONS.otherEnvironment),
      );
    });

    it('unknown, though well-formed', async () => {
      expect(told(await send(pets, { key: generateApiKey('staging') }))).toEqual(
        invalid(DESCRIPTIONS.unknown),
      );
    });

    it('revoked', async () => {
      const revoked = await store.issue();
      await store.database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [revoked.id]);
      expect(told(await send(pets, { key: revoked.key }))).toEqual(invalid(DESCRIPTIONS.revoked));
    });

    it('revoked by one whose clock is ahead of ours', async () => {
      const { id, key: revoked } = await store.issue();
      await store.database.query("UPDATE api_keys SET revoked_at = now() + '1 hour' WHERE id = $1", [id]);
      expect(told(await send(pets, { key: revoked }))).toEqual(invalid(DESCRIPTIONS.revoked));
    });

    it('expired, from the very instant on', async () => {
      const expiresAt = new Date(store.clock.now() + 3_600_000);
      const expiring = await store.issue({ expiresAt });
      expect((await send(pets, { key: expiring.key })).status).toBe(200);
      store.clock.stopAt(new Date(expiresAt.getTime() - 1));
      expect((await send(pets, { key: expiring.key })).status).toBe(200);
      store.clock.stopAt(expiresAt);
      expect(told(await send(pets, { key: expiring.key }))).toEqual(invalid(DESCRIPTIONS.expired));
      store.clock.goOn();
    });
  });

  describe('a valid key', () => {
    it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('is taken after the scheme %s', async (scheme) => {
      const { status, json } = await withAuthorization(`${scheme} ${key}`);
      expect(status).toBe(200);
      expect(json).toEqual([]);
    });

    it('may stand two spaces after the scheme', async () => {
      expect((await withAuthorization(`Bearer  ${key}`)).status).toBe(200);
    });

    it('wins over another in the query or the body', async () => {
      expect((await send(`${pets}?access_token=letmein`, { key })).status).toBe(200);
      const body = { access_token: 'letmein', name: 'Rex', categoryId: 7 };
      expect((await send(pets, { method: 'POST', key, body })).status).toBe(201);
    });

    it("of an administrator works under /v1 too, on its own plan's numbers", async () => {
      const admin = await store.issue({ role: 'admin', plan: 'business' });
      const { status, headers } = await send(pets, { key: admin.key });
      expect(status).toBe(200);
      expect(headers.get('x-ratelimit-limit')).toBe('1000');
    });

    it('of a client is 403 on /admin, where there is a route and where there is none', async () => {
      for (const path of ['/admin', '/admin/keys', '/admin/nothing', '/%61dmin/keys']) {
        const { status, headers, json } = await send(`${store.url}${path}`, { key });
        expect(status).toBe(403);
        expect(headers.get('x-ratelimit-limit')).toBe('1000');
        expect(json).toEqual({
          code: 'forbidden',
          message: 'This needs an API key whose role is admin.',
          status: 403,
        });
      }
    });

    it('of an administrator passes on /admin: an unknown path there is 404', async () => {
      const admin = await store.issue({ role: 'admin', plan: 'business' });
      const { status, json } = await send(`${store.url}/admin/nothing`, { key: admin.key });
      expect(status).toBe(404);
      expect(json).toEqual({
        code: 'not_found',
        message: expect.stringContaining('/admin/nothing'),
        status: 404,
      });
    });
  });

  describe('what is stored of a key', () => {
    it('is its SHA-256, and what its owner recognises it by: nowhere the key', async () => {
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

  describe('a look-up', () => {
    it('is spared for what cannot be a key of this environment: it is refused though the keys cannot be read', async () => {
      await store.database.query('ALTER TABLE api_keys RENAME TO api_keys_away');
      try {
        expect(told(await send(pets, { key: 'letmein' }))).toEqual(invalid(DESCRIPTIONS.malformed));
        expect(told(await send(pets, { key: `${generateApiKey('staging').slice(0, -1)}-` }))).toEqual(
          invalid(DESCRIPTIONS.malformed),
        );
        expect(told(await send(pets, { key: 'ask_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz04cBpt' }))).toEqual(
          invalid(DESCRIPTIONS.malformed),
        );
        expect(told(await send(pets, { key: generateApiKey('production') }))).toEqual(
          invalid(DESCRIPTIONS.otherEnvironment),
        );
        const { status, json } = await send(pets, { key: generateApiKey('staging') });
        expect(status).toBe(500);
        expect(json).toEqual({
          code: 'internal_error',
          message: expect.not.stringContaining('api_keys'),
          status: 500,
        });
      } finally {
        await store.database.query('ALTER TABLE api_keys_away RENAME TO api_keys');
      }
    });

    it('is not remembered when it found nothing: a key works at once when it is issued', async () => {
      const later = generateApiKey('staging');
      expect(told(await send(pets, { key: later }))).toEqual(invalid(DESCRIPTIONS.unknown));
      await issueKey(store.database, {}, later);
      expect((await send(pets, { key: later })).status).toBe(200);
    });
  });
});

describe('a change of a key holds within a second on every replica', () => {
  let database: TestDatabase;
  let replicas: TestApplication[];

  beforeAll(async () => {
    database = await createDatabase();
    replicas = await Promise.all([startApplication({ database }), startApplication({ database })]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await database.drop();
  });

  /** Asks every replica, without a pause, until all answers are as wanted; gives up after a second. */
  async function untilAll(key: string, isWanted: (answer: Answer) => boolean): Promise<Answer[]> {
    const deadline = performance.now() + 1000;
    let answers: Answer[];
    let askedAt: number;
    do {
      askedAt = performance.now();
      answers = await Promise.all(replicas.map(({ url }) => send(`${url}/v1/pets`, { key })));
    } while (!answers.every(isWanted) && askedAt < deadline);
    return answers;
  }

  it('its revocation, though it was in use until then', async () => {
    const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
    const issued = await (replicas[0] as TestApplication).issue({ plan: 'enterprise', ...limits });
    const before = await untilAll(issued.key, ({ status }) => status === 200);
    expect(before.map(({ status }) => status)).toEqual([200, 200]);
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [issued.id]);
    for (const answer of await untilAll(issued.key, ({ status }) => status === 401)) {
      expect(told(answer)).toEqual(invalid(DESCRIPTIONS.revoked));
    }
  });

  it('another plan, which keeps the counts', async () => {
    await database.query("INSERT INTO plans VALUES ('wide', 1000000, 1000000), ('wider', 2000000, 2000000)");
    const issued = await (replicas[0] as TestApplication).issue({ plan: 'wide' });
    const [quota] = await database.query<{ id: string }>(
      'SELECT quota_id AS id FROM api_keys WHERE id = $1',
      [issued.id],
    );
    await untilAll(issued.key, ({ status }) => status === 200);
    await database.query("UPDATE quotas SET plan = 'wider' WHERE id = $1", [quota?.id]);
    const answers = await untilAll(
      issued.key,
      ({ headers }) => headers.get('x-ratelimit-limit') === '2000000',
    );
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      expect(headers.get('ratelimit-policy')).toBe('"minute";q=2000000;w=60, "day";q=2000000;w=86400');
    }
    const [counter] = await database.query<{ day_used: number }>(
      'SELECT day_used FROM rate_limit_counters WHERE subject = $1',
      [`quota:${quota?.id}`],
    );
    const used = counter?.day_used ?? 0;
    expect(used).toBeGreaterThanOrEqual(4);
    expect(Math.min(...answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining'))))).toBe(
      2_000_000 - used,
    );
  });
});

/** Receives no change, and reports that it is current. */
class DeafListener extends ApiKeyChangeListener {
  override currentUntilMs = Infinity;
}

describe('the directory of keys', () => {
  let database: TestDatabase;
  let prisma: PrismaService;
  let statements: QueryRunner;
  let watch: ApiKeyChangeListener;

  beforeAll(async () => {
    database = await createDatabase();
    prisma = new PrismaService({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 });
    statements = new QueryRunner(prisma);
    watch = new ApiKeyChangeListener({ DATABASE_URL: database.url });
    watch.onModuleInit();
    await until(() => watch.isCurrent);
  });
  afterAll(async () => {
    await watch.onApplicationShutdown();
    await prisma.onApplicationShutdown();
    await database.drop();
  });
  afterEach(() => jest.restoreAllMocks());

  it('sends look-ups that arrive together as one question, and gives each its own answer', async () => {
    const directory = new ApiKeyCache(statements, watch);
    const issued = await Promise.all(Array.from({ length: 20 }, () => issueKey(database)));
    const queries = jest.spyOn(statements, 'run');
    const strangers = Array.from({ length: 20 }, () => randomBytes(32));
    const found = await Promise.all([
      ...issued.map(async ({ key }) => directory.find(hashApiKey(key))),
      ...strangers.map(async (hash) => directory.find(hash)),
    ]);
    expect(found.map((known) => known?.principal.keyId ?? null)).toEqual([
      ...issued.map(({ id }) => id),
      ...strangers.map(() => null),
    ]);
    expect(queries).toHaveBeenCalledTimes(1);
  });

  it('remembers a known key, so that the next request asks nothing', async () => {
    const directory = new ApiKeyCache(statements, watch);
    const { id, key } = await issueKey(database);
    await directory.find(hashApiKey(key));
    const queries = jest.spyOn(statements, 'run');
    expect((await directory.find(hashApiKey(key)))?.principal.keyId).toBe(id);
    expect(queries).not.toHaveBeenCalled();
  });

  it('remembers no key whose change was told while it was looked up', async () => {
    const directory = new ApiKeyCache(statements, watch);
    const { id, key } = await issueKey(database);
    const ask = statements.run.bind(statements);
    jest.spyOn(statements, 'run').mockImplementationOnce(async (...question: Parameters<typeof ask>) => {
      const answer = await ask(...question);
      const { generation } = watch;
      await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
      await until(() => watch.generation > generation);
      return answer;
    });
    expect((await directory.find(hashApiKey(key)))?.revoked).toBe(false);
    expect((await directory.find(hashApiKey(key)))?.revoked).toBe(true);
  });

  it('remembers no key for longer than 10 s from the question on, even if no change is ever told', async () => {
    const directory = new ApiKeyCache(statements, new DeafListener({ DATABASE_URL: database.url }));
    const { id, key } = await issueKey(database);
    let nowMs = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const pass = (ms: number) => {
      nowMs += ms;
    };
    const ask = statements.run.bind(statements);
    jest.spyOn(statements, 'run').mockImplementationOnce(async (...question: Parameters<typeof ask>) => {
      const answer = await ask(...question);
      pass(6000);
      return answer;
    });
    await directory.find(hashApiKey(key));
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    pass(3900);
    expect((await directory.find(hashApiKey(key)))?.revoked).toBe(false);
    pass(200);
    expect((await directory.find(hashApiKey(key)))?.revoked).toBe(true);
  });

  it('remembers no unknown key, and of known ones no more than its bound', async () => {
    const directory = new ApiKeyCache(statements, watch);
    const cache = directory['cache'];
    await Promise.all(Array.from({ length: 1000 }, async () => directory.find(randomBytes(32))));
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
    const found = await Promise.all(rows.map(async ({ hash }) => directory.find(hash)));
    expect(found).not.toContain(null);
    expect(cache.size).toBeLessThanOrEqual(10_000);
  });

  it('holds up no look-up behind one that is slow', async () => {
    const directory = new ApiKeyCache(statements, watch);
    const { id, key } = await issueKey(database);
    jest.spyOn(statements, 'run').mockReturnValueOnce(new Promise(() => {}));
    void directory.find(randomBytes(32));
    await nextTurn();
    expect((await directory.find(hashApiKey(key)))?.principal.keyId).toBe(id);
  });

  it("lets a quota that lacks its numbers spoil its own key's look-up alone", async () => {
    const directory = new ApiKeyCache(statements, watch);
    const good = await issueKey(database);
    const broken = await issueKey(database);
    await database.query(
      "UPDATE quotas SET plan = 'enterprise' WHERE id = (SELECT quota_id FROM api_keys WHERE id = $1)",
      [broken.id],
    );
    const [, ofBroken, ofGood] = await Promise.allSettled([
      directory.find(randomBytes(32)),
      directory.find(hashApiKey(broken.key)),
      directory.find(hashApiKey(good.key)),
    ]);
    expect(ofBroken).toMatchObject({ status: 'rejected' });
    expect(ofGood).toMatchObject({ status: 'fulfilled', value: { principal: { keyId: good.id } } });
  });
});
