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
const LARGE = 'x'.repeat(100_000);
const TEXT = { 'Content-Type': 'text/plain' };
const PET = { name: 'Rex', categoryId: 7 };
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const CHALLENGE = 'Bearer realm="animal-store"';

let store: TestApplication;
let key: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue(GENEROUS));
  await send(`${store.url}/v1/pets`, { method: 'POST', key, body: PET });
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
  it('is returned for an unknown path whatever the method and body, neither of which is checked', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      for (const body of [MALFORMED, LARGE]) {
        const response = await sendTo('/v1/dogs', { method, key, headers: TEXT, body });
        expectError(response, 404, 'not_found');
        expect(response.headers.get('allow')).toBeNull();
      }
    }
  });
});

describe('405 method_not_allowed', () => {
  it.each([
    ['DELETE', '/v1/pets', 'GET, HEAD, POST'],
    ['PUT', '/v1/pets/1', 'GET, HEAD'],
    ['DELETE', `/v1/pets/${'9'.repeat(101)}`, 'GET, HEAD'],
    ['POST', '/livez', 'GET, HEAD'],
  ])('is returned for %s %s with Allow: %s', async (method, target, allow) => {
    const response = await sendTo(target, { method, key });
    expectError(response, 405, 'method_not_allowed', expect.stringContaining(`It allows ${allow}.`));
    expect(response.headers.get('allow')).toBe(allow);
  });

  it.each<[string, Init]>([
    ['a good body', { body: PET }],
    ['malformed JSON', { body: MALFORMED }],
    ['an empty body of type JSON', { headers: { 'Content-Type': 'application/json' } }],
    ['another content type', { headers: TEXT, body: 'Rex' }],
    ['a body that is too large', { body: LARGE }],
  ])(
    'is returned, rather than 400, 413 or 415, for %s sent to a path that accepts none',
    async (_name, init) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        expectError(await sendTo('/v1/pets/1', { method, key, ...init }), 405, 'method_not_allowed');
      }
    },
  );
});

describe('a request with Content-Encoding', () => {
  const sendCoded = async (coding: string, body: string | Buffer, method = 'POST') =>
    toHttpResponse(
      await sendRaw(
        store.url,
        `${method} /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n` +
          `Content-Encoding: ${coding}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
          `Authorization: Bearer ${key}\r\n\r\n`,
        body,
      ),
    );

  it.each(['gzip', 'GZIP', 'br', 'identity, gzip', 'gzip, identity', 'identityidentity'])(
    'gets 415 when the coding is %s, whether or not the body has that coding',
    async (coding) => {
      for (const body of [gzipSync(JSON.stringify(PET)), JSON.stringify(PET), MALFORMED]) {
        const message = 'The body must have no content coding: leave out the header Content-Encoding.';
        expectError(await sendCoded(coding, body), 415, 'unsupported_media_type', message);
      }
    },
  );

  it.each(['identity', 'Identity', 'identity, identity', ''])(
    'gets 201 when the coding is "%s", which is none',
    async (coding) => {
      expect((await sendCoded(coding, JSON.stringify(PET))).status).toBe(201);
    },
  );

  it('gets 400 when there is no body to have a coding, and 200 for a GET, whose body is not read', async () => {
    const message: unknown = expect.stringContaining('must be a JSON object');
    expectError(await sendCoded('gzip', ''), 400, 'invalid_request', message);
    expect((await sendCoded('gzip', '{}', 'GET')).status).toBe(200);
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
    ['a method that is not allowed', '/v1/pets', { method: 'DELETE' }],
    ['malformed JSON', '/v1/pets', { method: 'POST', body: MALFORMED }],
    ['invalid fields', '/v1/pets', { method: 'POST', body: {} }],
    ['a body that is too large', '/v1/pets', { method: 'POST', body: LARGE }],
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
    ['length before type', 413, 'payload_too_large', { headers: TEXT, body: LARGE }],
    ['length before content', 413, 'payload_too_large', { body: MALFORMED.repeat(20_000) }],
    ['type before content', 415, 'unsupported_media_type', { headers: TEXT, body: MALFORMED }],
  ])('is, for a body, %s', async (_name, status, code, init) => {
    expectError(await sendTo('/v1/pets', { method: 'POST', key, ...init }), status, code);
  });
});

describe('HEAD', () => {
  it.each(['/v1/pets?limit=1', '/v1/pets/999999', '/v1/dogs', '/v1/pets?limit=0', '/livez'])(
    'returns what GET returns, without the body: %s',
    async (target) => {
      const get = await sendTo(target, { key });
      const head = await sendTo(target, { key, method: 'HEAD' });
      const changing = /^(date|connection|keep-alive|x-request-id|ratelimit|x-ratelimit-remaining)$/;
      const stable = ({ headers }: HttpResponse) => [...headers].filter(([name]) => !changing.test(name));
      expect([head.status, head.text]).toEqual([get.status, '']);
      expect(stable(head)).toEqual(stable(get));
    },
  );

  it('requires authentication', async () => {
    const { status, headers, text } = await sendTo('/v1/pets', { method: 'HEAD' });
    expect([status, headers.get('www-authenticate'), text]).toEqual([401, CHALLENGE, '']);
  });
});

describe('a request that the HTTP parser rejects', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n', 400, 'invalid_request'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00', 400, 'invalid_request'],
    ['an unknown method', 'BREED /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
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
  it.each([
    [
      'an unknown expectation, as there is no 417',
      'HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: wonders',
    ],
    ['HTTP/1.0 without a Host', 'HTTP/1.0'],
  ])('are served: %s', async (_name, form) => {
    const request = `GET /v1/pets ${form}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const response = toHttpResponse(await sendRaw(store.url, request));
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
  });

  it('get a new X-Request-Id when they have two', async () => {
    const ids = 'X-Request-Id: a\r\nX-Request-Id: b\r\nConnection: close';
    const { headers } = await sendRaw(store.url, `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${ids}\r\n\r\n`);
    expect(headers['x-request-id']).toMatch(UUID);
  });
});
