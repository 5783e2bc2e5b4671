import type { Environment } from '../../src/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { expectError, expectNoRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';

const ORIGIN = 'https://shop.example';

let store: TestApplication;
let key: string;

/** Starts the service of a group. */
function useService(environment: Partial<Environment>): void {
  beforeAll(async () => {
    store = await startApplication({ environment });
    ({ key } = await store.issue({ plan: 'enterprise', perMinute: 100_000, perDay: 100_000 }));
  });
  afterAll(() => store.close());
}

const corsHeaders = ({ headers }: HttpResponse) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));
const remaining = ({ headers }: HttpResponse) => Number(headers.get('x-ratelimit-remaining'));

function preflight(url: string, path = '/v1/pets', origin = ORIGIN, as?: string): Promise<HttpResponse> {
  return send(`${url}${path}`, {
    method: 'OPTIONS',
    key: as,
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type,idempotency-key',
    },
  });
}

describe('the service without CORS_ORIGINS', () => {
  useService({});

  it('lets no page of another origin read anything, and treats OPTIONS as any other method', async () => {
    expect(corsHeaders(await send(`${store.url}/v1/pets`, { key, headers: { Origin: ORIGIN } }))).toEqual([]);
    const denied = await preflight(store.url);
    expectError(denied, 401, 'missing_api_key');
    expect(corsHeaders(denied)).toEqual([]);
  });
});

describe('the service with CORS_ORIGINS', () => {
  useService({ CORS_ORIGINS: [ORIGIN, 'http://localhost:5173'] });

  it.each([
    ['a list', '/v1/pets'],
    ['administration', '/admin/keys'],
    ['an unknown path', '/v1/nothing'],
    ['a path that cannot be decoded', '/v1/pets/%zz'],
    ['an overlong path', `/v1/pets/${'9'.repeat(5000)}`],
  ])('returns 204 for a preflight of %s without a key, and does not count it', async (_name, path) => {
    const response = await preflight(store.url, path);
    expect([response.status, response.text]).toEqual([204, '']);
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, PATCH');
    expect(response.headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
    );
    expect(response.headers.get('access-control-max-age')).toBe('600');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(response.headers.get('vary')).toBe('Origin');
    expect(response.headers.get('x-request-id')).toMatch(/^\S+$/);
    expectNoRateLimitHeaders(response);
  });

  it.each(['an anonymous client', 'a key'])('counts no preflights against %s', async (whom) => {
    const as = whom === 'a key' ? key : undefined;
    const before = await send(`${store.url}/v1/pets`, { key: as });
    const preflights = ['/v1/pets', '/v1/nothing', '/v1/pets/%zz'].flatMap((path) =>
      Array.from({ length: 10 }, () => preflight(store.url, path, ORIGIN, as)),
    );
    expect(new Set((await Promise.all(preflights)).map(({ status }) => status))).toEqual(new Set([204]));
    const after = await send(`${store.url}/v1/pets`, { key: as });
    expect(remaining(after)).toBe(remaining(before) - 1);
  });

  it.each([
    ['another origin', 'https://elsewhere.example'],
    ['an opaque origin', 'null'],
    ['an origin with an allowed prefix', 'https://shop.example.elsewhere.example'],
    ['an origin with an allowed suffix', 'https://a.shop.example'],
    ['another scheme', 'http://shop.example'],
    ['another port', 'https://shop.example:8443'],
    ['two origins', `${ORIGIN}, http://localhost:5173`],
    ['every origin', '*'],
  ])('lets a page of %s read nothing', async (_name, origin) => {
    for (const path of ['/v1/pets', '/v1/pets/%zz']) {
      const response = await send(`${store.url}${path}`, { key, headers: { Origin: origin } });
      const preflighted = await preflight(store.url, path, origin);
      expect([response.status, preflighted.status]).toEqual([path === '/v1/pets' ? 200 : 404, 204]);
      for (const each of [response, preflighted]) {
        expect(corsHeaders(each)).toEqual([]);
        expect(each.headers.get('vary')).toBe('Origin');
      }
    }
  });

  it('varies every response by Origin, also those to clients that are no page', async () => {
    for (const path of ['/v1/pets', '/v1/nothing', '/v1/pets/%zz', '/openapi.json', '/livez']) {
      const response = await send(`${store.url}${path}`, { key });
      const vary = path === '/openapi.json' ? 'Origin, Accept-Encoding' : 'Origin';
      expect([path, response.headers.get('vary'), corsHeaders(response)]).toEqual([path, vary, []]);
    }
  });

  it.each<[string, Record<string, string>]>([
    ['without an Origin', {}],
    ['without a method', { Origin: ORIGIN }],
    ['with an empty method', { Origin: ORIGIN, 'Access-Control-Request-Method': '' }],
    ['with a method alone', { 'Access-Control-Request-Method': 'POST' }],
  ])('treats OPTIONS that is not a preflight as any other method: %s', async (_name, headers) => {
    for (const init of [{}, { body: '{' }]) {
      const sendOptions = (path: string, as?: string) =>
        send(`${store.url}${path}`, { ...init, method: 'OPTIONS', key: as, headers });
      expectError(await sendOptions('/v1/pets'), 401, 'missing_api_key');
      const before = remaining(await send(`${store.url}/v1/pets`, { key }));
      const denied = await sendOptions('/v1/pets', key);
      expectError(denied, 405, 'method_not_allowed');
      expect([denied.headers.get('allow'), remaining(denied)]).toEqual(['GET, HEAD, POST', before - 1]);
      expectError(await sendOptions('/v1/nothing', key), 404, 'not_found');
      expectError(await sendOptions('/admin/keys', key), 403, 'forbidden');
      const outside = await sendOptions('/nothing');
      expectError(outside, 404, 'not_found');
      expectNoRateLimitHeaders(outside);
    }
  });
});

describe('the service with CORS_ORIGINS=*', () => {
  useService({ CORS_ORIGINS: ['*'] });

  it.each(['https://anywhere.example', 'null'])(
    'lets every page read, also one of the origin %s',
    async (origin) => {
      const preflighted = await preflight(store.url, '/v1/pets', origin);
      const response = await send(`${store.url}/v1/pets`, { key, headers: { Origin: origin } });
      expect([preflighted.status, response.status]).toEqual([204, 200]);
      for (const { headers } of [preflighted, response]) {
        expect(headers.get('access-control-allow-origin')).toBe('*');
        // A browser rejects both together (Fetch, section 3.3.5), and sends the key without them.
        expect(headers.get('access-control-allow-credentials')).toBeNull();
      }
    },
  );
});
