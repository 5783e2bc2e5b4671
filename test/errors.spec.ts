import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { generateApiKey } from '../src/auth/rules/api-key.js';
import { startApplication, type TestApplication } from './support/application.js';
import { startDatabaseProxy } from './support/database-proxy.js';
import { createDatabase } from './support/database.js';
import { until } from './support/eventually.js';
import { expectError, expectNoRateLimitHeaders, expectRateLimitHeaders } from './support/expectations.js';
import { type HttpResponse, send } from './support/http.js';
import { type RawResponse, sendRaw } from './support/raw-http.js';

const GENEROUS = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };
const MALFORMED = '{"name":';
const PET = { name: 'Rex', categoryId: 7 };
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const CHALLENGE = 'Bearer realm="animal-store"';

let store: TestApplication;
let key: string;
let adminKey: string;
let path: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue(GENEROUS));
  ({ key: adminKey } = await store.issue({ ...GENEROUS, role: 'admin' }));
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

function remainingOf({ headers }: HttpResponse): number {
  return Number(headers.get('x-ratelimit-remaining'));
}

/** Converts a response read from a socket to the form of `send`. */
function toResponse({ status, headers, body }: RawResponse): HttpResponse {
  return {
    status,
    headers: new Headers(headers),
    text: body,
    json: body === '' ? undefined : JSON.parse(body),
  };
}

describe('400 invalid_request', () => {
  it('is returned for a body that is not JSON', async () => {
    const response = await sendTo('/v1/pets', { method: 'POST', key, body: MALFORMED });
    expectError(response, 400, 'invalid_request', expect.stringMatching(/^The body is not JSON: /));
    expectRateLimitHeaders(response);
  });

  it('is returned for an invalid field', async () => {
    const response = await sendTo('/v1/pets', { method: 'POST', key, body: { ...PET, name: '' } });
    expectError(response, 400, 'invalid_request', 'The request is invalid: name must not be blank.');
    expectRateLimitHeaders(response);
  });

  it('is returned for an invalid query parameter', async () => {
    const response = await sendTo('/v1/pets?limit=0', { key });
    expectError(
      response,
      400,
      'invalid_request',
      'The request is invalid: limit must be an integer from 1 to 100.',
    );
    expectRateLimitHeaders(response);
  });
});

describe('401 missing_api_key', () => {
  it.each<[string, Record<string, string>]>([
    ['no Authorization', {}],
    ['an empty Authorization', { Authorization: '' }],
    ['the scheme alone', { Authorization: 'Bearer' }],
    ['the scheme and a space', { Authorization: 'Bearer ' }],
    ['another scheme', { Authorization: 'Basic YTpi' }],
    ['a key without a scheme', { Authorization: generateApiKey('staging') }],
    ['a key in another header', { 'X-Api-Key': generateApiKey('staging') }],
  ])('is returned for a request with %s, with a challenge that has no error', async (_name, headers) => {
    const response = await sendTo('/v1/pets', { headers });
    expectError(response, 401, 'missing_api_key', expect.stringContaining('Authorization: Bearer <API_KEY>'));
    expect(response.headers.get('www-authenticate')).toBe(CHALLENGE);
    expectRateLimitHeaders(response);
  });

  it('is returned for a valid key in the query or the body, which is no credential', async () => {
    expectError(await sendTo(`/v1/pets?access_token=${key}`), 401, 'missing_api_key');
    expectError(
      await sendTo('/v1/pets', { method: 'POST', body: { ...PET, access_token: key } }),
      401,
      'missing_api_key',
    );
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const response = await sendTo('/v1/pets', { method: 'POST', headers: form, body: `access_token=${key}` });
    expectError(response, 401, 'missing_api_key');
  });
});

describe('401 invalid_api_key', () => {
  it.each([
    ['unknown', () => generateApiKey('staging'), 'The API key is unknown'],
    ['malformed', () => 'secret', 'The API key is malformed; check that it was copied whole'],
    ['truncated', () => key.slice(0, -1), 'The API key is malformed; check that it was copied whole'],
    ['two words', () => `${key} ${key}`, 'The API key is malformed; a bearer token has no spaces'],
    [
      'of the other environment',
      () => generateApiKey('production'),
      'The API key is for another environment; this is staging',
    ],
  ])(
    'is returned for a key that is %s, with a challenge that has the reason',
    async (_name, given, reason) => {
      const response = await sendTo('/v1/pets', { key: given() });
      expectError(response, 401, 'invalid_api_key', `${reason}.`);
      expect(response.headers.get('www-authenticate')).toBe(
        `${CHALLENGE}, error="invalid_token", error_description="${reason}"`,
      );
      expectRateLimitHeaders(response);
    },
  );

  it('is returned for an expired key', async () => {
    const { key: expired, id } = await store.issue();
    await store.database.query('UPDATE api_keys SET expires_at = to_timestamp($2) WHERE id = $1', [
      id,
      (store.clock.now() - 1) / 1000,
    ]);
    const response = await sendTo('/v1/pets', { key: expired });
    expectError(response, 401, 'invalid_api_key', 'The API key has expired.');
    expect(response.headers.get('www-authenticate')).toBe(
      `${CHALLENGE}, error="invalid_token", error_description="The API key has expired"`,
    );
  });

  it('is returned for a revoked key', async () => {
    const { key: revoked, id } = await store.issue();
    await store.database.query('UPDATE api_keys SET revoked_at = to_timestamp($2) WHERE id = $1', [
      id,
      store.clock.now() / 1000 - 1,
    ]);
    expectError(
      await sendTo('/v1/pets', { key: revoked }),
      401,
      'invalid_api_key',
      'The API key was revoked.',
    );
  });

  it('does not contain the key that was sent', async () => {
    const unknown = generateApiKey('staging');
    const { text, headers } = await sendTo('/v1/pets', { key: unknown });
    expect(`${text} ${JSON.stringify([...headers])}`).not.toContain(unknown);
  });
});

describe('403 forbidden', () => {
  it.each(['/admin', '/admin/', '/admin/keys', '/admin/anything/else', '/%61dmin/keys', '/admin/%zz'])(
    'is returned at %s for the key of a client, whatever the method and body',
    async (target) => {
      for (const init of [{}, { method: 'DELETE' }, { method: 'POST', body: MALFORMED }]) {
        const response = await sendTo(target, { key, ...init });
        expectError(response, 403, 'forbidden', expect.stringMatching(/admin/));
        expectRateLimitHeaders(response);
      }
    },
  );

  it('is not returned to an administrator, who gets 404 for an unknown path', async () => {
    const response = await sendTo('/admin/anything', { key: adminKey });
    expectError(response, 404, 'not_found', expect.stringContaining('/admin/anything'));
    expectRateLimitHeaders(response);
  });

  it('is not returned to an administrator under /v1', async () => {
    expect((await sendTo('/v1/pets', { key: adminKey })).status).toBe(200);
  });
});

describe('404 not_found', () => {
  it.each([
    ['an unknown animal', '/v1/pets/999999'],
    ['an identifier that is not an int64', '/v1/pets/rex'],
    ['an unknown path', '/v1/dogs'],
    ['the root of the interface', '/v1'],
    ['a path below an animal', '/v1/pets/1/name'],
    ['a trailing slash', '/v1/pets/'],
    ['other letter case', '/v1/Pets'],
    ['an undecodable path', '/v1/pets/%zz'],
    ['an undecodable unknown path', '/v1/%zz'],
    ['an undecodable UTF-8 sequence', '/v1/pets/%c3%28'],
    ['an overlong identifier', `/v1/pets/${'9'.repeat(5000)}`],
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
      const headers = { 'Content-Type': 'text/plain' };
      expectError(
        await sendTo('/v1/dogs', { method, key, headers, body: 'x'.repeat(100_000) }),
        404,
        'not_found',
      );
    }
  });

  it.each(['/', '/nothing', '/v2/pets', '/V1/pets', '/pets', '/v11', '/favicon.ico', '/%zz'])(
    'is returned at %s outside the interface, without a key and without rate-limit headers',
    async (target) => {
      const response = await sendTo(target);
      expectError(response, 404, 'not_found');
      expectNoRateLimitHeaders(response);
    },
  );
});

describe('405 method_not_allowed', () => {
  it.each([
    ['DELETE', '/v1/pets', 'GET, HEAD, POST'],
    ['PUT', '/v1/pets', 'GET, HEAD, POST'],
    ['PATCH', '/v1/pets', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/pets', 'GET, HEAD, POST'],
    ['PROPFIND', '/v1/pets', 'GET, HEAD, POST'],
    ['DELETE', '/v1/pets?limit=0', 'GET, HEAD, POST'],
    ['DELETE', '/%761/pets', 'GET, HEAD, POST'],
    ['PUT', '/v1/pets/1', 'GET, HEAD'],
    ['POST', '/v1/pets/1', 'GET, HEAD'],
    ['PATCH', '/v1/pets/1', 'GET, HEAD'],
    ['DELETE', '/v1/pets/1', 'GET, HEAD'],
    ['OPTIONS', '/v1/pets/1', 'GET, HEAD'],
    ['DELETE', '/v1/pets/999999', 'GET, HEAD'],
    ['DELETE', '/v1/pets/%zz', 'GET, HEAD'],
    ['DELETE', `/v1/pets/${'9'.repeat(101)}`, 'GET, HEAD'],
  ])('is returned for %s %s with Allow: %s', async (method, target, allow) => {
    const response = await sendTo(target, { method, key });
    expectError(response, 405, 'method_not_allowed', expect.stringContaining(`It answers ${allow}.`));
    expect(response.headers.get('allow')).toBe(allow);
    expectRateLimitHeaders(response);
  });

  it.each<[string, Init]>([
    ['a good body', { body: PET }],
    ['malformed JSON', { body: MALFORMED }],
    ['an empty body of type JSON', { headers: { 'Content-Type': 'application/json' } }],
    ['another content type', { headers: { 'Content-Type': 'text/plain' }, body: 'Rex' }],
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

describe('410 endpoint_removed', () => {
  it('is returned for an operation after its removal', async () => {
    const later = await startApplication({ database: store.database });
    later.clock.travelTo(new Date('2030-12-05T00:00:00Z'));
    try {
      const response = await send(`${later.url}${path}`, { key });
      expectError(
        response,
        410,
        'endpoint_removed',
        expect.stringContaining('GET /v1/pets?status=available'),
      );
      expectRateLimitHeaders(response);
    } finally {
      await later.close();
    }
  });
});

describe('POST /v1/pets', () => {
  it('returns 413 payload_too_large for a body over 64 KiB', async () => {
    const response = await sendTo('/v1/pets', { method: 'POST', key, body: ' '.repeat(64 * 1024 + 1) });
    expectError(response, 413, 'payload_too_large', 'The body is larger than 64 KiB.');
    expectRateLimitHeaders(response);
  });

  it('returns 415 unsupported_media_type for a content type other than JSON', async () => {
    const response = await sendTo('/v1/pets', {
      method: 'POST',
      key,
      headers: { 'Content-Type': 'text/plain' },
      body: 'Rex',
    });
    expectError(
      response,
      415,
      'unsupported_media_type',
      'The body must be JSON, with the header Content-Type: application/json.',
    );
    expectRateLimitHeaders(response);
  });
});

describe('POST /v1/pets with Content-Encoding', () => {
  const post = (coding: string, body: string | Buffer, as = key, target = '/v1/pets') =>
    sendRaw(
      store.url,
      `POST ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Encoding: ${coding}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Authorization: Bearer ${as}\r\n\r\n`,
      body,
    ).then(toResponse);
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

  it('returns the status of an earlier check instead', async () => {
    const body = gzipSync(JSON.stringify(PET));
    expectError(await post('gzip', body, ''), 401, 'missing_api_key');
    expectError(await post('gzip', body, await exhaustedKey()), 429, 'rate_limit_exceeded');
    expectError(await post('gzip', body, key, '/admin/keys'), 403, 'forbidden');
    expectError(await post('gzip', body, key, '/v1/dogs'), 404, 'not_found');
    expectError(await post('gzip', body, key, '/v1/pets/7'), 405, 'method_not_allowed');
    expectError(await post('gzip', 'x'.repeat(100_000)), 413, 'payload_too_large');
    expectError(await post('gzip', body, adminKey, '/admin/keys'), 415, 'unsupported_media_type');
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

describe('429 rate_limit_exceeded', () => {
  it('is returned to a client over its limit, with the seconds to wait', async () => {
    const response = await sendTo('/v1/pets', { key: await exhaustedKey() });
    expectError(response, 429, 'rate_limit_exceeded', expect.stringContaining('2 requests per minute'));
    expectRateLimitHeaders(response);
    expect(response.headers.get('x-ratelimit-limit')).toBe('2');
    expect(remainingOf(response)).toBe(0);
    const wait = Number(response.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
    expect(response.json.message).toContain(`${wait} second`);
  });

  it('is returned to an anonymous client over the limit of its address, with what is wrong with its key', async () => {
    const strict = await startApplication({ database: store.database, environment: { STRANGER_LIMIT: 1 } });
    strict.clock.travel(60 * 60_000);
    try {
      expectError(await send(`${strict.url}/v1/pets`), 401, 'missing_api_key');
      const response = await send(`${strict.url}/v1/pets`, { key: generateApiKey('staging') });
      expectError(response, 429, 'rate_limit_exceeded', expect.stringContaining('The API key is unknown.'));
      expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
      expectRateLimitHeaders(response);
    } finally {
      await strict.close();
    }
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

  it('is returned for a defect during authentication too', async () => {
    const { key: fresh } = await store.issue();
    await store.database.query('ALTER TABLE api_keys RENAME TO lost');
    try {
      for (const init of [{}, { method: 'POST', body: MALFORMED }, { method: 'DELETE' }]) {
        const response = await sendTo('/v1/pets', { key: fresh, ...init });
        expectError(
          response,
          500,
          'internal_error',
          expect.stringContaining(response.headers.get('x-request-id') ?? '-'),
        );
        expect(response.text).not.toMatch(
          /prisma|postgres|sql|column|api_keys|relation|lost|table|P2\d{3}|\.ts|\.js/i,
        );
      }
    } finally {
      await store.database.query('ALTER TABLE lost RENAME TO api_keys');
    }
    expect((await sendTo('/v1/pets', { key: fresh })).status).toBe(200);
  });
});

describe('503 service_unavailable', () => {
  it.each<[string, Init]>([
    ['listPets', {}],
    ['createPet', { method: 'POST', body: PET }],
    ['a body that is not JSON', { method: 'POST', body: MALFORMED }],
    ['another method', { method: 'DELETE' }],
  ])(
    'is returned for %s while the database is away, with Retry-After, and no longer once it is back',
    async (_name, init) => {
      const database = await createDatabase();
      const proxy = await startDatabaseProxy(database.url);
      const dependent = await startApplication({ database, environment: { DATABASE_URL: proxy.url } });
      try {
        const { key: own } = await dependent.issue(GENEROUS);
        const beforeOutage = await send(`${dependent.url}/v1/pets`, { key: own, ...init });
        proxy.goAway();
        // Until the cached key expires, responses that need no database are still sent.
        await until(
          async () => (await send(`${dependent.url}/v1/pets`, { key: own, ...init })).status === 503,
        );
        const response = await send(`${dependent.url}/v1/pets`, { key: own, ...init });
        expectError(response, 503, 'service_unavailable', expect.stringMatching(/try again/i));
        expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expectRateLimitHeaders(response);
        expect(response.text).not.toMatch(/prisma|postgres|ECONN|127\.0\.0\.1|connection/i);

        await proxy.comeBack();
        const { status } = await send(`${dependent.url}/v1/pets`, { key: own, ...init });
        expect(status).toBe(beforeOutage.status);
      } finally {
        await dependent.close();
        proxy.close();
        await database.drop();
      }
    },
  );

  it('is returned while the database rejects connections, and no longer once it accepts them', async () => {
    const database = await createDatabase();
    const dependent = await startApplication({ database });
    const server = new pg.Client({ connectionString: process.env['TEST_DATABASE_URL'] });
    await server.connect();
    const name = new URL(database.url).pathname.slice(1);
    try {
      const { key: own } = await dependent.issue();
      expect((await send(`${dependent.url}/v1/pets`, { key: own })).status).toBe(200);
      await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await server.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = $1 AND application_name LIKE 'animal-store%'`,
        [name],
      );
      const response = await send(`${dependent.url}/v1/pets`, { key: own });
      expectError(response, 503, 'service_unavailable');
      expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expectRateLimitHeaders(response);

      await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      expect((await send(`${dependent.url}/v1/pets`, { key: own })).status).toBe(200);
    } finally {
      await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await server.end();
      await dependent.close();
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
    [
      'another content type',
      '/v1/pets',
      { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'Rex' },
    ],
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

  it.each<[string, Init]>([
    ['413 before 415', { headers: { 'Content-Type': 'text/plain' }, body: 'x'.repeat(100_000) }],
    ['413 before 400', { body: MALFORMED.repeat(20_000) }],
  ])('has the length of a body first: %s', async (_name, init) => {
    expectError(await sendTo('/v1/pets', { method: 'POST', key, ...init }), 413, 'payload_too_large');
  });

  it('has the type of a body before its content', async () => {
    const headers = { 'Content-Type': 'text/plain' };
    expectError(
      await sendTo('/v1/pets', { method: 'POST', key, headers, body: MALFORMED }),
      415,
      'unsupported_media_type',
    );
  });
});

describe('a request with a key', () => {
  it.each<[string, number, string, Init]>([
    ['a success', 200, '/v1/pets', {}],
    ['HEAD', 200, '/v1/pets', { method: 'HEAD' }],
    ['201', 201, '/v1/pets', { method: 'POST', body: PET }],
    ['400', 400, '/v1/pets', { method: 'POST', body: MALFORMED }],
    ['404 of an animal', 404, '/v1/pets/999999', {}],
    ['404 of a path', 404, '/v1/dogs', {}],
    ['404 of an undecodable path', 404, '/v1/pets/%zz', {}],
    ['404 of an overlong path', 404, `/v1/pets/${'9'.repeat(5000)}`, {}],
    ['405', 405, '/v1/pets', { method: 'DELETE' }],
    ['OPTIONS', 405, '/v1/pets', { method: 'OPTIONS' }],
    ['413', 413, '/v1/pets', { method: 'POST', body: 'x'.repeat(100_000) }],
    ['415', 415, '/v1/pets', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'Rex' }],
    ['403', 403, '/admin/keys', {}],
  ])('is counted once: %s', async (_name, status, target, init) => {
    const { key: counted } = await store.issue();
    const first = await sendTo(target, { key: counted, ...init });
    expect(first.status).toBe(status);
    expect(remainingOf(first)).toBe(59);
    expect(remainingOf(await sendTo('/v1/pets', { key: counted }))).toBe(58);
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

  it('is new for each request', async () => {
    const responses = await Promise.all([1, 2, 3].map(() => sendTo('/v1/pets', { key })));
    expect(new Set(responses.map(({ headers }) => headers.get('x-request-id'))).size).toBe(3);
  });

  it.each([
    'a',
    '0',
    'x'.repeat(128),
    '3f0b6a5e-7c1d-4f7e-9b1a-0c8f1f2d3e4a',
    'Root=1-67891233-abcdef012345678912345678',
  ])('is that of the client when it is valid: %s', async (id) => {
    const { headers } = await sendTo('/v1/pets', { key, headers: { 'X-Request-Id': id } });
    expect(headers.get('x-request-id')).toBe(id);
  });

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['with a space', 'a b'],
    ['with a tab', 'a\tb'],
    ['with a quote', 'a"b'],
    ['with markup', '<script>'],
    ['with a comma', 'a,b'],
    ['not ASCII', 'é'],
  ])('is a new one when that of the client is %s', async (_name, id) => {
    const { headers } = await sendTo('/v1/pets', { key, headers: { 'X-Request-Id': id } });
    expect(headers.get('x-request-id')).toMatch(UUID);
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
    [
      'a path over 16 KiB',
      `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
      'headers_too_large',
    ],
  ])(
    'gets the three-field body, a request id and no rate-limit headers: %s',
    async (_name, request, status, code) => {
      const response = toResponse(await sendRaw(store.url, request));
      expectError(response, status, code);
      expect(response.headers.get('x-request-id')).toMatch(UUID);
      expect(response.headers.get('connection')).toBe('close');
      expectNoRateLimitHeaders(response);
    },
  );

  it('does not stop the server', async () => {
    expect((await sendTo('/v1/pets', { key })).status).toBe(200);
  });
});

describe('other forms of a request', () => {
  it('authenticates and routes an absolute target by its path', async () => {
    const request = `GET http://elsewhere.example/v1/dogs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    const anonymous = toResponse(await sendRaw(store.url, `${request}\r\n`));
    expectError(anonymous, 401, 'missing_api_key');
    expectRateLimitHeaders(anonymous);
    const client = toResponse(await sendRaw(store.url, `${request}Authorization: Bearer ${key}\r\n\r\n`));
    expectError(client, 404, 'not_found');
    expectRateLimitHeaders(client);
  });

  it('returns 404 with the usual error body for OPTIONS of the whole server', async () => {
    const response = toResponse(
      await sendRaw(store.url, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    );
    expectError(response, 404, 'not_found');
    expectNoRateLimitHeaders(response);
  });

  it('returns 400 with the usual error body for HTTP/1.1 without a Host', async () => {
    const request = `GET /v1/pets HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    expectError(
      toResponse(await sendRaw(store.url, request)),
      400,
      'invalid_request',
      expect.stringMatching(/Host/),
    );
  });

  it('ignores an unknown expectation: there is no 417', async () => {
    const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: wonders\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const response = toResponse(await sendRaw(store.url, request));
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
  });

  it('serves HTTP/1.0 without a Host', async () => {
    const response = toResponse(
      await sendRaw(store.url, `GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`),
    );
    expect(response.status).toBe(200);
    expectRateLimitHeaders(response);
  });
});
