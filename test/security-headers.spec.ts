import { startApplication, type TestApplication } from './support/application.js';
import { type Answer, send } from './support/http.js';
import { sendRaw } from './support/raw-http.js';

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

const ask = (target: string, init: Parameters<typeof send>[1] = {}): Promise<Answer> =>
  send(`${store.url}${target}`, { key, ...init });

function expectHardened(headers: Headers, policy = NOTHING): void {
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toBe(policy);
  // Who knows the version knows the holes.
  for (const banner of ['server', 'x-powered-by', 'via', 'x-aspnet-version', 'x-runtime']) {
    expect([banner, headers.get(banner)]).toEqual([banner, null]);
  }
}

describe('every answer forbids a browser to guess its type, to run or to frame it, and tells no version:', () => {
  it.each<[string, number, string, Parameters<typeof send>[1]]>([
    ['a list', 200, '/v1/pets', {}],
    ['HEAD', 200, '/v1/pets', { method: 'HEAD' }],
    ['what was added', 201, '/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
    [
      'a preflight',
      204,
      '/v1/pets',
      { method: 'OPTIONS', headers: { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' } },
    ],
    ['a fault of the body', 400, '/v1/pets', { method: 'POST', body: '{' }],
    ['a stranger', 401, '/v1/pets', { key: undefined }],
    ['a client among administrators', 403, '/admin/keys', {}],
    ['an unknown path', 404, '/v1/dogs', {}],
    ['an undecodable path', 404, '/v1/pets/%zz', {}],
    ['an overlong path', 404, `/v1/pets/${'9'.repeat(5000)}`, {}],
    ['another method', 405, '/v1/pets', { method: 'DELETE' }],
    ['a body that is too large', 413, '/v1/pets', { method: 'POST', body: 'x'.repeat(100_000) }],
    ['the document', 200, '/openapi.json', {}],
    ['the document of administration', 200, '/admin-openapi.json', {}],
    ['the process', 200, '/livez', {}],
    ['a script of the page', 200, '/docs/swagger-ui-bundle.js', {}],
    ['the front door', 302, '/', { headers: { Accept: 'text/html' }, redirect: 'manual' }],
    ['a file that is not of the page', 404, '/docs/package.json', {}],
  ])('%s', async (_name, status, target, init) => {
    const answer = await ask(target, init);
    expect(answer.status).toBe(status);
    expectHardened(answer.headers);
  });

  it('an answer that still holds', async () => {
    const etag = (await ask('/v1/pets')).headers.get('etag') ?? '';
    const answer = await ask('/v1/pets', { headers: { 'If-None-Match': etag } });
    expect(answer.status).toBe(304);
    expectHardened(answer.headers);
  });

  it('a defect', async () => {
    await store.database.query('ALTER TABLE pets RENAME COLUMN category_id TO lost');
    try {
      const answer = await ask('/v1/pets?limit=3');
      expect(answer.status).toBe(500);
      expectHardened(answer.headers);
    } finally {
      await store.database.query('ALTER TABLE pets RENAME COLUMN lost TO category_id');
    }
  });

  it.each([
    ['no HTTP', 400, 'nonsense\r\n\r\n'],
    ['headers that are too large', 431, `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['CONNECT', 400, 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n'],
  ])('%s', async (_name, status, request) => {
    const answer = await sendRaw(store.url, request);
    expect(answer.status).toBe(status);
    expectHardened(new Headers(answer.headers));
  });
});

describe('the reference page', () => {
  it.each(['/docs', '/docs/', '/docs/admin', '/docs/admin/'])(
    '%s runs its own files alone, nothing within it, and calls the servers of the document alone',
    async (address) => {
      const page = await ask(address, { key: undefined });
      expect(page.status).toBe(200);
      expectHardened(
        page.headers,
        [
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "img-src 'self' data:",
          "connect-src 'self' https://api.animal-store.example https://staging.animal-store.example",
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
    const answer = await sendRaw(store.url, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'not_found' });
  });
});
