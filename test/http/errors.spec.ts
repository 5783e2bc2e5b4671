import { gzipSync } from 'node:zlib';
import { shareApplication } from '../support/service/application.js';
import {
  expectError,
  expectHardened,
  expectNoRateLimitHeaders,
  expectRateLimitHeaders,
} from '../support/http/expectations.js';
import type { HttpResponse, Init } from '../support/http/http.js';
import { head, sendRaw, toHttpResponse } from '../support/http/raw-http.js';
import { whileBroken } from '../support/database/broken-table.js';

const MALFORMED = '{"name":';
const LARGE = 'x'.repeat(100_000);
const TEXT = { 'Content-Type': 'text/plain' };
const PET = { name: 'Rex', categoryId: 7 };
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const CHALLENGE = 'Bearer realm="animal-store"';

const store = shareApplication();
/** A key whose only request of the day is sent. */
let exhausted: string;
beforeAll(async () => {
  await store.send('/v1/pets', { method: 'POST', body: PET });
  ({ key: exhausted } = await store.issue({ plan: 'enterprise', perMinute: 1000, perDay: 1 }));
  expect((await store.send('/v1/pets', { key: exhausted })).status).toBe(200);
});

describe('404 not_found', () => {
  it('is returned for an unknown path whatever the method and body, which are not checked', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const response = await store.send('/v1/dogs', { method, headers: TEXT, body: MALFORMED });
      expectError(response, 404, 'not_found');
      expect(response.headers.get('allow')).toBeNull();
    }
  });
});

describe('405 method_not_allowed', () => {
  it.each<[string, Init]>([
    ['a good body', { body: PET }],
    ['malformed JSON', { body: MALFORMED }],
    ['an empty body of type JSON', { headers: { 'Content-Type': 'application/json' } }],
    ['another content type', { headers: TEXT, body: 'Rex' }],
  ])('is returned, rather than 400 or 415, for %s sent to a path that accepts none', async (_name, init) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await store.send('/v1/pets/1', { method, ...init });
      const message: unknown = expect.stringContaining('It allows GET, HEAD.');
      expectError(response, 405, 'method_not_allowed', message);
    }
  });
});

describe('a request with Content-Encoding', () => {
  const sendCoded = (coding: string, body: string | Buffer) =>
    store.send('/v1/pets', {
      method: 'POST',
      headers: { 'Content-Encoding': coding, 'Content-Type': 'application/json' },
      body,
    });

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

  it('gets 400 if there is no body to have a coding, and 200 for a GET, whose body is not read', async () => {
    const message: unknown = expect.stringContaining('must be a JSON object');
    expectError(await sendCoded('gzip', ''), 400, 'invalid_request', message);
    const coded = head(
      'GET /v1/pets',
      'Connection: close',
      'Content-Encoding: gzip',
      'Content-Length: 2',
      `Authorization: Bearer ${store.key}`,
    );
    expect((await sendRaw(store.url, coded, '{}')).status).toBe(200);
  });
});

describe('500 internal_error', () => {
  it('is returned for a defect with the request id, and reveals nothing of the implementation', async () => {
    await whileBroken(store.database, 'pets', async () => {
      for (const init of [{}, { method: 'POST', body: PET }]) {
        const response = await store.send('/v1/pets', init);
        const id = response.headers.get('x-request-id') ?? '';
        expect(id).toMatch(UUID);
        expectError(response, 500, 'internal_error', expect.stringContaining(id));
        expectRateLimitHeaders(response);
        expect(response.text).not.toMatch(/prisma|postgres|sql|division|zero|table|P2\d{3}|\.ts|\.js|stack/i);
        expect(response.headers.get('retry-after')).toBeNull();
        expect(response.headers.get('cache-control')).toBe('no-store');
        expectHardened(response);
      }
    });
    expect((await store.send('/v1/pets')).status).toBe(200);
  });
});

describe('the order of checks', () => {
  const remaining = async () => (await store.send('/v1/rate-limit')).headers.get('x-ratelimit-remaining');

  it.each<[string, string, Init]>([
    ['an unknown path', '/v1/dogs', {}],
    ['an undecodable path', '/v1/pets/%zz', {}],
    ['a method that is not allowed', '/v1/pets', { method: 'DELETE' }],
    ['malformed JSON', '/v1/pets', { method: 'POST', body: MALFORMED }],
    ['invalid fields', '/v1/pets', { method: 'POST', body: {} }],
    ['another content type', '/v1/pets', { method: 'POST', headers: TEXT, body: 'Rex' }],
    ['an invalid parameter', '/v1/pets?limit=0', {}],
    ['an unknown animal', '/v1/pets/999999', {}],
    ['a list that is still current', '/v1/pets', { headers: { 'If-None-Match': '*' } }],
    ['a path of administration', '/admin/keys', {}],
  ])('has 401 and 429 before any other error: %s', async (_name, target, init) => {
    const anonymous = await store.send(target, { ...init, key: undefined });
    expectError(anonymous, 401, 'missing_api_key');
    expect(anonymous.headers.get('www-authenticate')).toBe(CHALLENGE);
    expectRateLimitHeaders(anonymous);

    const over = await store.send(target, { ...init, key: exhausted });
    expectError(over, 429, 'rate_limit_exceeded');
    expectRateLimitHeaders(over);
    expectHardened(over);
    expect(over.headers.get('cache-control')).toBe('no-store');
    expect(over.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(over.headers.get('allow')).toBeNull();
  });

  it.each(['/v1/pets', '/v1/dogs', '/v1/pets/1', '/admin/keys/x/revoke'])(
    'has 413 before any other error, because no key is judged before the body has arrived: %s',
    async (target) => {
      const before = await remaining();
      for (const key of [undefined, exhausted, store.key]) {
        const response = await store.send(target, { method: 'POST', headers: TEXT, body: LARGE, key });
        expectError(response, 413, 'payload_too_large', 'The body is larger than 64 KiB.');
        expectRateLimitHeaders(response);
        expectHardened(response);
        expect(response.headers.get('www-authenticate')).toBeNull();
      }
      expect(await remaining()).toBe(before);
    },
  );

  it.each<[string, number, string, Init]>([
    ['length before type', 413, 'payload_too_large', { headers: TEXT, body: LARGE }],
    ['length before content', 413, 'payload_too_large', { body: MALFORMED.repeat(20_000) }],
    ['type before content', 415, 'unsupported_media_type', { headers: TEXT, body: MALFORMED }],
  ])('is, for a body, %s', async (_name, status, code, init) => {
    expectError(await store.send('/v1/pets', { method: 'POST', ...init }), status, code);
  });
});

describe('HEAD', () => {
  it.each<[string, Init]>([
    ['/v1/pets?limit=1', {}],
    ['/v1/pets/999999', {}],
    ['/v1/dogs', {}],
    ['/v1/pets?limit=0', {}],
    ['/livez', {}],
    ['/v1/pets without a key', { key: undefined }],
  ])('returns what GET returns, without the body: %s', async (request, init) => {
    const [target = ''] = request.split(' ');
    const get = await store.send(target, init);
    const answer = await store.send(target, { ...init, method: 'HEAD' });
    const changing = /^(date|connection|keep-alive|x-request-id|ratelimit|x-ratelimit-remaining)$/;
    const stable = ({ headers }: HttpResponse) => [...headers].filter(([name]) => !changing.test(name));
    expect([answer.status, answer.text]).toEqual([get.status, '']);
    expect(stable(answer)).toEqual(stable(get));
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
      expectHardened(response);
      expectNoRateLimitHeaders(response);
    },
  );
});
