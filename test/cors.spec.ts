import { startApplication, type TestApplication } from './support/application.js';
import { expectError, expectNoRateLimitHeaders, expectRateLimitHeaders } from './support/expectations.js';
import { type Answer, send } from './support/http.js';

const UNLIMITED = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };
const ORIGIN = 'https://shop.example';

let store: TestApplication;
let key: string;

const corsHeaders = ({ headers }: Answer) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

function preflight(url: string, path = '/v1/pets', origin = ORIGIN): Promise<Answer> {
  return send(`${url}${path}`, {
    method: 'OPTIONS',
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
    ({ key } = await store.issue({ plan: 'enterprise', perMinute: 100_000, perDay: 100_000 }));
  });
  afterAll(() => store.close());

  it.each(['/v1/pets', '/v1/pets/7', '/v1/nothing', '/admin/keys'])(
    'a preflight of %s is answered without a key, and not counted',
    async (path) => {
      const answer = await preflight(store.url, path);
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(answer.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, PATCH');
      expect(answer.headers.get('access-control-allow-headers')).toBe(
        'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
      );
      expect(answer.headers.get('access-control-max-age')).toBe('600');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(answer.headers.get('vary')).toMatch(/Origin/);
      expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/);
      expectNoRateLimitHeaders(answer);
    },
  );

  it('preflights take nothing from a stranger, however many', async () => {
    const before = await send(`${store.url}/v1/pets`);
    await Promise.all(Array.from({ length: 20 }, () => preflight(store.url)));
    const after = await send(`${store.url}/v1/pets`);
    expect(Number(before.headers.get('x-ratelimit-remaining'))).toBe(
      Number(after.headers.get('x-ratelimit-remaining')) + 1,
    );
  });

  it.each<[string, string, Parameters<typeof send>[1], number]>([
    ['a list', '/v1/pets', {}, 200],
    ['a refusal', '/v1/pets?limit=0', {}, 400],
    ['an unknown path', '/v1/nothing', {}, 404],
    ['another method', '/v1/pets', { method: 'DELETE' }, 405],
    ['a stranger', '/v1/pets', { key: undefined }, 401],
  ])('a page may read %s, with all headers that the document tells of', async (_name, path, init, status) => {
    const answer = await send(`${store.url}${path}`, { key, ...init, headers: { Origin: ORIGIN } });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(answer.headers.get('vary')).toMatch(/Origin/);
    expectRateLimitHeaders(answer);
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(exposed).toEqual(
      expect.arrayContaining([
        'X-Request-Id',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'RateLimit',
        'RateLimit-Policy',
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
      ]),
    );
    expect(new Set(exposed).size).toBe(exposed.length);
  });

  it.each([
    'https://elsewhere.example',
    'null',
    'https://shop.example.elsewhere.example',
    'http://shop.example',
  ])('a page of %s may read nothing', async (origin) => {
    const answer = await send(`${store.url}/v1/pets`, { key, headers: { Origin: origin } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(answer.headers.get('vary')).toMatch(/Origin/);
    expect(
      (await preflight(store.url, '/v1/pets', origin)).headers.get('access-control-allow-origin'),
    ).toBeNull();
  });

  it('OPTIONS that is no preflight is a method like any other', async () => {
    for (const headers of [{}, { Origin: ORIGIN }]) {
      expectError(await send(`${store.url}/v1/pets`, { method: 'OPTIONS', headers }), 401, 'missing_api_key');
      const refused = await send(`${store.url}/v1/pets`, { method: 'OPTIONS', key, headers });
      expectError(refused, 405, 'method_not_allowed');
      expect(refused.headers.get('allow')).toBe('GET, HEAD, POST');
      expectError(
        await send(`${store.url}/v1/nothing`, { method: 'OPTIONS', key, headers }),
        404,
        'not_found',
      );
    }
  });
});

it('with CORS_ORIGINS=* every page may read', async () => {
  const open = await startApplication({ environment: { CORS_ORIGINS: ['*'] } });
  const answer = await preflight(open.url, '/v1/pets', 'https://anywhere.example');
  await open.close();
  expect(answer.status).toBe(204);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
});
