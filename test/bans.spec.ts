import { generateApiKey, hashApiKey, keyHints } from '../src/auth/rules/api-key.js';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { CounterStore } from '../src/rate-limit/stores/counter-store.js';
import { startApplication, type TestApplication } from './support/application.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { type HttpResponse, send } from './support/http.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Half a minute into a minute, and late enough in its second that rounding cannot reach the next. */
const HALF_PAST = new Date('2027-03-05T12:34:30.100Z');
/** The end of a one-minute ban that starts at `HALF_PAST`, in whole seconds. */
const BAN_END = '2027-03-05T12:35:31Z';
const SECONDS_OF_DAY_LEFT = 41_130;

const unixSeconds = (instant: string) => String(Date.parse(instant) / 1000);
const header = (name: string) => (response: HttpResponse | undefined) => response?.headers.get(name);
const retryAfter = (response: HttpResponse | undefined) => Number(header('retry-after')(response));
const codeOf = ({ status, json }: HttpResponse): string => (status === 429 ? json.code : String(status));
const refusalsLeft = ({ json }: HttpResponse) =>
  Number(/\b(\d+) refusals? remains? within this minute\b/.exec(json.message)?.[1]);
const times = (count: number, text: string) => Array<string>(count).fill(text);
const descending = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index);

let database: TestDatabase;
let store: TestApplication;
let replica: TestApplication;

beforeAll(async () => {
  database = await createDatabase();
  [store, replica] = await Promise.all([startApplication({ database }), startApplication({ database })]);
});
beforeEach(() => travelTo(HALF_PAST));
afterAll(async () => {
  await Promise.all([store.close(), replica.close()]);
  await database.drop();
});

function travelTo(instant: Date): void {
  store.clock.travelTo(instant);
  replica.clock.travelTo(instant);
}

/** Issues a key whose quota has its own limits. */
const issue = (perMinute: number, perDay = 100_000) => store.issue({ plan: 'enterprise', perMinute, perDay });

const listPets = ({ key }: IssuedKey, from = store) => send(`${from.url}/v1/pets`, { key });

/** Sends `count` requests one after another at one instant, so that a slow machine does not reach the next second. */
async function listPetsTimes(issued: IssuedKey, count: number, from = store): Promise<HttpResponse[]> {
  const instant = new Date(store.clock.now());
  const responses: HttpResponse[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    travelTo(instant);
    responses.push(await listPets(issued, from));
  }
  return responses;
}

/** Sends requests until the key is banned, and returns the response that started the ban. */
async function provokeBan(issued: IssuedKey): Promise<HttpResponse> {
  const responses = await listPetsTimes(issued, (issued.perMinute ?? 0) * 2);
  expect(responses.map(codeOf)).toEqual([
    ...times(issued.perMinute ?? 0, '200'),
    ...times((issued.perMinute ?? 0) - 1, 'rate_limit_exceeded'),
    'api_key_banned',
  ]);
  return responses.at(-1) as HttpResponse;
}

/** Returns the instant at which a ban ends, from the response that started it. */
const endOf = (starter: HttpResponse) => new Date(Number(header('x-ratelimit-reset')(starter)) * SECOND_MS);

/** Returns the key of the bucket in which the requests of a key are counted. */
async function bucketKeyOf({ id }: IssuedKey): Promise<string> {
  const [row] = await database.query<{ subject: string }>(
    `SELECT 'quota:' || quota_id AS subject FROM api_keys WHERE id = $1`,
    [id],
  );
  return row?.subject ?? '';
}

async function counterOf(issued: IssuedKey): Promise<Record<string, unknown> | undefined> {
  const [row] = await database.query(
    'SELECT minute_used, day_used, refusals, banned_until, ban_step FROM rate_limit_counters WHERE subject = $1',
    [await bucketKeyOf(issued)],
  );
  return row;
}

describe('before a ban', () => {
  it('reports in each 429 how many refusals remain until a ban; waiting for Retry-After prevents it', async () => {
    const issued = await issue(3);
    const denied = (await listPetsTimes(issued, 5)).slice(3);
    expect(denied.map(codeOf)).toEqual(times(2, 'rate_limit_exceeded'));
    expect(denied.map(({ json }) => json.message)).toEqual([
      'Over the limit of 3 requests per minute of plan enterprise. Wait 30 seconds before the next request. ' +
        '2 refusals remain within this minute until the API key is banned.',
      'Over the limit of 3 requests per minute of plan enterprise. Wait 30 seconds before the next request. ' +
        '1 refusal remains within this minute until the API key is banned.',
    ]);
    travelTo(new Date(HALF_PAST.getTime() + retryAfter(denied[1]) * SECOND_MS));
    expect((await listPetsTimes(issued, 5)).map(codeOf)).toEqual([
      ...times(3, '200'),
      ...times(2, 'rate_limit_exceeded'),
    ]);
  });

  it('never bans a client that has fewer requests in flight than its limit and waits for Retry-After', async () => {
    const issued = await issue(5, 60);
    for (let round = 0; round < 20; round += 1) {
      const responses = await Promise.all(Array.from({ length: 4 }, () => listPets(issued)));
      expect(responses.map(codeOf)).not.toContain('api_key_banned');
      const waits = responses.filter(({ status }) => status === 429).map(retryAfter);
      travelTo(new Date(store.clock.now() + Math.max(0, ...waits) * SECOND_MS));
    }
    expect(await counterOf(issued)).toMatchObject({ banned_until: null, ban_step: 0 });
  });
});

describe('a ban', () => {
  it('starts with the refusal that reaches the limit per minute: the 120th request in a minute on plan free', async () => {
    const issued = await store.issue({ plan: 'free' });
    const responses = await listPetsTimes(issued, 122);
    expect(responses.map(codeOf)).toEqual([
      ...times(60, '200'),
      ...times(59, 'rate_limit_exceeded'),
      ...times(3, 'api_key_banned'),
    ]);
    expect(responses.slice(60, 119).map(refusalsLeft)).toEqual(descending(59, 1));
  });

  it('returns 429 api_key_banned with its end, the reason and what to do', async () => {
    const issued = await issue(3, 100);
    const starter = await provokeBan(issued);
    for (const response of [starter, await listPets(issued)]) {
      expectError(
        response,
        429,
        'api_key_banned',
        `This API key is banned until ${BAN_END}, because too many requests followed a 429 within one minute. ` +
          'Send none for 60 seconds. After any later 429 wait as Retry-After tells, or the key is banned again.',
      );
      expectRateLimitHeaders(response);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'retry-after': '60',
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': unixSeconds(BAN_END),
        'ratelimit-policy': '"minute";q=3;w=60, "day";q=100;w=86400',
        ratelimit: '"minute";r=0;t=61, "day";r=0;t=61',
      });
    }
  });

  it('is also started by refusals of the day, and reports the end of the ban, not of the day', async () => {
    const issued = await issue(4, 2);
    const responses = await listPetsTimes(issued, 6);
    expect(responses.map(codeOf)).toEqual([
      ...times(2, '200'),
      ...times(3, 'rate_limit_exceeded'),
      'api_key_banned',
    ]);
    expect(responses[2]?.json.message).toBe(
      'Over the limit of 2 requests per day of plan enterprise. Wait 41130 seconds before the next request. ' +
        '3 refusals remain within this minute until the API key is banned.',
    );
    const starter = responses[5] as HttpResponse;
    expect(Object.fromEntries(starter.headers)).toMatchObject({
      'retry-after': '60',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': unixSeconds(BAN_END),
      ratelimit: `"minute";r=0;t=61, "day";r=0;t=${SECONDS_OF_DAY_LEFT}`,
    });
    travelTo(endOf(starter));
    expectError(
      await listPets(issued),
      429,
      'rate_limit_exceeded',
      expect.stringContaining('2 requests per day'),
    );
  });

  it('is not started by refusals spread over two minutes', async () => {
    const issued = await issue(4);
    expect((await listPetsTimes(issued, 7)).map(codeOf)).not.toContain('api_key_banned');
    travelTo(new Date('2027-03-05T12:35:00.100Z'));
    expect((await listPetsTimes(issued, 7)).map(codeOf)).toEqual([
      ...times(4, '200'),
      ...times(3, 'rate_limit_exceeded'),
    ]);
  });

  it('outlasts the minute, after which requests are served as before', async () => {
    const issued = await issue(3, 100);
    const starter = await provokeBan(issued);
    travelTo(new Date('2027-03-05T12:35:28.600Z'));
    const last = await listPets(issued);
    expectError(last, 429, 'api_key_banned', expect.stringContaining(`until ${BAN_END}`));
    expect(retryAfter(last)).toBe(2);
    expect(header('ratelimit')(last)).toBe('"minute";r=0;t=3, "day";r=0;t=3');
    travelTo(endOf(starter));
    const responses = await listPetsTimes(issued, 4);
    expect(responses.map(codeOf)).toEqual([...times(3, '200'), 'rate_limit_exceeded']);
    expect(responses.slice(0, 3).map(header('ratelimit'))).toEqual(
      [2, 1, 0].map((left) => `"minute";r=${left};t=29, "day";r=${94 + left};t=${SECONDS_OF_DAY_LEFT - 61}`),
    );
    expect(refusalsLeft(responses[3] as HttpResponse)).toBe(2);
  });

  it('is not extended by requests sent during it, which use nothing of the windows', async () => {
    const issued = await issue(3, 100);
    const starter = await provokeBan(issued);
    const before = await counterOf(issued);
    for (const waitMs of [0, 15 * SECOND_MS, 45 * SECOND_MS]) {
      travelTo(new Date(HALF_PAST.getTime() + waitMs));
      const responses = await Promise.all(Array.from({ length: 20 }, () => listPets(issued)));
      expect(responses.map(codeOf)).toEqual(times(20, 'api_key_banned'));
      expect(new Set(responses.map(header('x-ratelimit-reset')))).toEqual(new Set([unixSeconds(BAN_END)]));
    }
    expect(await counterOf(issued)).toEqual({ ...before, minute_used: 0 });
    travelTo(endOf(starter));
    const response = await listPets(issued);
    expect(response.status).toBe(200);
    expect(header('ratelimit')(response)).toMatch(/^"minute";r=2;t=29, "day";r=96;/);
  });

  it('is checked before role, path, method, removal and body', async () => {
    const issued = await issue(2);
    await provokeBan(issued);
    const requests: [string, Parameters<typeof send>[1]][] = [
      ['/v1/pets', {}],
      ['/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
      ['/v1/pets', { method: 'POST', body: '{"name":' }],
      ['/v1/pets', { method: 'DELETE' }],
      ['/v1/pets/7', {}],
      ['/v1/nothing', {}],
      ['/v1/%zz', {}],
      ['/admin/keys', {}],
    ];
    for (const [path, init] of requests) {
      travelTo(new Date(HALF_PAST.getTime() + SECOND_MS / 2));
      const response = await send(`${store.url}${path}`, { ...init, key: issued.key });
      expectError(response, 429, 'api_key_banned');
      expectRateLimitHeaders(response);
      expect(retryAfter(response)).toBe(60);
    }
    travelTo(new Date(HALF_PAST.getTime() + SECOND_MS / 2));
    const head = await send(`${store.url}/v1/pets`, { method: 'HEAD', key: issued.key });
    expect([head.status, retryAfter(head), head.text]).toEqual([429, 60, '']);
    expect((await database.query('SELECT 1 FROM pets')).length).toBe(0);
  });

  it('applies to every key of the quota and to no other quota', async () => {
    const [issued, other] = [await issue(2), await issue(2)];
    const second = generateApiKey('staging');
    const { prefix, lastFour } = keyHints(second);
    await database.query(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
       SELECT gen_random_uuid(), quota_id, 'successor', $2, $3, $4 FROM api_keys WHERE id = $1`,
      [issued.id, hashApiKey(second), prefix, lastFour],
    );
    await provokeBan(issued);
    expect(codeOf(await listPets({ ...issued, key: second }))).toBe('api_key_banned');
    expect(codeOf(await listPets(other))).toBe('200');
  });

  it('applies to quotas of administrators too', async () => {
    const issued = await store.issue({
      role: 'admin',
      plan: 'enterprise',
      perMinute: 2,
      perDay: 100,
    });
    await provokeBan(issued);
    expectError(await send(`${store.url}/admin/nothing`, { key: issued.key }), 429, 'api_key_banned');
  });

  it('does not apply to the address of the client, nor to paths that need no key', async () => {
    const issued = await issue(2);
    await provokeBan(issued);
    expectError(await send(`${store.url}/v1/pets`), 401, 'missing_api_key');
    expect((await send(`${store.url}/openapi.json`, { key: issued.key })).status).toBe(200);
    expect((await send(`${store.url}/livez`, { key: issued.key })).status).toBe(200);
  });

  it('never applies to an anonymous client, however many requests it sends', async () => {
    const strict = await startApplication({ environment: { STRANGER_LIMIT: 3 } });
    try {
      strict.clock.travelTo(HALF_PAST);
      const responses: HttpResponse[] = [];
      for (let sent = 0; sent < 12; sent += 1) {
        responses.push(await send(`${strict.url}/v1/pets`));
      }
      expect(responses.map(codeOf)).toEqual([...times(3, '401'), ...times(9, 'rate_limit_exceeded')]);
      expect(responses.filter(({ json }) => /\bban/.test(json.message))).toEqual([]);
      strict.clock.travel(MINUTE_MS);
      expectError(await send(`${strict.url}/v1/pets`), 401, 'missing_api_key');
    } finally {
      await strict.close();
    }
  });
});

describe('ban durations', () => {
  it('are 1 minute, 5 minutes, 1 hour, 24 hours, and 24 hours again', async () => {
    const issued = await issue(2);
    for (const seconds of [60, 300, 3600, 86_400, 86_400]) {
      const starter = await provokeBan(issued);
      expect(retryAfter(starter)).toBe(seconds);
      expect(starter.json.message).toContain(`Send none for ${seconds} seconds.`);
      travelTo(new Date(endOf(starter).getTime() + MINUTE_MS));
    }
  });

  it('fall by one level for each full day without a ban', async () => {
    const issued = await issue(2);
    const waits: [number, number][] = [
      [0, 60],
      [0, 300],
      [DAY_MS - MINUTE_MS, 3600],
      [DAY_MS, 3600],
      [3 * DAY_MS, 60],
    ];
    for (const [waitMs, seconds] of waits) {
      travelTo(new Date(store.clock.now() + waitMs));
      const starter = await provokeBan(issued);
      expect(retryAfter(starter)).toBe(seconds);
      travelTo(endOf(starter));
    }
  });

  it('are those of BAN_DURATIONS; an empty list bans nobody, and responses do not mention bans', async () => {
    const [short, lenient] = await Promise.all([
      startApplication({ database, environment: { BAN_DURATIONS: [10 * SECOND_MS] } }),
      startApplication({ database, environment: { BAN_DURATIONS: [] } }),
    ]);
    try {
      short.clock.travelTo(HALF_PAST);
      lenient.clock.travelTo(HALF_PAST);
      const issued = await issue(2);
      const responses = await listPetsTimes(issued, 4, short);
      expect(responses.map(codeOf)).toEqual(['200', '200', 'rate_limit_exceeded', 'api_key_banned']);
      expect(retryAfter(responses[3])).toBeLessThanOrEqual(10);
      const other = await issue(2);
      const free = await listPetsTimes(other, 12, lenient);
      expect(free.map(codeOf)).toEqual([...times(2, '200'), ...times(10, 'rate_limit_exceeded')]);
      expect(free.at(-1)?.json.message).toMatch(
        /^Over the limit of 2 requests per minute of plan enterprise\. Wait \d+ seconds before the next request\.$/,
      );
    } finally {
      await Promise.all([short.close(), lenient.close()]);
    }
  });
});

describe('two replicas', () => {
  it('start one ban between them, and report each number of remaining refusals once', async () => {
    const issued = await issue(20);
    const responses = await Promise.all(
      Array.from({ length: 70 }, (_, index) => listPets(issued, index % 2 === 0 ? store : replica)),
    );
    const [served, denied, banned] = ['200', 'rate_limit_exceeded', 'api_key_banned'].map((code) =>
      responses.filter((response) => codeOf(response) === code),
    ) as [HttpResponse[], HttpResponse[], HttpResponse[]];
    expect(served).toHaveLength(20);
    expect(denied.map(refusalsLeft).toSorted((a, b) => b - a)).toEqual(descending(19, 1));
    expect(banned).toHaveLength(31);
    expect(new Set(banned.map(header('x-ratelimit-reset'))).size).toBe(1);
    expect(await counterOf(issued)).toMatchObject({
      minute_used: 20,
      day_used: 20,
      refusals: 0,
      ban_step: 1,
    });
  });

  it('share a ban that one of them starts, and its lifting', async () => {
    const issued = await issue(3);
    const starter = await provokeBan(issued);
    expect(codeOf(await listPets(issued, replica))).toBe('api_key_banned');
    const bucketKey = await bucketKeyOf(issued);
    const until = (await replica.app.get(CounterStore).bans()).get(bucketKey);
    expect(Math.ceil(Number(until) / SECOND_MS)).toBe(endOf(starter).getTime() / SECOND_MS);

    expect(await replica.app.get(CounterStore).liftBan(bucketKey)).not.toBeNull();
    const denied = await listPets(issued);
    expectError(denied, 429, 'rate_limit_exceeded');
    expect(refusalsLeft(denied)).toBe(2);
    expect((await store.app.get(CounterStore).bans()).has(bucketKey)).toBe(false);

    travelTo(new Date(HALF_PAST.getTime() + MINUTE_MS));
    expect(retryAfter(await provokeBan(issued))).toBe(300);
  });

  it('apply the limit in force to refusals, also when it changes within the minute', async () => {
    const issued = await issue(6);
    expect((await listPetsTimes(issued, 9)).map(codeOf).slice(6)).toEqual(times(3, 'rate_limit_exceeded'));
    await database.query(
      'UPDATE quotas SET per_minute = 5 WHERE id = (SELECT quota_id FROM api_keys WHERE id = $1)',
      [issued.id],
    );
    // This replica has not cached the key, so it reads the limits in force.
    const responses = await listPetsTimes(issued, 2, replica);
    expect(responses.map(codeOf)).toEqual(['rate_limit_exceeded', 'api_key_banned']);
    expect(refusalsLeft(responses[0] as HttpResponse)).toBe(1);
  });
});
