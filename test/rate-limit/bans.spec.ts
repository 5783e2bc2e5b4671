import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { SECOND_MS } from '../support/time/clock.js';
import { listPetsTimes, startApplication, type TestApplication } from '../support/service/application.js';
import { bannedUntil, denialsBeforeBan, requestsBeforeBan } from '../support/keys/bans.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';

/** Half a minute into a minute, and late enough in its second that rounding cannot reach the next. */
const HALF_PAST = new Date('2027-03-05T12:34:30.100Z');
/** The end of a one-minute ban that starts at `HALF_PAST`, in whole seconds. */
const BAN_END = '2027-03-05T12:35:31Z';

const retryAfter = ({ headers }: HttpResponse) => Number(headers.get('retry-after'));
const outcome = ({ status, json }: HttpResponse): string => (status === 429 ? json.code : String(status));
const times = (count: number, text: string) => Array<string>(count).fill(text);

let store: TestApplication;

beforeAll(async () => {
  store = await startApplication();
});
beforeEach(() => store.clock.stopAt(HALF_PAST));
afterAll(() => store.close());

/** Issues a key whose quota has its own limits, and takes no time for it. */
async function issue(perMinute: number, perDay = 100_000): Promise<IssuedKey> {
  const instant = new Date(store.clock.now());
  const issued = await store.issue({ plan: 'enterprise', perMinute, perDay });
  store.clock.travelTo(instant);
  return issued;
}

const listPets = ({ key }: IssuedKey) => send(`${store.url}/v1/pets`, { key });

/** Sends requests until the key is banned, and returns the response that started the ban. */
async function provokeBan(issued: IssuedKey): Promise<HttpResponse> {
  const perMinute = issued.perMinute ?? 0;
  const responses = await listPetsTimes(store, issued.key, requestsBeforeBan(perMinute));
  expect(responses.map(outcome)).toEqual([
    ...times(perMinute, '200'),
    ...times(denialsBeforeBan(perMinute) - 1, 'rate_limit_exceeded'),
    'api_key_banned',
  ]);
  return responses.at(-1) as HttpResponse;
}

describe('before a ban', () => {
  it('reports in each 429 how many denials remain; waiting for Retry-After prevents a ban', async () => {
    const issued = await issue(3);
    const denied = (await listPetsTimes(store, issued.key, requestsBeforeBan(3) - 1)).slice(-2);
    expect(denied.map(outcome)).toEqual(times(2, 'rate_limit_exceeded'));
    expect(denied.map(({ json }) => json.message)).toEqual([
      'Rate limit exceeded: plan enterprise allows 3 requests per minute. ' +
        'Wait 30 seconds before the next request. ' +
        '2 denials remain within this minute until the API key is banned.',
      'Rate limit exceeded: plan enterprise allows 3 requests per minute. ' +
        'Wait 30 seconds before the next request. ' +
        '1 denial remains within this minute until the API key is banned.',
    ]);
    store.clock.travelTo(new Date(HALF_PAST.getTime() + retryAfter(denied[1] as HttpResponse) * SECOND_MS));
    expect((await listPetsTimes(store, issued.key, 5)).map(outcome)).toEqual([
      ...times(3, '200'),
      ...times(2, 'rate_limit_exceeded'),
    ]);
  });

  it('bans no client that waits for Retry-After, with fewer parallel requests than its limit', async () => {
    const issued = await issue(5, 60);
    for (let round = 0; round < 20; round += 1) {
      const responses = await Promise.all(Array.from({ length: 4 }, () => listPets(issued)));
      expect(responses.map(outcome)).not.toContain('api_key_banned');
      const waits = responses.filter(({ status }) => status === 429).map(retryAfter);
      store.clock.travelTo(new Date(store.clock.now() + Math.max(0, ...waits) * SECOND_MS));
    }
    expect(await bannedUntil(store.database, issued)).toBeNull();
  });
});

describe('a ban', () => {
  it('returns 429 api_key_banned with its end, the reason and what to do', async () => {
    const issued = await issue(3, 100);
    const starter = await provokeBan(issued);
    for (const response of [starter, await listPets(issued)]) {
      expectError(
        response,
        429,
        'api_key_banned',
        `This API key is banned until ${BAN_END}, because too many requests followed a 429 within one ` +
          'minute. Send no requests for 61 seconds. After any later 429 wait for Retry-After, or the key ' +
          'is banned again.',
      );
      expectRateLimitHeaders(response);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'retry-after': '61',
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Date.parse(BAN_END) / SECOND_MS),
        'ratelimit-policy': '"minute";q=3;w=60, "day";q=100;w=86400',
        ratelimit: '"minute";r=0;t=30, "day";r=97;t=41130',
      });
    }
  });

  it('is checked before role, path, method and body', async () => {
    const issued = await issue(2);
    await provokeBan(issued);
    const requests: [string, Parameters<typeof send>[1]][] = [
      ['/v1/pets', { method: 'POST', body: '{"name":' }],
      ['/v1/pets', { method: 'DELETE' }],
      ['/v1/nothing', {}],
      ['/v1/%zz', {}],
      ['/admin/keys', {}],
    ];
    for (const [path, init] of requests) {
      store.clock.travelTo(new Date(HALF_PAST.getTime() + SECOND_MS / 2));
      const response = await send(`${store.url}${path}`, { ...init, key: issued.key });
      expectError(response, 429, 'api_key_banned');
      expectRateLimitHeaders(response);
      expect(retryAfter(response)).toBe(61);
    }
  });

  it('is checked before removal', async () => {
    store.clock.travelTo(new Date('2030-12-05T12:34:30.100Z'));
    const issued = await issue(2);
    await provokeBan(issued);
    expectError(await send(`${store.url}/v1/pets/7`, { key: issued.key }), 429, 'api_key_banned');
  });

  it('applies to administrators under /admin too', async () => {
    const issued = await store.issue({ role: 'admin', plan: 'enterprise', perMinute: 2, perDay: 100 });
    await provokeBan(issued);
    expectError(await send(`${store.url}/admin/keys`, { key: issued.key }), 429, 'api_key_banned');
  });

  it('does not apply to the address of the client, nor to paths that need no key', async () => {
    const issued = await issue(2);
    await provokeBan(issued);
    expectError(await send(`${store.url}/v1/pets`), 401, 'missing_api_key');
    expect((await send(`${store.url}/openapi.json`, { key: issued.key })).status).toBe(200);
    expect((await send(`${store.url}/livez`, { key: issued.key })).status).toBe(200);
  });
});

it('a service without ban durations bans nobody, and mentions no bans in any response', async () => {
  const lenient = await startApplication({ environment: { BAN_DURATIONS: [] } });
  try {
    const issued = await lenient.issue({ plan: 'enterprise', perMinute: 2, perDay: 100 });
    const responses = await listPetsTimes(lenient, issued.key, 12);
    expect(responses.map(outcome)).toEqual([...times(2, '200'), ...times(10, 'rate_limit_exceeded')]);
    expect(responses.at(-1)?.json.message).toMatch(
      /^Rate limit exceeded: plan enterprise allows 2 requests per minute\. Wait \d+ seconds before the next request\.$/,
    );
    const status = await send(`${lenient.url}/v1/rate-limit`, { key: issued.key });
    expect(status).toMatchObject({ status: 200, json: { denialsUntilBan: null, bannedUntil: null } });
  } finally {
    await lenient.close();
  }
});
