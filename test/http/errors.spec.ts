import { gzipSync } from 'node:zlib';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { startDatabaseProxy } from '../support/database/database-proxy.js';
import { createDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import {
  expectError,
  expectNoRateLimitHeaders,
  expectRateLimitHeaders,
} from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { sendRaw, toHttpResponse } from '../support/http/raw-http.js';

const GENEROUS = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };
const MALFORMED = '{"name":';
const TEXT = { 'Content-Type': 'text/plain' };
const PET = { name: 'Rex', categoryId: 7 };
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const CHALLENGE = 'Bearer realm="animal-store"';

let store: TestApplication;
let key: string;
let path: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue(GENEROUS));
  const { headers } = await send(`${store.url}/v1/pets`, { method: 'POST', key, body: PET });
  path = headers.get('location') ?? '';
});
afterAll(() => store.close());

type Init = Parameters<typeof send>[1];

const sendTo = (target: string, init: Init = {}): Promise<HttpResponse> =>
  send(`${store.url}${target}`, init);

/** Issues a key, and uses up its limit. */
async function exhaustedKey(): Promise<string> {
  const { key: exhausted } = await store.issue({ plan: 'enterprise', perMinute: 2, perDay: 10 });
  expect((await sendTo('/v1/pets', { key: exhausted })).status).toBe(200);
  expect((await sendTo('/v1/pets', { key: exhausted })).status).toBe(200);
  return exhausted;
}

describe('404 not_found', () => {
  it.each([
    ['an unknown path', '/v1/dogs'],
    ['the root of the interface', '/v1'],
    ['a path below an animal', '/v1/pets/1/name'],
    ['a trailing slash', '/v1/pets/'],
    ['other letter case', '/v1/Pets'],
    ['an undecodable path', '/v1/%zz'],
    ['an overlong unknown path', `/v1/${'x'.repeat(5000)}`],
  ])('is returned for %s', async (_name, target) => {
    const response = await sendTo(target, { key });
    expectError(response, 404, 'not_found');
    expectRateLimitHeaders(response);
    expect(response.headers.get('allow')).toBeNull();
  });

  it('is returned for an unknown path whatever the method and body, neither of which is checked', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      expectError(await sendTo('/v1/dogs', { method, key, body: MALFORMED }), 404, 'not_found');
      const large = await sendTo('/v1/dogs', { method, key, headers: TEXT, body: 'x'.repeat(100_000) });
      expectError(large, 404, 'not_found');
    }
  });
});

describe('405 method_not_allowed', () => {
  it.each([
    ['DELETE', '/v1/pets', 'GET, HEAD, POST'],
    ['PUT', '/v1/pets/1', 'GET, HEAD'],
    ['DELETE', `/v1/pets/${'9'.repeat(101)}`, 'GET, HEAD'],
  ])('is returned for %s %s with Allow: %s', async (method, target, allow) => {
    const response = await sendTo(target, { method, key });
    expectError(response, 405, 'method_not_allowed', expect.stringContaining(`It allows ${allow}.`));
    expect(response.headers.get('allow')).toBe(allow);
    expectRateLimitHeaders(response);
  });

  it.each<[string, Init]>([
    ['a good body', { body: PET }],
    ['malformed JSON', { body: MALFORMED }],
    ['an empty body of type JSON', { headers: { 'Content-Type': 'application/json' } }],
    ['another content type', { headers: TEXT, body: 'Rex' }],
    ['a body that is too large', { body: 'x'.repeat(100_000) }],
    ['no body', {}],
  ])(
    'is returned, rather than 400, 413 or 415, for %s sent to a path that accepts none',
    async (_name, init) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const response = await sendTo(path, { method, key, ...init });
        expectError(response, 405, 'method_not_allowed');
        expect(response.headers.get('allow')).toBe('GET, HEAD');
        expectRateLimitHeaders(response);
      }
    },
  );

  it('is returned for other methods outside the interface too', async () => {
    const response = await sendTo('/livez', { method: 'POST' });
    expectError(response, 405, 'method_not_allowed');
    expect(response.headers.get('allow')).toBe('GET, HEAD');
    expectNoRateLimitHeaders(response);
  });
});

describe('POST /v1/pets with Content-Encoding', () => {
  const post = (coding: string, body: string | Buffer) =>
    sendRaw(
      store.url,
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Encoding: ${coding}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Authorization: Bearer ${key}\r\n\r\n`,
      body,
    ).then(toHttpResponse);
  const animals = () => store.database.query('SELECT count(*) FROM pets');

  it.each([
    'gzip',
    'GZIP',
    'x-gzip',
    'deflate',
    'br',
    'zstd',
    'identity, gzip',
    'gzip, identity',
    'identityidentity',
    'rot13',
  ])('returns 415 when the coding is %s, whether or not the body has that coding', async (coding) => {
    const before = await animals();
    for (const body of [gzipSync(JSON.stringify(PET)), JSON.stringify(PET), MALFORMED]) {
      const response = await post(coding, body);
      expectError(
        response,
        415,
        'unsupported_media_type',
        'The body must have no content coding: leave out the header Content-Encoding.',
      );
      expectRateLimitHeaders(response);
    }
    expect(await animals()).toEqual(before);
  });

  it.each(['identity', 'Identity', 'identity, identity', ''])(
    'returns 201 when the coding is "%s", which is none',
    async (coding) => {
      expect((await post(coding, JSON.stringify(PET))).status).toBe(201);
    },
  );

  it('returns 400 when there is no body to have a coding', async () => {
    expectError(
      await post('gzip', ''),
      400,
      'invalid_request',
      expect.stringContaining('must be a JSON object'),
    );
  });
});

describe('GET /v1/pets with Content-Encoding', () => {
  it('returns 200, as the body of a GET is not read', async () => {
    const response = await sendRaw(
      store.url,
      `GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Encoding: gzip\r\nContent-Length: 2\r\nAuthorization: Bearer ${key}\r\n\r\n{}`,
    );
    expect(response.status).toBe(200);
  });
});

describe('500 internal_error', () => {
  it('is returned for a defect with the request id, and reveals nothing of the implementation', async () => {
    await store.database.query('ALTER TABLE pets RENAME COLUMN category_id TO lost');
    try {
      for (const init of [{}, { method: 'POST', body: PET }]) {
        const response = await sendTo('/v1/pets', { key, ...init });
        const id = response.headers.get('x-request-id') ?? '';
        expect(id).toMatch(UUID);
        expectError(response, 500, 'internal_error', expect.stringContaining(id));
        expectRateLimitHeaders(response);
        expect(response.text).not.toMatch(
          /prisma|postgres|sql|column|category|lost|table|P2\d{3}|\.ts|\.js|stack/i,
        );
        expect(response.headers.get('retry-after')).toBeNull();
      }
    } finally {
      await store.database.query('ALTER TABLE pets RENAME COLUMN lost TO category_id');
    }
    expect((await sendTo('/v1/pets', { key })).status).toBe(200);
  });
});

describe('503 service_unavailable', () => {
  it('is returned for every request while the database is away, with Retry-After, and no longer once it is back', async () => {
    const database = await createDatabase();
    const proxy = await startDatabaseProxy(database.url);
    const dependent = await startApplication({ database, environment: { DATABASE_URL: proxy.url } });
    const inits: Init[] = [
      {},
      { method: 'POST', body: PET },
      { method: 'POST', body: MALFORMED },
      { method: 'DELETE' },
    ];
    try {
      const { key: own } = await dependent.issue(GENEROUS);
      const call = (init: Init) => send(`${dependent.url}/v1/pets`, { key: own, ...init });
      const statuses = async () => (await Promise.all(inits.map(call))).map(({ status }) => status);
      const before = await statuses();
      proxy.goAway();
      // Until the cached key expires, responses that need no database are still sent.
      await until(async () => (await statuses()).every((status) => status === 503));
      for (const response of await Promise.all(inits.map(call))) {
        expectError(response, 503, 'service_unavailable', expect.stringMatching(/try again/i));
        expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expectRateLimitHeaders(response);
        expect(response.text).not.toMatch(/prisma|postgres|ECONN|127\.0\.0\.1|connection/i);
      }
      await proxy.comeBack();
      expect(await statuses()).toEqual(before);
    } finally {
      await dependent.close();
      proxy.close();
      await database.drop();
    }
  });
});

describe('the order of checks', () => {
  it.each<[string, string, Init]>([
    ['an unknown path', '/v1/dogs', {}],
    ['an undecodable path', '/v1/pets/%zz', {}],
    ['an overlong path', `/v1/pets/${'9'.repeat(5000)}`, {}],
    ['a method that is not allowed', '/v1/pets', { method: 'DELETE' }],
    ['malformed JSON', '/v1/pets', { method: 'POST', body: MALFORMED }],
    ['invalid fields', '/v1/pets', { method: 'POST', body: {} }],
    ['a body that is too large', '/v1/pets', { method: 'POST', body: 'x'.repeat(100_000) }],
    ['another content type', '/v1/pets', { method: 'POST', headers: TEXT, body: 'Rex' }],
    ['an invalid parameter', '/v1/pets?limit=0', {}],
    ['an unknown animal', '/v1/pets/999999', {}],
    ['a path of administration', '/admin/keys', {}],
  ])('has 401 and 429 before any other error: %s', async (_name, target, init) => {
    const anonymous = await sendTo(target, init);
    expectError(anonymous, 401, 'missing_api_key');
    expect(anonymous.headers.get('www-authenticate')).toBe(CHALLENGE);
    expectRateLimitHeaders(anonymous);

    const over = await sendTo(target, { ...init, key: await exhaustedKey() });
    expectError(over, 429, 'rate_limit_exceeded');
    expectRateLimitHeaders(over);
    expect(over.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    expect(over.headers.get('allow')).toBeNull();
  });

  it.each<[string, number, string, Init]>([
    ['length before type', 413, 'payload_too_large', { headers: TEXT, body: 'x'.repeat(100_000) }],
    ['length before content', 413, 'payload_too_large', { body: MALFORMED.repeat(20_000) }],
    ['type before content', 415, 'unsupported_media_type', { headers: TEXT, body: MALFORMED }],
  ])('is, for a body, %s', async (_name, status, code, init) => {
    expectError(await sendTo('/v1/pets', { method: 'POST', key, ...init }), status, code);
  });
});

describe('HEAD', () => {
  it.each([
    '/v1/pets',
    '/v1/pets?limit=1',
    '/v1/pets/1',
    '/v1/pets/999999',
    '/v1/dogs',
    '/v1/pets?limit=0',
    '/livez',
  ])('returns what GET returns, without the body: %s', async (target) => {
    const get = await sendTo(target, { key });
    const head = await sendTo(target, { key, method: 'HEAD' });
    const stable = ({ headers }: HttpResponse) =>
      [...headers].filter(
        ([name]) => !/^(date|connection|keep-alive|x-request-id|ratelimit|x-ratelimit-remaining)$/.test(name),
      );
    expect(head.status).toBe(get.status);
    expect(stable(head)).toEqual(stable(get));
    expect(head.text).toBe('');
  });

  it('requires authentication', async () => {
    const { status, headers, text } = await sendTo('/v1/pets', { method: 'HEAD' });
    expect([status, headers.get('www-authenticate'), text]).toEqual([401, CHALLENGE, '']);
  });
});

describe('X-Request-Id', () => {
  const TARGETS: [string, Init][] = [
    ['/v1/pets', {}],
    ['/v1/pets', { method: 'POST', body: MALFORMED }],
    ['/v1/pets', { method: 'DELETE' }],
    ['/v1/dogs', {}],
    ['/v1/pets/%zz', {}],
    [`/v1/pets/${'9'.repeat(5000)}`, {}],
    ['/nothing', {}],
    ['/livez', {}],
  ];

  it.each(TARGETS)('is on the response to %s %j, with a key and without', async (target, init) => {
    for (const each of [{ ...init, key }, init]) {
      expect((await sendTo(target, each)).headers.get('x-request-id')).toMatch(UUID);
      const headers = { 'X-Request-Id': 'mine-1' };
      expect((await sendTo(target, { ...each, headers })).headers.get('x-request-id')).toBe('mine-1');
    }
  });

  it('is a new one when the client sends two', async () => {
    const response = await sendRaw(
      store.url,
      'GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n\r\n',
    );
    expect(response.headers['x-request-id']).toMatch(UUID);
  });
});

describe('a request that the HTTP parser rejects', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n', 400, 'invalid_request'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00', 400, 'invalid_request'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'invalid_request'],
    ['an unknown method', 'BREED /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
    [
      'a header with a control character',
      'GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\x01b\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'two lengths',
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'headers over 16 KiB',
      `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
  ])(
    'gets the three-field body, a request id and no rate-limit headers: %s',
    async (_name, request, status, code) => {
      const response = toHttpResponse(await sendRaw(store.url, request));
      expectError(response, status, code);
      expect(response.headers.get('x-request-id')).toMatch(UUID);
      expect(response.headers.get('connection')).toBe('close');
      expectNoRateLimitHeaders(response);
    },
  );
});

describe('other forms of a request', () => {
  it('ignores an unknown expectation: there is no 417', async () => {
    const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: wonders\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const response = toHttpResponse(await sendRaw(store.url, request));
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
  });

  it('serves HTTP/1.0 without a Host', async () => {
    const response = toHttpResponse(
      await sendRaw(store.url, `GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`),
    );
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
  });
});
