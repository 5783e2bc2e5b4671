import { startApplication, type TestApplication } from '../support/service/application.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { sendRaw } from '../support/http/raw-http.js';

const NOTHING = "default-src 'none'; frame-ancestors 'none'";
const ORIGIN = 'https://shop.example';
const UNLIMITED = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };

let store: TestApplication;
let key: string;

beforeAll(async () => {
  store = await startApplication({ environment: { CORS_ORIGINS: [ORIGIN] } });
  ({ key } = await store.issue(UNLIMITED));
});
afterAll(() => store.close());

const fetchTarget = (target: string, init: Parameters<typeof send>[1] = {}): Promise<HttpResponse> =>
  send(`${store.url}${target}`, { key, ...init });

function expectHardened(headers: Headers, policy = NOTHING): void {
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toBe(policy);
  // An attacker could look up the vulnerabilities of a version.
  for (const banner of ['server', 'x-powered-by', 'via', 'x-aspnet-version', 'x-runtime']) {
    expect([banner, headers.get(banner)]).toEqual([banner, null]);
  }
}

describe('every response has nosniff and a policy that forbids running or framing it, and no version:', () => {
  it.each<[string, number, string, Parameters<typeof send>[1]]>([
    ['a list', 200, '/v1/pets', {}],
    ['HEAD', 200, '/v1/pets', { method: 'HEAD' }],
    ['a created animal', 201, '/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
    [
      'a preflight',
      204,
      '/v1/pets',
      { method: 'OPTIONS', headers: { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' } },
    ],
    ['an invalid body', 400, '/v1/pets', { method: 'POST', body: '{' }],
    ['a request without a key', 401, '/v1/pets', { key: undefined }],
    ['a client key under /admin', 403, '/admin/keys', {}],
    ['an unknown path', 404, '/v1/dogs', {}],
    ['an undecodable path', 404, '/v1/pets/%zz', {}],
    ['an overlong path', 404, `/v1/pets/${'9'.repeat(5000)}`, {}],
    ['another method', 405, '/v1/pets', { method: 'DELETE' }],
    ['a body that is too large', 413, '/v1/pets', { method: 'POST', body: 'x'.repeat(100_000) }],
    ['the OpenAPI document', 200, '/openapi.json', {}],
    ['the OpenAPI document of administration', 200, '/admin-openapi.json', {}],
    ['liveness', 200, '/livez', {}],
    ['a script of the reference page', 200, '/docs/swagger-ui-bundle.js', {}],
    ['the root', 302, '/', { headers: { Accept: 'text/html' }, redirect: 'manual' }],
    ['an unknown file under /docs', 404, '/docs/package.json', {}],
  ])('%s', async (_name, status, target, init) => {
    const response = await fetchTarget(target, init);
    expect(response.status).toBe(status);
    expectHardened(response.headers);
  });

  it('a 304', async () => {
    const etag = (await fetchTarget('/v1/pets')).headers.get('etag') ?? '';
    const response = await fetchTarget('/v1/pets', { headers: { 'If-None-Match': etag } });
    expect(response.status).toBe(304);
    expectHardened(response.headers);
  });

  it('a 500', async () => {
    await store.database.query('ALTER TABLE pets RENAME COLUMN category_id TO lost');
    try {
      const response = await fetchTarget('/v1/pets?limit=3');
      expect(response.status).toBe(500);
      expectHardened(response.headers);
    } finally {
      await store.database.query('ALTER TABLE pets RENAME COLUMN lost TO category_id');
    }
  });

  it.each([
    ['bytes that are not HTTP', 400, 'nonsense\r\n\r\n'],
    ['headers that are too large', 431, `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('%s', async (_name, status, request) => {
    const response = await sendRaw(store.url, request);
    expect(response.status).toBe(status);
    expectHardened(new Headers(response.headers));
  });
});

describe('the reference page', () => {
  it.each(['/docs', '/docs/'])(
    '%s runs only its own files, no inline script, and calls only this service',
    async (address) => {
      const page = await fetchTarget(address, { key: undefined });
      expect(page.status).toBe(200);
      expectHardened(
        page.headers,
        [
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='",
          "img-src 'self' data:",
          "connect-src 'self'",
          "base-uri 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'",
        ].join('; '),
      );
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
      expect(page.text).not.toMatch(
        /<style|<script(?! src="\/docs\/[\w.-]+"><\/script>)| style=| on\w+=|https?:/,
      );
    },
  );

  it.each([
    '/docs/package.json',
    '/docs/README.md',
    '/docs/LICENSE',
    '/docs/index.html',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%5cpackage.json',
    '/docs//etc/passwd',
    '/docs/%2fetc%2fpasswd',
    '/docs/swagger-ui.css%00.js',
    '/docs/.%2fpackage.json',
  ])('serves no other file: %s', async (target) => {
    const response = await sendRaw(
      store.url,
      `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(response.status).toBe(404);
    expect(JSON.parse(response.body)).toMatchObject({ code: 'not_found' });
  });
});
