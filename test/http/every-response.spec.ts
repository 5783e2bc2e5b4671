import { shareApplication } from '../support/service/application.js';
import {
  expectHardened,
  expectNoRateLimitHeaders,
  expectRateLimitHeaders,
} from '../support/http/expectations.js';
import type { HttpResponse, Init } from '../support/http/http.js';

const ORIGIN = 'https://shop.example';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const store = shareApplication({ environment: { CORS_ORIGINS: [ORIGIN] } });
beforeAll(() => store.database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7)`));

describe.each<[string, number, string, Init]>([
  ['a list', 200, '/v1/pets', {}],
  ['HEAD', 200, '/v1/pets', { method: 'HEAD' }],
  ['a created animal', 201, '/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
  ['a deprecated operation', 200, '/v1/pets/1', {}],
  ['an operation that is not stable', 200, '/v1/store/orders', {}],
  ['a list that is still current', 304, '/v1/pets', { headers: { 'If-None-Match': '*' } }],
  ['an invalid parameter', 400, '/v1/pets?limit=0', {}],
  ['an invalid body', 400, '/v1/pets', { method: 'POST', body: '{' }],
  ['a request without a key', 401, '/v1/pets', { key: undefined }],
  ['a client key under /admin', 403, '/admin/keys', {}],
  ['an unknown animal', 404, '/v1/pets/999', {}],
  ['an unknown path', 404, '/v1/dogs', {}],
  ['an undecodable path', 404, '/v1/pets/%zz', {}],
  ['an overlong path', 404, `/v1/pets/${'9'.repeat(5000)}`, {}],
  ['another method', 405, '/v1/pets', { method: 'DELETE' }],
  ['a body that is too large', 413, '/v1/pets', { method: 'POST', body: 'x'.repeat(100_000) }],
  ['the OpenAPI document', 200, '/openapi.json', {}],
  ['the OpenAPI document of administration', 200, '/admin-openapi.json', {}],
  ['liveness', 200, '/livez', {}],
  ['liveness by another method', 405, '/livez', { method: 'POST' }],
  ['a script of the reference page', 200, '/docs/swagger-ui-bundle.js', {}],
  ['the root', 302, '/', { headers: { Accept: 'text/html' }, redirect: 'manual' }],
  ['an unknown file under /docs', 404, '/docs/package.json', {}],
  ['a path outside of the interface', 404, '/nothing', {}],
])('the response to %s', (_name, status, target, init) => {
  const request = (headers: Record<string, string> = {}) =>
    store.send(target, { ...init, headers: { ...init.headers, ...headers } });
  let response: HttpResponse;

  beforeAll(async () => {
    response = await request({ Origin: ORIGIN });
    expect(response.status).toBe(status);
  });

  it('has nosniff and a policy that forbids running or framing it, and no version', () => {
    expectHardened(response);
  });

  it('has a new X-Request-Id, or that of the client', async () => {
    expect(response.headers.get('x-request-id')).toMatch(UUID);
    expect((await request({ 'X-Request-Id': 'mine-1' })).headers.get('x-request-id')).toBe('mine-1');
  });

  it('has rate-limit headers under /v1 and /admin, and only there', () => {
    if (/^\/(v1|admin)\//.test(target)) {
      expectRateLimitHeaders(response);
    } else {
      expectNoRateLimitHeaders(response);
    }
  });

  it('is not cacheable, and has no ETag, if it is an error', () => {
    const { headers } = response;
    const isCacheable = headers.get('cache-control') !== 'no-store' || headers.has('etag');
    expect(status >= 400 && isCacheable).toBe(false);
  });

  it('lets a page of an allowed origin read all of its headers', () => {
    const { headers } = response;
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('vary')).toContain('Origin');
    // Without cookies, `*` stands for every header (Fetch, section 3.3.3).
    expect(headers.get('access-control-expose-headers')).toBe('*');
  });
});
