import { startApplication, type TestApplication } from '../support/service/application.js';
import {
  expectError,
  expectNoRateLimitHeaders,
  expectRateLimitHeaders,
} from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';

const UNLIMITED = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };
const ORIGIN = 'https://shop.example';

let store: TestApplication;
let key: string;

const OVERLONG = `/v1/pets/${'9'.repeat(5000)}`;
/** Headers that a browser always exposes (Fetch, "CORS-safelisted response-header name"), or that are for itself. */
const NEEDS_NO_EXPOSURE =
  /^(cache-control|content-(length|security-policy|type)|connection|date|keep-alive|vary|x-content-type-options)$/;

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
  beforeAll(async () => {
    store = await startApplication();
    ({ key } = await store.issue(UNLIMITED));
  });
  afterAll(() => store.close());

  it('lets no page of another origin read anything, and treats OPTIONS as any other method', async () => {
    expect(corsHeaders(await send(`${store.url}/v1/pets`, { key, headers: { Origin: ORIGIN } }))).toEqual([]);
    const denied = await preflight(store.url);
    expectError(denied, 401, 'missing_api_key');
    expect(corsHeaders(denied)).toEqual([]);
  });
});

describe('the service with CORS_ORIGINS', () => {
  beforeAll(async () => {
    store = await startApplication({ environment: { CORS_ORIGINS: [ORIGIN, 'http://localhost:5173'] } });
    ({ key } = await store.issue(UNLIMITED));
  });
  afterAll(() => store.close());

  it.each([
    ['a list', '/v1/pets'],
    ['an animal', '/v1/pets/7'],
    ['administration', '/admin/keys'],
    ['an unknown path', '/v1/nothing'],
    ['a path that cannot be decoded', '/v1/pets/%zz'],
    ['an overlong path', OVERLONG],
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

  it.each<[string, string, Parameters<typeof send>[1], number]>([
    ['a list', '/v1/pets', {}, 200],
    ['a creation', '/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }, 201],
    ['a 400', '/v1/pets?limit=0', {}, 400],
    ['a deprecated operation', '/v1/pets/7', {}, 404],
    ['an operation that is not stable', '/v1/store/orders', {}, 200],
    ['an unknown path', '/v1/nothing', {}, 404],
    ['a path that cannot be decoded', '/v1/pets/%zz', {}, 404],
    ['an overlong path', OVERLONG, {}, 404],
    ['another method', '/v1/pets', { method: 'DELETE' }, 405],
    ['an anonymous request', '/v1/pets', { key: undefined }, 401],
  ])('lets a page read the response to %s with all of its headers', async (_name, path, init, status) => {
    const response = await send(`${store.url}${path}`, { key, ...init, headers: { Origin: ORIGIN } });
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(response.headers.get('vary')).toBe('Origin');
    expectRateLimitHeaders(response);
    const exposed = response.headers.get('access-control-expose-headers')?.toLowerCase().split(', ') ?? [];
    const hidden = [...response.headers.keys()].filter(
      (name) =>
        !exposed.includes(name) && !NEEDS_NO_EXPOSURE.test(name) && !name.startsWith('access-control-'),
    );
    expect(hidden).toEqual([]);
  });

  it('exposes also the headers that few responses have, each once', async () => {
    const response = await send(`${store.url}/v1/pets`, { key, headers: { Origin: ORIGIN } });
    const exposed = response.headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(exposed).toEqual(
      expect.arrayContaining([
        'Retry-After',
        'X-RateLimit-Degraded',
        'X-Api-Key-Expires',
        'Idempotent-Replayed',
      ]),
    );
    expect(new Set(exposed).size).toBe(exposed.length);
  });

  it('lets a page read a 304', async () => {
    const headers = { Origin: ORIGIN };
    const etag = (await send(`${store.url}/v1/pets`, { key, headers })).headers.get('etag') ?? '';
    const response = await send(`${store.url}/v1/pets`, {
      key,
      headers: { ...headers, 'If-None-Match': etag },
    });
    expect(response.status).toBe(304);
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(response.headers.get('vary')).toBe('Origin');
  });

  it.each([
    ['another origin', 'https://elsewhere.example'],
    ['an opaque origin', 'null'],
    ['an origin with an allowed prefix', 'https://shop.example.elsewhere.example'],
    ['an origin with an allowed suffix', 'https://a.shop.example'],
    ['another scheme', 'http://shop.example'],
    ['another port', 'https://shop.example:8443'],
    ['the explicit default port', 'https://shop.example:443'],
    ['another letter case', 'https://SHOP.example'],
    ['a trailing slash', 'https://shop.example/'],
    ['two origins', `${ORIGIN}, http://localhost:5173`],
    ['every origin', '*'],
  ])('lets a page of %s read nothing', async (_name, origin) => {
    for (const path of ['/v1/pets', '/v1/nothing', '/v1/pets/%zz']) {
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

  describe.each<[string, Record<string, string>]>([
    ['without an Origin', {}],
    ['without a method', { Origin: ORIGIN }],
    ['with an empty method', { Origin: ORIGIN, 'Access-Control-Request-Method': '' }],
    ['with a method alone', { 'Access-Control-Request-Method': 'POST' }],
  ])('OPTIONS %s, which is not a preflight', (_name, headers) => {
    it.each<[string, Parameters<typeof send>[1]]>([
      ['no body', {}],
      ['malformed JSON', { body: '{' }],
    ])('is treated as any other method, with %s', async (_body, init) => {
      const sendOptions = (path: string, as?: string) =>
        send(`${store.url}${path}`, {
          ...init,
          method: 'OPTIONS',
          key: as,
          headers,
        });
      const anonymous = await sendOptions('/v1/pets');
      expectError(anonymous, 401, 'missing_api_key');
      expectRateLimitHeaders(anonymous);

      const before = remaining(await send(`${store.url}/v1/pets`, { key }));
      const denied = await sendOptions('/v1/pets', key);
      expectError(denied, 405, 'method_not_allowed');
      expect(denied.headers.get('allow')).toBe('GET, HEAD, POST');
      expect(remaining(denied)).toBe(before - 1);

      const unknown = await sendOptions('/v1/nothing', key);
      expectError(unknown, 404, 'not_found');
      expect(remaining(unknown)).toBe(before - 2);
      expectError(await sendOptions('/admin/keys', key), 403, 'forbidden');

      const outside = await sendOptions('/nothing');
      expectError(outside, 404, 'not_found');
      expectNoRateLimitHeaders(outside);
    });
  });
});

describe('the service with CORS_ORIGINS=*', () => {
  beforeAll(async () => {
    store = await startApplication({ environment: { CORS_ORIGINS: ['*'] } });
    ({ key } = await store.issue(UNLIMITED));
  });
  afterAll(() => store.close());

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
