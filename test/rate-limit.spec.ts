import { Controller, Get } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { SkipThrottle } from '@nestjs/throttler';
import { AppModule } from '../src/app.module.js';
import { generateApiKey, hashApiKey, keyHints } from '../src/auth/rules/api-key.js';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { ApiError } from '../src/errors/api-error.js';
import { ENVIRONMENT } from '../src/settings/environment.js';
import { startApplication, type TestApplication } from './support/application.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { type HttpResponse, send } from './support/http.js';

const LIMIT_HEADERS = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
];

/** Half a minute into a minute, and 11 h 25 min 30 s before the end of its UTC day. */
const HALF_PAST = new Date('2027-03-05T12:34:30.000Z');
const MINUTE_END = '2027-03-05T12:35:00.000Z';
const DAY_END = '2027-03-06T00:00:00.000Z';
const SECONDS_OF_DAY_LEFT = 41_130;

const unixSeconds = (instant: string) => String(Date.parse(instant) / 1000);
const limitHeaders = ({ headers }: HttpResponse) => LIMIT_HEADERS.map((name) => headers.get(name));
const remaining = ({ headers }: HttpResponse) => Number(headers.get('x-ratelimit-remaining'));

describe('the limits of a quota', () => {
  let store: TestApplication;
  let pets: string;

  beforeAll(async () => {
    store = await startApplication();
    pets = `${store.url}/v1/pets`;
  });
  beforeEach(() => store.clock.travelTo(HALF_PAST));
  afterAll(() => store.close());

  /** Issues a key whose quota has its own limits. */
  const issue = (perMinute: number, perDay: number) => store.issue({ plan: 'enterprise', perMinute, perDay });

  /** Sends requests one after another at one instant, so that a slow machine does not reach the next second. */
  async function sendTimes(count: number, key: string): Promise<HttpResponse[]> {
    const instant = new Date(store.clock.now());
    const responses: HttpResponse[] = [];
    for (let sent = 0; sent < count; sent += 1) {
      store.clock.travelTo(instant);
      responses.push(await send(pets, { key }));
    }
    return responses;
  }

  /** Returns the stored counter of the quota of a key. */
  async function counterOf({ id }: IssuedKey): Promise<unknown> {
    const [row] = await store.database.query(
      `SELECT c.minute_used, c.day_used FROM rate_limit_counters c
       JOIN api_keys k ON c.subject = 'quota:' || k.quota_id WHERE k.id = $1`,
      [id],
    );
    return row;
  }

  describe('in the rate-limit headers', () => {
    it.each([
      ['free', '60', '59', '"minute";q=60;w=60, "day";q=1000;w=86400', 999],
      ['pro', '300', '299', '"minute";q=300;w=60, "day";q=10000;w=86400', 9999],
      ['business', '1000', '999', '"minute";q=1000;w=60, "day";q=100000;w=86400', 99_999],
    ])(
      'are those of the plan on a 200 of %s: X-RateLimit-*, RateLimit-Policy and RateLimit',
      async (plan, limit, left, policy, day) => {
        const { key } = await store.issue({ plan });
        const response = await send(pets, { key });
        expect(response.status).toBe(200);
        expect(response.json).toEqual([]);
        expect(limitHeaders(response)).toEqual([
          limit,
          left,
          unixSeconds(MINUTE_END),
          policy,
          `"minute";r=${left};t=30, "day";r=${day};t=${SECONDS_OF_DAY_LEFT}`,
        ]);
        expect(response.headers.get('retry-after')).toBeNull();
      },
    );

    it("are the quota's own where it has some, instead of the plan's", async () => {
      const { key } = await store.issue({ plan: 'free', perMinute: 7, perDay: 70 });
      const response = await send(pets, { key });
      expect(response.status).toBe(200);
      expect(limitHeaders(response)).toEqual([
        '7',
        '6',
        unixSeconds(MINUTE_END),
        '"minute";q=7;w=60, "day";q=70;w=86400',
        `"minute";r=6;t=30, "day";r=69;t=${SECONDS_OF_DAY_LEFT}`,
      ]);
    });

    it('are those of the window with fewer requests remaining, in X-RateLimit-*', async () => {
      const { key } = await issue(10, 12);
      await sendTimes(3, key);
      store.clock.travel(60_000);
      const response = await send(pets, { key });
      expect(limitHeaders(response)).toEqual([
        '12',
        '8',
        unixSeconds(DAY_END),
        '"minute";q=10;w=60, "day";q=12;w=86400',
        `"minute";r=9;t=30, "day";r=8;t=${SECONDS_OF_DAY_LEFT - 60}`,
      ]);
    });

    it('are those of the day, which resets later, when both windows have the same number remaining', async () => {
      const { key } = await issue(10, 10);
      expect(limitHeaders(await send(pets, { key })).slice(0, 3)).toEqual(['10', '9', unixSeconds(DAY_END)]);
    });

    it('reset at the ends of UTC minutes and days by the clock of the store', async () => {
      const { key } = await issue(1000, 100_000);
      for (const [now, minuteEnd, dayEnd] of [
        ['2027-06-30T23:58:59.000Z', '2027-06-30T23:59:00.000Z', '2027-07-01T00:00:00.000Z'],
        ['2027-06-30T23:59:00.000Z', '2027-07-01T00:00:00.000Z', '2027-07-01T00:00:00.000Z'],
        ['2027-07-01T00:00:00.000Z', '2027-07-01T00:01:00.000Z', '2027-07-02T00:00:00.000Z'],
        ['2028-02-28T12:00:00.000Z', '2028-02-28T12:01:00.000Z', '2028-02-29T00:00:00.000Z'],
      ] as const) {
        store.clock.travelTo(new Date(now));
        const { headers } = await send(pets, { key });
        expect(headers.get('x-ratelimit-reset')).toBe(unixSeconds(minuteEnd));
        const [minuteSeconds, daySeconds] = [minuteEnd, dayEnd].map(
          (end) => (Date.parse(end) - Date.parse(now)) / 1000,
        );
        expect(headers.get('ratelimit')).toMatch(
          new RegExp(`^"minute";r=\\d+;t=${minuteSeconds}, "day";r=\\d+;t=${daySeconds}$`),
        );
      }
    });
  });

  describe('shared by all operations', () => {
    const requests: [string, number, string, Parameters<typeof send>[1]][] = [
      ['a list', 200, '/v1/pets', {}],
      ['HEAD of a list', 200, '/v1/pets', { method: 'HEAD' }],
      ['a created animal', 201, '/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
      ['an invalid query', 400, '/v1/pets?limit=0', {}],
      ['an invalid field', 400, '/v1/pets', { method: 'POST', body: { name: 'Rex' } }],
      ['malformed JSON', 400, '/v1/pets', { method: 'POST', body: '{"name":' }],
      ['an empty body', 400, '/v1/pets', { method: 'POST', headers: { 'Content-Type': 'application/json' } }],
      ['an unknown animal', 404, '/v1/pets/9223372036854775807', {}],
      ['an invalid id', 404, '/v1/pets/rex', {}],
      ['HEAD of an unknown animal', 404, '/v1/pets/9223372036854775807', { method: 'HEAD' }],
      ['an overlong id', 404, `/v1/pets/${'7'.repeat(300)}`, {}],
      ['an unknown path', 404, '/v1/nothing', {}],
      ['an unknown path with malformed JSON', 404, '/v1/nothing', { method: 'POST', body: '{' }],
      ['the root of the version', 404, '/v1', {}],
      ['a path that cannot be decoded', 404, '/v1/%zz', {}],
      ['an escaped path that is known', 200, '/%76%31/pets', {}],
      ['another method', 405, '/v1/pets', { method: 'DELETE' }],
      ['another method on an animal', 405, '/v1/pets/7', { method: 'PUT', body: { name: 'Rex' } }],
      ['a body that is too large', 413, '/v1/pets', { method: 'POST', body: `"${'x'.repeat(70_000)}"` }],
      [
        'another content type',
        415,
        '/v1/pets',
        { method: 'POST', body: 'Rex', headers: { 'Content-Type': 'text/plain' } },
      ],
    ];
    let issued: IssuedKey;
    let sent = 0;

    beforeAll(async () => {
      issued = await store.issue({ plan: 'free' });
    });

    it.each(requests)('count once a request for %s (%i)', async (_what, status, path, init) => {
      const response = await send(`${store.url}${path}`, { ...init, key: issued.key });
      sent += 1;
      expect(response.status).toBe(status);
      expect(limitHeaders(response)).toEqual([
        '60',
        String(60 - sent),
        unixSeconds(MINUTE_END),
        '"minute";q=60;w=60, "day";q=1000;w=86400',
        `"minute";r=${60 - sent};t=30, "day";r=${1000 - sent};t=${SECONDS_OF_DAY_LEFT}`,
      ]);
      expect(await counterOf(issued)).toEqual({ minute_used: sent, day_used: sent });
      const isError = status >= 400 && init?.method !== 'HEAD';
      expect(response.json?.status).toBe(isError ? status : undefined);
    });

    it('deny every one of these requests with 429 when exceeded, whatever else is wrong with it', async () => {
      const { key } = await issue(40, 40);
      await sendTimes(40, key);
      for (const [, , path, init] of requests) {
        store.clock.travelTo(HALF_PAST);
        const response = await send(`${store.url}${path}`, { ...init, key });
        expect(response.status).toBe(429);
        expect(limitHeaders(response)).toEqual([
          '40',
          '0',
          unixSeconds(DAY_END),
          '"minute";q=40;w=60, "day";q=40;w=86400',
          `"minute";r=0;t=30, "day";r=0;t=${SECONDS_OF_DAY_LEFT}`,
        ]);
        expect(response.headers.get('retry-after')).toBe(String(SECONDS_OF_DAY_LEFT));
        expect(response.json?.code).toBe(init?.method === 'HEAD' ? undefined : 'rate_limit_exceeded');
      }
    });

    it('are shared by all keys of the quota', async () => {
      const first = await issue(10, 100);
      const second = generateApiKey('staging');
      const { prefix, lastFour } = keyHints(second);
      await store.database.query(
        `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
         SELECT gen_random_uuid(), quota_id, 'successor', $2, $3, $4 FROM api_keys WHERE id = $1`,
        [first.id, hashApiKey(second), prefix, lastFour],
      );
      const left: number[] = [];
      for (const key of [first.key, second, second, first.key]) {
        left.push(remaining(await send(pets, { key })));
      }
      expect(left).toEqual([9, 8, 7, 6]);
    });

    it('are not shared with another quota of the same plan', async () => {
      const [one, other] = [await issue(10, 100), await issue(10, 100)];
      await sendTimes(3, one.key);
      expect(remaining(await send(pets, { key: other.key }))).toBe(9);
    });
  });

  describe('under load', () => {
    it('allow exactly as many requests of a burst as there is room for, and report each remaining count once', async () => {
      const issued = await issue(40, 1000);
      const responses = await Promise.all(Array.from({ length: 70 }, () => send(pets, { key: issued.key })));
      const served = responses.filter(({ status }) => status === 200);
      expect(served.map(remaining).toSorted((a, b) => b - a)).toEqual(
        Array.from({ length: 40 }, (_, index) => 39 - index),
      );
      expect(responses.filter(({ status }) => status === 429)).toHaveLength(30);
      expect(await counterOf(issued)).toEqual({ minute_used: 40, day_used: 40 });
    });

    it('allow a denied client again in the next minute', async () => {
      const { key } = await issue(3, 100);
      expect((await sendTimes(4, key)).map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      store.clock.travelTo(new Date(MINUTE_END));
      const response = await send(pets, { key });
      expect(response.status).toBe(200);
      expect(remaining(response)).toBe(2);
    });

    it('allow a client that waits for Retry-After, and deny it one second earlier', async () => {
      const { key } = await issue(3, 100);
      const denied = (await sendTimes(4, key)).at(-1) as HttpResponse;
      const waitMs = Number(denied.headers.get('retry-after')) * 1000;
      store.clock.travelTo(new Date(HALF_PAST.getTime() + waitMs - 1000));
      expect((await send(pets, { key })).status).toBe(429);
      store.clock.travelTo(new Date(HALF_PAST.getTime() + waitMs));
      expect((await send(pets, { key })).status).toBe(200);
    });
  });

  describe('when exceeded', () => {
    it('per minute return 429 and the seconds to the end of the minute, without using up the day', async () => {
      const issued = await issue(3, 100);
      const response = (await sendTimes(5, issued.key)).at(-1) as HttpResponse;
      expect(response.status).toBe(429);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(limitHeaders(response)).toEqual([
        '3',
        '0',
        unixSeconds(MINUTE_END),
        '"minute";q=3;w=60, "day";q=100;w=86400',
        `"minute";r=0;t=30, "day";r=97;t=${SECONDS_OF_DAY_LEFT}`,
      ]);
      expect(response.headers.get('retry-after')).toBe('30');
      expect(response.json).toEqual({
        code: 'rate_limit_exceeded',
        message: expect.stringMatching(/\b3 requests per minute of plan enterprise\. Wait 30 seconds\b/),
        status: 429,
      });
      expect(await counterOf(issued)).toEqual({ minute_used: 3, day_used: 3 });
    });

    it('per day return 429 and the seconds to the end of the day, without using up the minute', async () => {
      const issued = await issue(100, 3);
      const response = (await sendTimes(5, issued.key)).at(-1) as HttpResponse;
      expect(response.status).toBe(429);
      expect(limitHeaders(response)).toEqual([
        '3',
        '0',
        unixSeconds(DAY_END),
        '"minute";q=100;w=60, "day";q=3;w=86400',
        `"minute";r=97;t=30, "day";r=0;t=${SECONDS_OF_DAY_LEFT}`,
      ]);
      expect(response.headers.get('retry-after')).toBe(String(SECONDS_OF_DAY_LEFT));
      expect(response.json).toEqual({
        code: 'rate_limit_exceeded',
        message: expect.stringMatching(/\b3 requests per day of plan enterprise\. Wait 41130 seconds\b/),
        status: 429,
      });
      expect(await counterOf(issued)).toEqual({ minute_used: 3, day_used: 3 });
    });

    it('for both windows return 429 and the later of the two', async () => {
      const { key } = await issue(3, 3);
      const response = (await sendTimes(4, key)).at(-1) as HttpResponse;
      expect(response.status).toBe(429);
      expect(limitHeaders(response).slice(0, 3)).toEqual(['3', '0', unixSeconds(DAY_END)]);
      expect(response.headers.get('retry-after')).toBe(String(SECONDS_OF_DAY_LEFT));
      expect(response.json).toEqual({
        code: 'rate_limit_exceeded',
        message: expect.stringMatching(
          /\b3 requests per minute and 3 requests per day\b.* Wait 41130 seconds\b/,
        ),
        status: 429,
      });
    });

    it('return a wait of one second in the last second of a minute, not zero', async () => {
      const { key } = await issue(3, 100);
      store.clock.travelTo(new Date('2027-03-05T12:34:59.200Z'));
      await sendTimes(3, key);
      store.clock.travelTo(new Date('2027-03-05T12:34:59.500Z'));
      const response = await send(pets, { key });
      expect(response.status).toBe(429);
      expect(response.headers.get('retry-after')).toBe('1');
      expect(response.json.message).toMatch(/Wait 1 second\b/);
    });

    it('deny an administrator on /admin too', async () => {
      const { key } = await store.issue({
        role: 'admin',
        plan: 'enterprise',
        perMinute: 3,
        perDay: 100,
      });
      await sendTimes(3, key);
      const { status, headers, json } = await send(`${store.url}/admin/nothing`, { key });
      expect(status).toBe(429);
      expect(headers.get('retry-after')).toBe('30');
      expect(json.code).toBe('rate_limit_exceeded');
    });
  });

  it.each([
    '/docs',
    '/openapi.json',
    '/admin-openapi.json',
    '/livez',
    '/readyz',
    '/',
    '/nothing',
    '/v10/pets',
  ])(
    'do not apply to %s, which has no rate-limit headers and is not counted, with a key or without',
    async (path) => {
      const issued = await store.issue();
      const anonymousCounter = async () =>
        (
          await store.database.query(
            "SELECT minute_used FROM rate_limit_counters WHERE subject LIKE 'address:%'",
          )
        )[0];
      const before = await anonymousCounter();
      for (const key of [issued.key, undefined]) {
        const response = await send(`${store.url}${path}`, { key });
        expect([200, 302, 404]).toContain(response.status);
        expect(limitHeaders(response)).toEqual([null, null, null, null, null]);
      }
      expect(await counterOf(issued)).toBeUndefined();
      expect(await anonymousCounter()).toEqual(before);
    },
  );
});

describe('the limit of an anonymous client', () => {
  const STRANGER_LIMIT = 4;
  let database: TestDatabase;
  let direct: TestApplication;
  let behindOne: TestApplication;
  let behindTwo: TestApplication;
  let behindNetworks: TestApplication;

  beforeAll(async () => {
    database = await createDatabase();
    const start = (TRUST_PROXY?: number | string[]) =>
      startApplication({
        database,
        environment: { STRANGER_LIMIT, ...(TRUST_PROXY !== undefined && { TRUST_PROXY }) },
      });
    [direct, behindOne, behindTwo, behindNetworks] = await Promise.all([
      start(),
      start(1),
      start(2),
      start(['127.0.0.0/8', '10.0.0.0/8', '2001:db8:ffff::/48']),
    ]);
  });
  beforeEach(async () => {
    await database.query('DELETE FROM rate_limit_counters');
    for (const { clock } of [direct, behindOne, behindTwo, behindNetworks]) {
      clock.travelTo(HALF_PAST);
    }
  });
  afterAll(async () => {
    await Promise.all([direct, behindOne, behindTwo, behindNetworks].map((store) => store.close()));
    await database.drop();
  });

  /** Sends a request through proxies that add X-Forwarded-For, by default without a key. */
  const from = (store: TestApplication, forwardedFor: string, key?: string) =>
    send(`${store.url}/v1/pets`, { key, headers: { 'X-Forwarded-For': forwardedFor } });

  const countedAddresses = async () =>
    (await database.query<{ subject: string }>('SELECT subject FROM rate_limit_counters ORDER BY 1')).map(
      ({ subject }) => subject,
    );

  it('is 300 per minute by default, with no day window', async () => {
    const store = await startApplication({ database });
    try {
      store.clock.travelTo(HALF_PAST);
      const response = await send(`${store.url}/v1/pets`);
      expect(response.status).toBe(401);
      expect(limitHeaders(response)).toEqual([
        '300',
        '299',
        unixSeconds(MINUTE_END),
        '"minute";q=300;w=60',
        '"minute";r=299;t=30',
      ]);
    } finally {
      await store.close();
    }
  });

  it('counts every request without a valid key once, whatever its path', async () => {
    const responses = [
      await send(`${direct.url}/v1/pets`),
      await send(`${direct.url}/v1/nothing`, { key: 'letmein' }),
      await send(`${direct.url}/v1/pets`, { method: 'POST', body: '{', key: generateApiKey('staging') }),
      await send(`${direct.url}/admin/keys`, { method: 'DELETE' }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(responses.map(remaining)).toEqual([3, 2, 1, 0]);
    expect(await countedAddresses()).toEqual(['address:127.0.0.1']);
  });

  it('returns 429 instead of 401 when exceeded, and still says what was wrong with the key', async () => {
    for (let sent = 0; sent < STRANGER_LIMIT; sent += 1) {
      expect((await send(`${direct.url}/v1/pets`)).status).toBe(401);
    }
    const faults: [string | undefined, string][] = [
      [undefined, 'An API key is required. Send it in the header "Authorization: Bearer <API_KEY>".'],
      ['letmein', 'The API key is malformed; check that it was copied whole.'],
      [generateApiKey('staging'), 'The API key is unknown.'],
    ];
    for (const [key, fault] of faults) {
      const response = await send(`${direct.url}/v1/pets`, { key });
      expect(response.status).toBe(429);
      expect(limitHeaders(response)).toEqual([
        '4',
        '0',
        unixSeconds(MINUTE_END),
        '"minute";q=4;w=60',
        '"minute";r=0;t=30',
      ]);
      expect(response.headers.get('retry-after')).toBe('30');
      expect(response.json).toEqual({
        code: 'rate_limit_exceeded',
        message: expect.stringMatching(/\b4 requests per minute\b.*\bWait 30 seconds\b/),
        status: 429,
      });
      expect(response.json.message).toContain(fault);
    }
    direct.clock.travelTo(new Date(MINUTE_END));
    expect((await send(`${direct.url}/v1/pets`)).status).toBe(401);
  });

  it('is independent of the quotas of keys', async () => {
    const { key } = await direct.issue({ plan: 'free' });
    for (let sent = 0; sent <= STRANGER_LIMIT; sent += 1) {
      await send(`${direct.url}/v1/pets`);
    }
    const response = await send(`${direct.url}/v1/pets`, { key });
    expect(response.status).toBe(200);
    expect(remaining(response)).toBe(59);
    direct.clock.travelTo(new Date(MINUTE_END));
    await send(`${direct.url}/v1/pets`, { key });
    expect(remaining(await send(`${direct.url}/v1/pets`))).toBe(STRANGER_LIMIT - 1);
  });

  it('does not use up the quota of a revoked key', async () => {
    const { id, key } = await direct.issue({ plan: 'free' });
    await database.query('UPDATE api_keys SET revoked_at = created_at WHERE id = $1', [id]);
    direct.clock.travelToMinuteStart();
    expect((await send(`${direct.url}/v1/pets`, { key })).status).toBe(401);
    expect(await countedAddresses()).toEqual(['address:127.0.0.1']);
  });

  it('ignores X-Forwarded-For without TRUST_PROXY', async () => {
    expect(remaining(await from(direct, '203.0.113.1'))).toBe(3);
    expect(remaining(await from(direct, '203.0.113.2'))).toBe(2);
    expect(await countedAddresses()).toEqual(['address:127.0.0.1']);
  });

  it('is by the address that the one trusted proxy saw, not by what its client claims', async () => {
    expect(remaining(await from(behindOne, '203.0.113.1'))).toBe(3);
    expect(remaining(await from(behindOne, '203.0.113.2'))).toBe(3);
    expect(remaining(await from(behindOne, '198.51.100.99, 203.0.113.1'))).toBe(2);
    expect(await countedAddresses()).toEqual(['address:203.0.113.1', 'address:203.0.113.2']);
  });

  it('is by the address that the outer of two trusted proxies saw', async () => {
    await from(behindTwo, '198.51.100.99, 203.0.113.1, 10.0.0.1');
    expect(await countedAddresses()).toEqual(['address:203.0.113.1']);
  });

  it('is by the last address outside of the trusted networks', async () => {
    await from(behindNetworks, '198.51.100.99, 203.0.113.1, 10.1.2.3, 10.0.0.1');
    await from(behindNetworks, '203.0.113.2, 2001:db8:ffff::1');
    expect(await countedAddresses()).toEqual(['address:203.0.113.1', 'address:203.0.113.2']);
  });

  it('is shared by a whole IPv6 /64', async () => {
    expect(remaining(await from(behindOne, '2001:db8:1:2::1'))).toBe(3);
    expect(remaining(await from(behindOne, '2001:db8:1:2:ffff::abcd'))).toBe(2);
    expect(remaining(await from(behindOne, '2001:db8:1:3::1'))).toBe(3);
    expect(await countedAddresses()).toEqual(['address:2001:db8:1:2::/64', 'address:2001:db8:1:3::/64']);
  });

  it('is shared by an IPv4 address and the same address mapped into IPv6', async () => {
    expect(remaining(await from(behindOne, '203.0.113.1'))).toBe(3);
    expect(remaining(await from(behindOne, '::ffff:203.0.113.1'))).toBe(2);
  });

  it.each([
    ['a word', 'unknown'],
    ['a concealed name (RFC 7239)', '_hidden'],
    ['an IPv4 address with a port', '203.0.113.1:4711'],
    ['an IPv6 address with a port', '[2001:db8::1]:4711'],
    ['500 letters', 'x'.repeat(500)],
  ])('still counts requests when the address from a proxy is %s', async (_what, text) => {
    const response = await from(behindOne, text);
    expect(response.status).toBe(401);
    expect(remaining(response)).toBe(3);
    expect(response.json.code).toBe('missing_api_key');
  });
});

describe('@SkipThrottle()', () => {
  @SkipThrottle()
  @Controller('v1/uncounted')
  class UncountedController {
    @Get()
    list(): string[] {
      return [];
    }

    @Get('failing')
    fail(): never {
      throw new ApiError('not_found', 'There is nothing.');
    }
  }

  let store: TestApplication;
  let app: NestFastifyApplication;
  let key: string;

  beforeAll(async () => {
    store = await startApplication();
    ({ key } = await store.issue({ plan: 'free' }));
    const module = await Test.createTestingModule({
      imports: [AppModule.register(store.app.get(ENVIRONMENT), store.clock)],
      controllers: [UncountedController],
    }).compile();
    const adapter = new FastifyAdapter();
    adapter
      .getInstance()
      .decorateRequest('authentication', null)
      .decorateRequest('decision', null)
      .decorateRequest('denial', null);
    app = module.createNestApplication<NestFastifyApplication>(adapter, { logger: false });
    await app.listen(0, '127.0.0.1');
  });
  afterAll(async () => {
    await app.close();
    await store.close();
  });

  it('leaves the requests of a controller uncounted, but requires a key', async () => {
    const url = `${await app.getUrl()}/v1/uncounted`;
    expect((await send(url)).status).toBe(401);
    const { status, json } = await send(url, { key });
    expect(status).toBe(200);
    expect(json).toEqual([]);
    expect(await countedQuotas()).toEqual([]);
  });

  it('leaves requests uncounted that fail in a handler, too', async () => {
    const { status, json } = await send(`${await app.getUrl()}/v1/uncounted/failing`, { key });
    expect(status).toBe(404);
    expect(json).toEqual({ code: 'not_found', message: 'There is nothing.', status: 404 });
    expect(await countedQuotas()).toEqual([]);
  });

  const countedQuotas = () =>
    store.database.query("SELECT subject FROM rate_limit_counters WHERE subject LIKE 'quota:%'");
});
