import { generateApiKey } from '../../src/auth/rules/api-key.js';
import { BUILT_IN_PLANS } from '../../src/auth/rules/built-in-plans.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import {
  listPetsTimes,
  startApplication,
  type TestApplication,
  useApplication,
} from '../support/service/application.js';
import { expectError, expectNoRateLimitHeaders, RATE_LIMIT_HEADERS } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { remaining } from '../support/http/rate-limit-headers.js';
import { REQUESTS } from '../support/http/requests.js';

/**
 * Half a minute into a minute, and 11 h 25 min 30 s before the end of its UTC day. Tests of these seconds
 * return to it before each request, because time goes on.
 */
const HALF_PAST = new Date('2027-03-05T12:34:30.000Z');
const MINUTE_END = '2027-03-05T12:35:00.000Z';
const DAY_END = '2027-03-06T00:00:00.000Z';
const SECONDS_OF_DAY_LEFT = 41_130;

const unixSeconds = (instant: string) => String(Date.parse(instant) / 1000);
const limitHeaders = ({ headers }: HttpResponse) => RATE_LIMIT_HEADERS.map((name) => headers.get(name));
/** The rate-limit headers of the only request of a quota, at `HALF_PAST`. */
const headersOfFirst = (perMinute: number, perDay: number) => [
  String(perMinute),
  String(perMinute - 1),
  unixSeconds(MINUTE_END),
  `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
  `"minute";r=${perMinute - 1};t=30, "day";r=${perDay - 1};t=${SECONDS_OF_DAY_LEFT}`,
];

const ANONYMOUS_LIMIT = 4;

const store = useApplication({ environment: { ANONYMOUS_LIMIT } });
beforeEach(() => store.clock.stopAt(HALF_PAST));

describe('the limits of a quota', () => {
  let pets: string;

  beforeAll(() => (pets = `${store.url}/v1/pets`));

  /** Issues a key whose quota has its own limits. */
  const issue = (perMinute: number, perDay: number) => store.issue({ plan: 'enterprise', perMinute, perDay });

  /** Returns the stored counter of the quota of a key. */
  async function findCounter({ id }: IssuedKey): Promise<unknown> {
    const [row] = await store.database.query(
      `SELECT c.minute_used, c.day_used FROM rate_limit_counters c
       JOIN api_keys k ON c.bucket_key = 'quota:' || k.quota_id WHERE k.id = $1`,
      [id],
    );
    return row;
  }

  describe('in the rate-limit headers', () => {
    type Case = [of: string, input: { plan: string; perMinute?: number; perDay?: number }, number, number];
    const casesOfPlans = Object.entries(BUILT_IN_PLANS).flatMap(([plan, { perMinute, perDay }]): Case[] =>
      perMinute === null ? [] : [[`of plan ${plan}`, { plan }, perMinute, perDay]],
    );

    it.each<Case>([
      ...casesOfPlans,
      ["of the quota itself, instead of the plan's", { plan: 'free', perMinute: 7, perDay: 70 }, 7, 70],
    ])(
      'are those %s: X-RateLimit-*, RateLimit-Policy and RateLimit',
      async (_of, input, perMinute, perDay) => {
        const { key } = await store.issue(input);
        store.clock.stopAt(HALF_PAST);
        const response = await send(pets, { key });
        expect([response.status, response.text]).toEqual([200, '[]']);
        expect(limitHeaders(response)).toEqual(headersOfFirst(perMinute, perDay));
        expect(response.headers.get('retry-after')).toBeNull();
      },
    );
  });

  it.each(REQUESTS)('count once a request for %s (%i)', async (_what, status, path, init) => {
    const issued = await store.issue({ plan: 'free' });
    store.clock.stopAt(HALF_PAST);
    const response = await send(`${store.url}${path}`, { ...init, key: issued.key });
    expect(response.status).toBe(status);
    expect(limitHeaders(response)).toEqual(headersOfFirst(60, 1000));
    expect(await findCounter(issued)).toEqual({ minute_used: 1, day_used: 1 });
    expect(response.json?.status).toBe(status < 400 ? undefined : status);
  });

  describe('when exceeded', () => {
    it.each([
      ['3 requests per minute', 3, 100, MINUTE_END, '"minute";r=0;t=30, "day";r=97;t=41130', 30],
      ['3 requests per day', 100, 3, DAY_END, '"minute";r=97;t=30, "day";r=0;t=41130', 41_130],
      [
        '3 requests per minute and 3 requests per day',
        3,
        3,
        DAY_END,
        '"minute";r=0;t=30, "day";r=0;t=41130',
        41_130,
      ],
    ])(
      'return 429 for %s and the seconds to the end, the later of two, without using up another window',
      async (limits, perMinute, perDay, end, windows, wait) => {
        const issued = await issue(perMinute, perDay);
        store.clock.stopAt(HALF_PAST);
        const response = (await listPetsTimes(store, issued.key, 5)).at(-1) as HttpResponse;
        expectError(
          response,
          429,
          'rate_limit_exceeded',
          expect.stringContaining(`plan enterprise allows ${limits}. Wait ${wait} seconds`),
        );
        expect(limitHeaders(response)).toEqual([
          '3',
          '0',
          unixSeconds(end),
          `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
          windows,
        ]);
        expect(response.headers.get('retry-after')).toBe(String(wait));
        expect(await findCounter(issued)).toEqual({ minute_used: 3, day_used: 3 });
      },
    );

    it('return a wait of one second in the last second of a minute, not zero', async () => {
      const { key } = await issue(3, 100);
      store.clock.travelTo(new Date('2027-03-05T12:34:59.200Z'));
      await listPetsTimes(store, key, 3);
      store.clock.travelTo(new Date('2027-03-05T12:34:59.500Z'));
      const response = await send(pets, { key });
      expect(response.status).toBe(429);
      expect(response.headers.get('retry-after')).toBe('1');
      expect(response.json.message).toMatch(/Wait 1 second\b/);
    });
  });

  it.each(['/docs', '/openapi.json', '/admin-openapi.json', '/livez', '/readyz', '/', '/v10/pets'])(
    'do not apply to %s, which has no rate-limit headers and is not counted, with a key or without',
    async (path) => {
      const issued = await store.issue();
      const anonymousCounters = () =>
        store.database.query(
          "SELECT bucket_key, minute_used FROM rate_limit_counters WHERE bucket_key LIKE 'address:%'",
        );
      const before = await anonymousCounters();
      for (const key of [issued.key, undefined]) {
        const response = await send(`${store.url}${path}`, { key });
        expect([200, 302, 404]).toContain(response.status);
        expectNoRateLimitHeaders(response);
      }
      expect(await findCounter(issued)).toBeUndefined();
      expect(await anonymousCounters()).toEqual(before);
    },
  );
});

describe('the limit of an anonymous client', () => {
  let behindOne: TestApplication;
  let behindTwo: TestApplication;
  let behindNetworks: TestApplication;

  beforeAll(async () => {
    const start = (TRUST_PROXY: number | string[]) =>
      startApplication({ database: store.database, environment: { ANONYMOUS_LIMIT, TRUST_PROXY } });
    [behindOne, behindTwo, behindNetworks] = await Promise.all([
      start(1),
      start(2),
      start(['127.0.0.0/8', '10.0.0.0/8', '2001:db8:ffff::/48']),
    ]);
  });
  beforeEach(() => store.database.query('DELETE FROM rate_limit_counters'));
  afterAll(() => Promise.all([behindOne, behindTwo, behindNetworks].map((replica) => replica.close())));

  /** Sends a request without a key through proxies that add X-Forwarded-For. */
  const from = (replica: TestApplication, forwardedFor: string) =>
    send(`${replica.url}/v1/pets`, { headers: { 'X-Forwarded-For': forwardedFor } });

  const countedAddresses = async () =>
    (
      await store.database.query<{ bucket_key: string }>(
        'SELECT bucket_key FROM rate_limit_counters ORDER BY 1',
      )
    ).map(({ bucket_key }) => bucket_key);

  it('counts every request without a valid key once, whatever its path', async () => {
    const responses = [
      await send(`${store.url}/v1/pets`),
      await send(`${store.url}/v1/nothing`, { key: 'letmein' }),
      await send(`${store.url}/v1/pets`, { method: 'POST', body: '{', key: generateApiKey('staging') }),
      await send(`${store.url}/admin/keys`, { method: 'DELETE' }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(responses.map(remaining)).toEqual([3, 2, 1, 0]);
    expect(await countedAddresses()).toEqual(['address:127.0.0.1']);
  });

  it('returns 429 instead of 401 when exceeded, and still says what was wrong with the key', async () => {
    for (let sent = 0; sent < ANONYMOUS_LIMIT; sent += 1) {
      expect((await send(`${store.url}/v1/pets`)).status).toBe(401);
    }
    const faults: [string | undefined, string][] = [
      [undefined, 'An API key is required. Send it in the header "Authorization: Bearer <API_KEY>".'],
      ['letmein', 'The API key is malformed; check that it was copied whole.'],
      [generateApiKey('staging'), 'The API key is unknown.'],
    ];
    for (const [key, fault] of faults) {
      store.clock.stopAt(HALF_PAST);
      const response = await send(`${store.url}/v1/pets`, { key });
      expectError(
        response,
        429,
        'rate_limit_exceeded',
        expect.stringMatching(/\b4 requests per minute\b.*\bWait 30 seconds\b/),
      );
      expect(limitHeaders(response)).toEqual([
        '4',
        '0',
        unixSeconds(MINUTE_END),
        '"minute";q=4;w=60',
        '"minute";r=0;t=30',
      ]);
      expect(response.headers.get('retry-after')).toBe('30');
      expect(response.json.message).toContain(fault);
    }
    // One second before the end of the minute, and after the wait of Retry-After.
    store.clock.travelTo(new Date(Date.parse(MINUTE_END) - 1000));
    expect((await send(`${store.url}/v1/pets`)).status).toBe(429);
    store.clock.travelTo(new Date(MINUTE_END));
    expect((await send(`${store.url}/v1/pets`)).status).toBe(401);
  });

  it('is independent of the quotas of keys', async () => {
    const { key } = await store.issue({ plan: 'free' });
    for (let sent = 0; sent <= ANONYMOUS_LIMIT; sent += 1) {
      await send(`${store.url}/v1/pets`);
    }
    const response = await send(`${store.url}/v1/pets`, { key });
    expect(response.status).toBe(200);
    expect(remaining(response)).toBe(59);
    store.clock.travelTo(new Date(MINUTE_END));
    await send(`${store.url}/v1/pets`, { key });
    expect(remaining(await send(`${store.url}/v1/pets`))).toBe(ANONYMOUS_LIMIT - 1);
  });

  it('does not use up the quota of a revoked key', async () => {
    const { id, key } = await store.issue({ plan: 'free' });
    await store.database.query('UPDATE api_keys SET revoked_at = created_at WHERE id = $1', [id]);
    store.clock.travelToMinuteStart();
    expect((await send(`${store.url}/v1/pets`, { key })).status).toBe(401);
    expect(await countedAddresses()).toEqual(['address:127.0.0.1']);
  });

  it('ignores X-Forwarded-For without TRUST_PROXY', async () => {
    expect(remaining(await from(store, '203.0.113.1'))).toBe(3);
    expect(remaining(await from(store, '203.0.113.2'))).toBe(2);
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
