import { startApplication, type TestApplication } from './support/application.js';
import {
  expectError,
  expectNoRateLimitHeaders,
  expectRateLimitHeaders,
  RATE_LIMIT_HEADERS,
} from './support/expectations.js';
import { type Answer, send } from './support/http.js';

const UNLIMITED = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };
const ORIGIN = 'https://shop.example';

let store: TestApplication;
let key: string;

const OVERLONG = `/v1/pets/${'9'.repeat(5000)}`;
/** What a browser shows a page of any answer (Fetch, "CORS-safelisted response-header name"), or what is meant for itself. */
const NEEDS_NO_WORD =
  /^(cache-control|content-(length|security-policy|type)|connection|date|keep-alive|vary|x-content-type-options)$/;

const corsHeaders = ({ headers }: Answer) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));
const remaining = ({ headers }: Answer) => Number(headers.get('x-ratelimit-remaining'));

function preflight(url: string, path = '/v1/pets', origin = ORIGIN, as?: string): Promise<Answer> {
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

describe('without CORS_ORIGINS', () => {
  beforeAll(async () => {
    store = await startApplication();
    ({ key } = await store.issue(UNLIMITED));
  });
  afterAll(() => store.close());

  it('no page of another origin may read anything, and OPTIONS is a method like any other', async () => {
    expect(corsHeaders(await send(`${store.url}/v1/pets`, { key, headers: { Origin: ORIGIN } }))).toEqual([]);
    const refused = await preflight(store.url);
    expectError(refused, 401, 'missing_api_key');
    expect(corsHeaders(refused)).toEqual([]);
  });
});

describe('with CORS_ORIGINS', () => {
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
  ])('a preflight of %s is answered without a key, and not counted', async (_name, path) => {
    const answer = await preflight(store.url, path);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, PATCH');
    expect(answer.headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
    );
    expect(answer.headers.get('access-control-max-age')).toBe('600');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('vary')).toBe('Origin');
    expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/);
    expectNoRateLimitHeaders(answer);
  });

  it.each(['a stranger', 'a key'])('preflights take nothing from %s, however many', async (whom) => {
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
    ['an addition', '/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }, 201],
    ['a refusal', '/v1/pets?limit=0', {}, 400],
    ['what is deprecated', '/v1/pets/7', {}, 404],
    ['what is not stable', '/v1/store/orders', {}, 200],
    ['an unknown path', '/v1/nothing', {}, 404],
    ['a path that cannot be decoded', '/v1/pets/%zz', {}, 404],
    ['an overlong path', OVERLONG, {}, 404],
    ['another method', '/v1/pets', { method: 'DELETE' }, 405],
    ['a stranger', '/v1/pets', { key: undefined }, 401],
    ['a stranger at a path that cannot be decoded', '/v1/pets/%zz', { key: undefined }, 401],
  ])('a page may read the answer to %s, with every header of it', async (_name, path, init, status) => {
    const answer = await send(`${store.url}${path}`, { key, ...init, headers: { Origin: ORIGIN } });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('vary')).toBe('Origin');
    expectRateLimitHeaders(answer);
    const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(', ') ?? [];
    const hidden = [...answer.headers.keys()].filter(
      (name) => !exposed.includes(name) && !NEEDS_NO_WORD.test(name) && !name.startsWith('access-control-'),
    );
    expect(hidden).toEqual([]);
  });

  it('a page may read all headers of limits, deprecation and refusals, each named once', async () => {
    const answer = await send(`${store.url}/v1/pets`, { key, headers: { Origin: ORIGIN } });
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(exposed).toEqual(
      expect.arrayContaining([
        'X-Request-Id',
        ...RATE_LIMIT_HEADERS,
        'X-RateLimit-Degraded',
        'X-Api-Key-Expires',
        'Retry-After',
        'Deprecation',
        'Sunset',
        'Link',
        'Location',
        'ETag',
        'X-Stability',
        'Idempotent-Replayed',
        'WWW-Authenticate',
        'Allow',
      ]),
    );
    expect(new Set(exposed).size).toBe(exposed.length);
  });

  it('a page may read that a list still holds', async () => {
    const headers = { Origin: ORIGIN };
    const etag = (await send(`${store.url}/v1/pets`, { key, headers })).headers.get('etag') ?? '';
    const answer = await send(`${store.url}/v1/pets`, {
      key,
      headers: { ...headers, 'If-None-Match': etag },
    });
    expect(answer.status).toBe(304);
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(answer.headers.get('vary')).toBe('Origin');
  });

  it.each([
    ['another origin', 'https://elsewhere.example'],
    ['an origin that is none', 'null'],
    ['an origin that begins alike', 'https://shop.example.elsewhere.example'],
    ['an origin that ends alike', 'https://a.shop.example'],
    ['another scheme', 'http://shop.example'],
    ['another port', 'https://shop.example:8443'],
    ['a port that goes without saying', 'https://shop.example:443'],
    ['another letter case', 'https://SHOP.example'],
    ['a slash at its end', 'https://shop.example/'],
    ['two origins', `${ORIGIN}, http://localhost:5173`],
    ['every origin', '*'],
  ])('a page of %s may read nothing', async (_name, origin) => {
    for (const path of ['/v1/pets', '/v1/nothing', '/v1/pets/%zz']) {
      const answer = await send(`${store.url}${path}`, { key, headers: { Origin: origin } });
      const asked = await preflight(store.url, path, origin);
      expect([answer.status, asked.status]).toEqual([path === '/v1/pets' ? 200 : 404, 204]);
      for (const each of [answer, asked]) {
        expect(corsHeaders(each)).toEqual([]);
        expect(each.headers.get('vary')).toBe('Origin');
      }
    }
  });

  it('every answer to no page tells that it would be another to one', async () => {
    for (const path of ['/v1/pets', '/v1/nothing', '/v1/pets/%zz', '/openapi.json', '/livez']) {
      const answer = await send(`${store.url}${path}`, { key });
      const vary = path === '/openapi.json' ? 'Origin, Accept-Encoding' : 'Origin';
      expect([path, answer.headers.get('vary'), corsHeaders(answer)]).toEqual([path, vary, []]);
    }
  });

  describe.each<[string, Record<string, string>]>([
    ['without an Origin', {}],
    ['without a method', { Origin: ORIGIN }],
    ['with an empty method', { Origin: ORIGIN, 'Access-Control-Request-Method': '' }],
    ['with a method alone', { 'Access-Control-Request-Method': 'POST' }],
  ])('OPTIONS %s is no preflight, but a method like any other', (_name, headers) => {
    const json = { 'Content-Type': 'application/json' };

    it.each<[string, Parameters<typeof send>[1]]>([
      ['no body', {}],
      ['a body', { body: {} }],
      ['malformed JSON', { body: '{', headers: json }],
      ['another content type', { body: 'Rex', headers: { 'Content-Type': 'text/plain' } }],
      ['a body that is too large', { body: 'x'.repeat(100_000), headers: json }],
    ])('with %s', async (_body, init) => {
      const ask = (path: string, as?: string) =>
        send(`${store.url}${path}`, {
          ...init,
          method: 'OPTIONS',
          key: as,
          headers: { ...init?.headers, ...headers },
        });
      const stranger = await ask('/v1/pets');
      expectError(stranger, 401, 'missing_api_key');
      expectRateLimitHeaders(stranger);

      const before = remaining(await send(`${store.url}/v1/pets`, { key }));
      const refused = await ask('/v1/pets', key);
      expectError(refused, 405, 'method_not_allowed');
      expect(refused.headers.get('allow')).toBe('GET, HEAD, POST');
      expect(remaining(refused)).toBe(before - 1);

      const unknown = await ask('/v1/nothing', key);
      expectError(unknown, 404, 'not_found');
      expect(remaining(unknown)).toBe(before - 2);
      expectError(await ask('/admin/keys', key), 403, 'forbidden');

      const outside = await ask('/nothing');
      expectError(outside, 404, 'not_found');
      expectNoRateLimitHeaders(outside);
    });
  });
});

describe('with CORS_ORIGINS=*', () => {
  beforeAll(async () => {
    store = await startApplication({ environment: { CORS_ORIGINS: ['*'] } });
    ({ key } = await store.issue(UNLIMITED));
  });
  afterAll(() => store.close());

  it.each(['https://anywhere.example', 'null'])('every page may read, also of %s', async (origin) => {
    const asked = await preflight(store.url, '/v1/pets', origin);
    const answer = await send(`${store.url}/v1/pets`, { key, headers: { Origin: origin } });
    expect([asked.status, answer.status]).toEqual([204, 200]);
    for (const { headers } of [asked, answer]) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      // A browser would refuse both together (Fetch, section 3.3.5), and sends the key without them.
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });
});
