import type { Environment } from '../../src/process/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { expectError, expectHardened, expectNoRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { remaining } from '../support/http/rate-limit-headers.js';
import { UNLIMITED } from '../support/keys/keys.js';

const ORIGIN = 'https://shop.example';

let store: TestApplication;
let key: string;

/** Starts the service of a group. */
function useService(environment: Partial<Environment>): void {
  beforeAll(async () => {
    store = await startApplication({ environment });
    ({ key } = await store.issue(UNLIMITED));
  });
  afterAll(() => store.close());
}

const corsHeaders = ({ headers }: HttpResponse) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

const get = (path: string, origin?: string) =>
  send(`${store.url}${path}`, { key, headers: origin === undefined ? {} : { Origin: origin } });

const HEADERS = 'authorization,content-type,idempotency-key';

function preflight(
  path = '/v1/pets',
  origin = ORIGIN,
  as?: string,
  requested = HEADERS,
): Promise<HttpResponse> {
  return send(`${store.url}${path}`, {
    method: 'OPTIONS',
    key: as,
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': requested,
    },
  });
}

describe('the service without CORS_ORIGINS', () => {
  useService({});

  it('lets no page of another origin read anything, and treats OPTIONS as any other method', async () => {
    const denied = await preflight();
    expectError(denied, 401, 'missing_api_key');
    expect([await get('/v1/pets', ORIGIN), denied].map(corsHeaders)).toEqual([{}, {}]);
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
    const response = await preflight(path);
    const vary = 'Origin, Access-Control-Request-Headers';
    expect([response.status, response.text, response.headers.get('vary')]).toEqual([204, '', vary]);
    const { 'access-control-expose-headers': _, ...permissions } = corsHeaders(response);
    expect(permissions).toEqual({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': HEADERS,
      'access-control-max-age': '600',
    });
    expect(response.headers.get('x-request-id')).toMatch(/^\S+$/);
    expectHardened(response);
    expectNoRateLimitHeaders(response);
  });

  it.each([
    ['of a traced page', 'authorization,baggage,traceparent,tracestate'],
    ['of a page that wants no stored response', 'authorization,cache-control,pragma'],
    ['of any name', 'authorization,x-shop'],
  ])('lets a page send the headers %s', async (_whose, requested) => {
    const response = await preflight('/v1/pets', ORIGIN, undefined, requested);
    expect(response.headers.get('access-control-allow-headers')).toBe(requested);
  });

  it('responds to a preflight of a request without headers of its own', async () => {
    const headers = { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' };
    const response = await send(`${store.url}/v1/pets`, { method: 'OPTIONS', headers });
    expect(response.status).toBe(204);
    expect(corsHeaders(response)).not.toHaveProperty('access-control-allow-headers');
  });

  it.each([
    ['an anonymous client', () => undefined],
    ['a key', () => key],
  ])('counts no preflights against %s', async (_whom, credential) => {
    const as = credential();
    const before = await send(`${store.url}/v1/pets`, { key: as });
    const preflights = ['/v1/pets', '/v1/nothing', '/v1/pets/%zz'].map((path) => preflight(path, ORIGIN, as));
    expect((await Promise.all(preflights)).map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(remaining(await send(`${store.url}/v1/pets`, { key: as }))).toBe(remaining(before) - 1);
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
    for (const [path, status] of Object.entries({ '/v1/pets': 200, '/v1/pets/%zz': 404 })) {
      const responses = [await get(path, origin), await preflight(path, origin)];
      expect(responses.map((each) => [each.status, each.headers.get('vary'), corsHeaders(each)])).toEqual([
        [status, 'Origin', {}],
        [204, 'Origin', {}],
      ]);
    }
  });

  it('varies every response by Origin, also those to clients that are no page', async () => {
    for (const path of ['/v1/pets', '/v1/nothing', '/v1/pets/%zz', '/openapi.json', '/livez']) {
      const response = await get(path);
      const vary = path === '/openapi.json' ? 'Origin, Accept-Encoding' : 'Origin';
      expect([path, response.headers.get('vary'), corsHeaders(response)]).toEqual([path, vary, {}]);
    }
  });

  it.each<[string, Record<string, string>]>([
    ['without an Origin', {}],
    ['without a method', { Origin: ORIGIN }],
    ['with an empty method', { Origin: ORIGIN, 'Access-Control-Request-Method': '' }],
    ['with a method alone', { 'Access-Control-Request-Method': 'POST' }],
  ])('treats OPTIONS that is not a preflight as any other method: %s', async (_name, headers) => {
    const sendOptions = (path: string, as?: string) =>
      send(`${store.url}${path}`, { method: 'OPTIONS', key: as, headers });
    expectError(await sendOptions('/v1/pets'), 401, 'missing_api_key');
    const before = remaining(await get('/v1/pets'));
    const denied = await sendOptions('/v1/pets', key);
    expectError(denied, 405, 'method_not_allowed');
    expect([denied.headers.get('allow'), remaining(denied)]).toEqual(['GET, HEAD, POST', before - 1]);
    expectError(await sendOptions('/v1/nothing', key), 404, 'not_found');
    expectError(await sendOptions('/admin/keys', key), 403, 'forbidden');
  });
});

describe('the service with CORS_ORIGINS=https://*.shop.example', () => {
  useService({ CORS_ORIGINS: ['https://*.shop.example'] });

  it.each(['https://a.shop.example', 'https://a.b-2.shop.example'])(
    'lets a page of %s read',
    async (origin) => {
      for (const response of [await preflight('/v1/pets', origin), await get('/v1/pets', origin)]) {
        expect(corsHeaders(response)).toMatchObject({ 'access-control-allow-origin': origin });
        expect(response.headers.get('vary')).toMatch(/^Origin/);
      }
    },
  );

  it.each([
    'https://shop.example',
    'https://.shop.example',
    'https://ashop.example',
    'http://a.shop.example',
    'https://a.shop.example:8443',
    'https://a.shop.example.elsewhere.example',
    'https://elsewhere.example, https://a.shop.example',
    'https://*.shop.example',
    'null',
  ])('lets a page of %s read nothing', async (origin) => {
    expect(corsHeaders(await get('/v1/pets', origin))).toEqual({});
    expect(corsHeaders(await preflight('/v1/pets', origin))).toEqual({});
  });
});

describe('the service with CORS_ORIGINS=*', () => {
  useService({ CORS_ORIGINS: ['*'] });

  it.each(['https://anywhere.example', 'null'])(
    'lets every page read, also one of the origin %s',
    async (origin) => {
      for (const response of [await preflight('/v1/pets', origin), await get('/v1/pets', origin)]) {
        expect([200, 204]).toContain(response.status);
        expect(corsHeaders(response)).toMatchObject({ 'access-control-allow-origin': '*' });
        // A browser rejects both together (Fetch, section 3.3.5), and sends the key without them.
        expect(corsHeaders(response)).not.toHaveProperty('access-control-allow-credentials');
      }
    },
  );
});
