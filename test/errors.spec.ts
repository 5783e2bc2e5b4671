import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { generateApiKey } from '../src/auth/api-key.js';
import { startApplication, type TestApplication } from './support/application.js';
import { startDatabaseProxy } from './support/database-proxy.js';
import { createDatabase } from './support/database.js';
import { until } from './support/eventually.js';
import { expectError, expectNoRateLimitHeaders, expectRateLimitHeaders } from './support/expectations.js';
import { type Answer, send } from './support/http.js';
import { type RawAnswer, sendRaw } from './support/raw-http.js';

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

const ask = (target: string, init: Init = {}): Promise<Answer> => send(`${store.url}${target}`, init);

/** A key that has used all that it may. */
async function exhaustedKey(): Promise<string> {
  const { key: exhausted } = await store.issue({ plan: 'enterprise', perMinute: 2, perDay: 10 });
  expect((await ask('/v1/pets', { key: exhausted })).status).toBe(200);
  expect((await ask('/v1/pets', { key: exhausted })).status).toBe(200);
  return exhausted;
}

function remainingOf({ headers }: Answer): number {
  return Number(headers.get('x-ratelimit-remaining'));
}

/** The answer to what was written to the socket, in the form of the others. */
function answerOf({ status, headers, body }: RawAnswer): Answer {
  return {
    status,
    headers: new Headers(headers),
    text: body,
    json: body === '' ? undefined : JSON.parse(body),
  };
}

describe('400 invalid_request', () => {
  it('answers a body that is not JSON', async () => {
    const answer = await ask('/v1/pets', { method: 'POST', key, body: MALFORMED });
    expectError(answer, 400, 'invalid_request', expect.stringMatching(/^The body is not JSON: /));
    expectRateLimitHeaders(answer);
  });

  it('answers an invalid field', async () => {
    const answer = await ask('/v1/pets', { method: 'POST', key, body: { ...PET, name: '' } });
    expectError(answer, 400, 'invalid_request', 'The request is invalid: name must not be blank.');
    expectRateLimitHeaders(answer);
  });

  it('answers an invalid query parameter', async () => {
    const answer = await ask('/v1/pets?limit=0', { key });
    expectError(
      answer,
      400,
      'invalid_request',
      'The request is invalid: limit must be an integer from 1 to 100.',
    );
    expectRateLimitHeaders(answer);
  });
});

describe('401 missing_api_key', () => {
  it.each<[string, Record<string, string>]>([
    ['no Authorization', {}],
    ['an empty one', { Authorization: '' }],
    ['the scheme alone', { Authorization: 'Bearer' }],
    ['the scheme and a space', { Authorization: 'Bearer ' }],
    ['another scheme', { Authorization: 'Basic YTpi' }],
    ['a key without a scheme', { Authorization: generateApiKey('staging') }],
    ['a key in another header', { 'X-Api-Key': generateApiKey('staging') }],
  ])('answers a request with %s, challenging without an error', async (_name, headers) => {
    const answer = await ask('/v1/pets', { headers });
    expectError(answer, 401, 'missing_api_key', expect.stringContaining('Authorization: Bearer <API_KEY>'));
    expect(answer.headers.get('www-authenticate')).toBe(CHALLENGE);
    expectRateLimitHeaders(answer);
  });

  it('answers a valid key in the query or in the body, which is no credential', async () => {
    expectError(await ask(`/v1/pets?access_token=${key}`), 401, 'missing_api_key');
    expectError(
      await ask('/v1/pets', { method: 'POST', body: { ...PET, access_token: key } }),
      401,
      'missing_api_key',
    );
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await ask('/v1/pets', { method: 'POST', headers: form, body: `access_token=${key}` });
    expectError(answer, 401, 'missing_api_key');
  });
});

describe('401 invalid_api_key', () => {
  it.each([
    ['unknown', () => generateApiKey('staging'), 'The API key is unknown'],
    ['malformed', () => 'secret', 'The API key is malformed; check that it was copied whole'],
    ['copied in part', () => key.slice(0, -1), 'The API key is malformed; check that it was copied whole'],
    ['two words', () => `${key} ${key}`, 'The API key is malformed; a bearer token has no spaces'],
    [
      'of the other environment',
      () => generateApiKey('production'),
      'The API key is for another environment; this is staging',
    ],
  ])('answers a key that is %s, challenging with the reason', async (_name, given, reason) => {
    const answer = await ask('/v1/pets', { key: given() });
    expectError(answer, 401, 'invalid_api_key', `${reason}.`);
    expect(answer.headers.get('www-authenticate')).toBe(
      `${CHALLENGE}, error="invalid_token", error_description="${reason}"`,
    );
    expectRateLimitHeaders(answer);
  });

  it('answers a key that has expired', async () => {
    const { key: expired, id } = await store.issue();
    await store.database.query('UPDATE api_keys SET expires_at = to_timestamp($2) WHERE id = $1', [
      id,
      (store.clock.now() - 1) / 1000,
    ]);
    const answer = await ask('/v1/pets', { key: expired });
    expectError(answer, 401, 'invalid_api_key', 'The API key has expired.');
    expect(answer.headers.get('www-authenticate')).toBe(
      `${CHALLENGE}, error="invalid_token", error_description="The API key has expired"`,
    );
  });

  it('answers a key that was revoked', async () => {
    const { key: revoked, id } = await store.issue();
    await store.database.query('UPDATE api_keys SET revoked_at = to_timestamp($2) WHERE id = $1', [
      id,
      store.clock.now() / 1000 - 1,
    ]);
    expectError(await ask('/v1/pets', { key: revoked }), 401, 'invalid_api_key', 'The API key was revoked.');
  });

  it('never shows the key that was sent', async () => {
    const unknown = generateApiKey('staging');
    const { text, headers } = await ask('/v1/pets', { key: unknown });
    expect(`${text} ${JSON.stringify([...headers])}`).not.toContain(unknown);
  });
});

describe('403 forbidden', () => {
  it.each(['/admin', '/admin/', '/admin/keys', '/admin/anything/else', '/%61dmin/keys', '/admin/%zz'])(
    'answers %s with the key of a client, whatever the method and body',
    async (target) => {
      for (const init of [{}, { method: 'DELETE' }, { method: 'POST', body: MALFORMED }]) {
        const answer = await ask(target, { key, ...init });
        expectError(answer, 403, 'forbidden', expect.stringMatching(/admin/));
        expectRateLimitHeaders(answer);
      }
    },
  );

  it('does not answer an administrator, who is told 404 of what is not there', async () => {
    const answer = await ask('/admin/anything', { key: adminKey });
    expectError(answer, 404, 'not_found', expect.stringContaining('/admin/anything'));
    expectRateLimitHeaders(answer);
  });

  it('does not answer an administrator under /v1', async () => {
    expect((await ask('/v1/pets', { key: adminKey })).status).toBe(200);
  });
});

describe('404 not_found', () => {
  it.each([
    ['an animal that is not there', '/v1/pets/999999'],
    ['an identifier that is no int64', '/v1/pets/rex'],
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
  ])('answers %s', async (_name, target) => {
    const answer = await ask(target, { key });
    expectError(answer, 404, 'not_found');
    expectRateLimitHeaders(answer);
    expect(answer.headers.get('allow')).toBeNull();
  });

  it('answers an unknown path whatever the method and body, of which neither is judged', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      expectError(await ask('/v1/dogs', { method, key, body: MALFORMED }), 404, 'not_found');
      const headers = { 'Content-Type': 'text/plain' };
      expectError(
        await ask('/v1/dogs', { method, key, headers, body: 'x'.repeat(100_000) }),
        404,
        'not_found',
      );
    }
  });

  it.each(['/', '/nothing', '/v2/pets', '/V1/pets', '/pets', '/v11', '/favicon.ico', '/%zz'])(
    'answers %s outside the interface, without a key and without limits',
    async (target) => {
      const answer = await ask(target);
      expectError(answer, 404, 'not_found');
      expectNoRateLimitHeaders(answer);
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
  ])('answers %s %s and tells what is allowed: %s', async (method, target, allow) => {
    const answer = await ask(target, { method, key });
    expectError(answer, 405, 'method_not_allowed', expect.stringContaining(`It answers ${allow}.`));
    expect(answer.headers.get('allow')).toBe(allow);
    expectRateLimitHeaders(answer);
  });

  it.each<[string, Init]>([
    ['a good body', { body: PET }],
    ['malformed JSON', { body: MALFORMED }],
    ['an empty body of type JSON', { headers: { 'Content-Type': 'application/json' } }],
    ['another content type', { headers: { 'Content-Type': 'text/plain' }, body: 'Rex' }],
    ['a body that is too large', { body: 'x'.repeat(100_000) }],
    ['no body', {}],
  ])('and not 400, 413 or 415 to %s sent to a path that takes none', async (_name, init) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await ask(path, { method, key, ...init });
      expectError(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).toBe('GET, HEAD');
      expectRateLimitHeaders(answer);
    }
  });

  it('answers other methods outside the interface too', async () => {
    const answer = await ask('/livez', { method: 'POST' });
    expectError(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
    expectNoRateLimitHeaders(answer);
  });
});

describe('410 endpoint_removed', () => {
  it('answers an operation whose removal has come', async () => {
    const later = await startApplication({ database: store.database });
    later.clock.travelTo(new Date('2030-12-05T00:00:00Z'));
    try {
      const answer = await send(`${later.url}${path}`, { key });
      expectError(answer, 410, 'endpoint_removed', expect.stringContaining('GET /v1/pets?status=available'));
      expectRateLimitHeaders(answer);
    } finally {
      await later.close();
    }
  });
});

describe('413 and 415', () => {
  it('413 payload_too_large answers a body over 64 KiB', async () => {
    const answer = await ask('/v1/pets', { method: 'POST', key, body: ' '.repeat(64 * 1024 + 1) });
    expectError(answer, 413, 'payload_too_large', 'The body is larger than 64 KiB.');
    expectRateLimitHeaders(answer);
  });

  it('415 unsupported_media_type answers a content type other than JSON', async () => {
    const answer = await ask('/v1/pets', {
      method: 'POST',
      key,
      headers: { 'Content-Type': 'text/plain' },
      body: 'Rex',
    });
    expectError(
      answer,
      415,
      'unsupported_media_type',
      'The body must be JSON, with the header Content-Type: application/json.',
    );
    expectRateLimitHeaders(answer);
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
    ).then(answerOf);
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
  ])('returns 415 when the coding is %s, whether the body has it or not', async (coding) => {
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

  it('returns what is wrong first instead', async () => {
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
  it('answers a client over its limit, with the seconds to wait', async () => {
    const answer = await ask('/v1/pets', { key: await exhaustedKey() });
    expectError(answer, 429, 'rate_limit_exceeded', expect.stringContaining('2 requests per minute'));
    expectRateLimitHeaders(answer);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('2');
    expect(remainingOf(answer)).toBe(0);
    const wait = Number(answer.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
    expect(answer.json.message).toContain(`${wait} second`);
  });

  it('answers a stranger over the limit of its address, and says what was wrong with its key', async () => {
    const strict = await startApplication({ database: store.database, environment: { STRANGER_LIMIT: 1 } });
    strict.clock.travel(60 * 60_000);
    try {
      expectError(await send(`${strict.url}/v1/pets`), 401, 'missing_api_key');
      const answer = await send(`${strict.url}/v1/pets`, { key: generateApiKey('staging') });
      expectError(answer, 429, 'rate_limit_exceeded', expect.stringContaining('The API key is unknown.'));
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
      expectRateLimitHeaders(answer);
    } finally {
      await strict.close();
    }
  });
});

describe('500 internal_error', () => {
  it('answers a defect without a word of the inside, but with the request id', async () => {
    await store.database.query('ALTER TABLE pets RENAME COLUMN category_id TO lost');
    try {
      for (const init of [{}, { method: 'POST', body: PET }]) {
        const answer = await ask('/v1/pets', { key, ...init });
        const id = answer.headers.get('x-request-id') ?? '';
        expect(id).toMatch(UUID);
        expectError(answer, 500, 'internal_error', expect.stringContaining(id));
        expectRateLimitHeaders(answer);
        expect(answer.text).not.toMatch(
          /prisma|postgres|sql|column|category|lost|table|P2\d{3}|\.ts|\.js|stack/i,
        );
        expect(answer.headers.get('retry-after')).toBeNull();
      }
    } finally {
      await store.database.query('ALTER TABLE pets RENAME COLUMN lost TO category_id');
    }
    expect((await ask('/v1/pets', { key })).status).toBe(200);
  });

  it('answers a defect of the judgement itself in the same form', async () => {
    const { key: fresh } = await store.issue();
    await store.database.query('ALTER TABLE api_keys RENAME TO lost');
    try {
      for (const init of [{}, { method: 'POST', body: MALFORMED }, { method: 'DELETE' }]) {
        const answer = await ask('/v1/pets', { key: fresh, ...init });
        expectError(
          answer,
          500,
          'internal_error',
          expect.stringContaining(answer.headers.get('x-request-id') ?? '-'),
        );
        expect(answer.text).not.toMatch(
          /prisma|postgres|sql|column|api_keys|relation|lost|table|P2\d{3}|\.ts|\.js/i,
        );
      }
    } finally {
      await store.database.query('ALTER TABLE lost RENAME TO api_keys');
    }
    expect((await ask('/v1/pets', { key: fresh })).status).toBe(200);
  });
});

describe('503 service_unavailable', () => {
  it.each<[string, Init]>([
    ['listPets', {}],
    ['createPet', { method: 'POST', body: PET }],
    ['a body that is not JSON', { method: 'POST', body: MALFORMED }],
    ['another method', { method: 'DELETE' }],
  ])(
    'answers %s while the database is away, with Retry-After, and no longer when it is back',
    async (_name, init) => {
      const database = await createDatabase();
      const proxy = await startDatabaseProxy(database.url);
      const dependent = await startApplication({ database, environment: { DATABASE_URL: proxy.url } });
      try {
        const { key: own } = await dependent.issue(GENEROUS);
        const whileThere = await send(`${dependent.url}/v1/pets`, { key: own, ...init });
        proxy.goAway();
        // Until the key that is remembered counts no longer, what needs no database is answered.
        await until(
          async () => (await send(`${dependent.url}/v1/pets`, { key: own, ...init })).status === 503,
        );
        const answer = await send(`${dependent.url}/v1/pets`, { key: own, ...init });
        expectError(answer, 503, 'service_unavailable', expect.stringMatching(/try again/i));
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expectRateLimitHeaders(answer);
        expect(answer.text).not.toMatch(/prisma|postgres|ECONN|127\.0\.0\.1|connection/i);

        await proxy.comeBack();
        const { status } = await send(`${dependent.url}/v1/pets`, { key: own, ...init });
        expect(status).toBe(whileThere.status);
      } finally {
        await dependent.close();
        proxy.close();
        await database.drop();
      }
    },
  );

  it('answers while the database refuses connections, and no longer when it takes them', async () => {
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
      const answer = await send(`${dependent.url}/v1/pets`, { key: own });
      expectError(answer, 503, 'service_unavailable');
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expectRateLimitHeaders(answer);

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

describe('what is wrong first is told', () => {
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
    ['an animal that is not there', '/v1/pets/999999', {}],
    ['a path of administrators', '/admin/keys', {}],
  ])('%s is 401 without a key, and 429 over the limit', async (_name, target, init) => {
    const stranger = await ask(target, init);
    expectError(stranger, 401, 'missing_api_key');
    expect(stranger.headers.get('www-authenticate')).toBe(CHALLENGE);
    expectRateLimitHeaders(stranger);

    const over = await ask(target, { ...init, key: await exhaustedKey() });
    expectError(over, 429, 'rate_limit_exceeded');
    expectRateLimitHeaders(over);
    expect(over.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    expect(over.headers.get('allow')).toBeNull();
  });

  it.each<[string, Init]>([
    ['413 before 415', { headers: { 'Content-Type': 'text/plain' }, body: 'x'.repeat(100_000) }],
    ['413 before 400', { body: MALFORMED.repeat(20_000) }],
  ])('a body is judged by its length first: %s', async (_name, init) => {
    expectError(await ask('/v1/pets', { method: 'POST', key, ...init }), 413, 'payload_too_large');
  });

  it('a body is judged by its type before its content', async () => {
    const headers = { 'Content-Type': 'text/plain' };
    expectError(
      await ask('/v1/pets', { method: 'POST', key, headers, body: MALFORMED }),
      415,
      'unsupported_media_type',
    );
  });
});

describe('every request under /v1', () => {
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
  ])('counts once: %s', async (_name, status, target, init) => {
    const { key: counted } = await store.issue();
    const first = await ask(target, { key: counted, ...init });
    expect(first.status).toBe(status);
    expect(remainingOf(first)).toBe(59);
    expect(remainingOf(await ask('/v1/pets', { key: counted }))).toBe(58);
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
  ])('answers as GET, without the body: %s', async (target) => {
    const get = await ask(target, { key });
    const head = await ask(target, { key, method: 'HEAD' });
    const stable = ({ headers }: Answer) =>
      [...headers].filter(
        ([name]) => !/^(date|connection|keep-alive|x-request-id|ratelimit|x-ratelimit-remaining)$/.test(name),
      );
    expect(head.status).toBe(get.status);
    expect(stable(head)).toEqual(stable(get));
    expect(head.text).toBe('');
  });

  it('is authenticated', async () => {
    const { status, headers, text } = await ask('/v1/pets', { method: 'HEAD' });
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

  it.each(TARGETS)('is on the answer to %s %j, with a key and without', async (target, init) => {
    for (const each of [{ ...init, key }, init]) {
      expect((await ask(target, each)).headers.get('x-request-id')).toMatch(UUID);
      const headers = { 'X-Request-Id': 'mine-1' };
      expect((await ask(target, { ...each, headers })).headers.get('x-request-id')).toBe('mine-1');
    }
  });

  it('is new for each request', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => ask('/v1/pets', { key })));
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(3);
  });

  it.each([
    'a',
    '0',
    'x'.repeat(128),
    '3f0b6a5e-7c1d-4f7e-9b1a-0c8f1f2d3e4a',
    'Root=1-67891233-abcdef012345678912345678',
  ])('is the client’s own when it is sane: %s', async (id) => {
    const { headers } = await ask('/v1/pets', { key, headers: { 'X-Request-Id': id } });
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
  ])('is a new one when the client’s is %s', async (_name, id) => {
    const { headers } = await ask('/v1/pets', { key, headers: { 'X-Request-Id': id } });
    expect(headers.get('x-request-id')).toMatch(UUID);
  });

  it('is a new one when the client sends two', async () => {
    const answer = await sendRaw(
      store.url,
      'GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n\r\n',
    );
    expect(answer.headers['x-request-id']).toMatch(UUID);
  });
});

describe('what is refused before there is a request', () => {
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
  ])('%s has the three-field body, a request id and no limits', async (_name, request, status, code) => {
    const answer = answerOf(await sendRaw(store.url, request));
    expectError(answer, status, code);
    expect(answer.headers.get('x-request-id')).toMatch(UUID);
    expect(answer.headers.get('connection')).toBe('close');
    expectNoRateLimitHeaders(answer);
  });

  it('the server goes on', async () => {
    expect((await ask('/v1/pets', { key })).status).toBe(200);
  });
});

describe('other forms of a request', () => {
  it('an absolute target is judged by its path', async () => {
    const request = `GET http://elsewhere.example/v1/dogs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    const stranger = answerOf(await sendRaw(store.url, `${request}\r\n`));
    expectError(stranger, 401, 'missing_api_key');
    expectRateLimitHeaders(stranger);
    const client = answerOf(await sendRaw(store.url, `${request}Authorization: Bearer ${key}\r\n\r\n`));
    expectError(client, 404, 'not_found');
    expectRateLimitHeaders(client);
  });

  it('OPTIONS of the whole server is answered in form', async () => {
    const answer = answerOf(
      await sendRaw(store.url, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    );
    expectError(answer, 404, 'not_found');
    expectNoRateLimitHeaders(answer);
  });

  it('HTTP/1.1 without a Host is 400, in form', async () => {
    const request = `GET /v1/pets HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    expectError(
      answerOf(await sendRaw(store.url, request)),
      400,
      'invalid_request',
      expect.stringMatching(/Host/),
    );
  });

  it('an expectation that the service does not know is ignored: there is no 417', async () => {
    const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: wonders\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const answer = answerOf(await sendRaw(store.url, request));
    expect(answer.status).toBe(200);
    expectRateLimitHeaders(answer);
  });

  it('HTTP/1.0 without a Host is answered', async () => {
    const answer = answerOf(
      await sendRaw(store.url, `GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`),
    );
    expect(answer.status).toBe(200);
    expectRateLimitHeaders(answer);
  });
});
