import { startApplication, type TestApplication } from '../support/service/application.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { sendRaw } from '../support/http/raw-http.js';

const REMOVAL = new Date('2030-12-05T00:00:00Z');
const UNLIMITED = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };

let store: TestApplication;
let key: string;
let path: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue(UNLIMITED));
  const created = await send(`${store.url}/v1/pets`, {
    method: 'POST',
    key,
    body: { name: 'Rex', categoryId: 7 },
  });
  path = created.headers.get('location') ?? '';
});
afterAll(() => store.close());

function expectDeprecation({ headers }: HttpResponse): void {
  expect(headers.get('deprecation')).toBe('@1764892800');
  expect(headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
  expect(headers.get('link')).toBe(
    '</v1/pets?status=available>; rel="successor-version", </docs#/pets/getPet>; rel="deprecation"; type="text/html"',
  );
}

function expectNoDeprecation({ headers }: HttpResponse): void {
  expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([null, null]);
  expect(headers.get('link') ?? '').not.toMatch(/successor-version|deprecation/);
}

describe('GET /v1/pets/{petId}, which is deprecated', () => {
  it.each(['GET', 'HEAD'])('has the deprecation headers on 200 of %s', async (method) => {
    const response = await send(`${store.url}${path}`, { method, key });
    expect(response.status).toBe(200);
    expectDeprecation(response);
    expectRateLimitHeaders(response);
  });

  it.each([
    ['an unknown identifier', '999999'],
    ['a word', 'rex'],
    ['an identifier beyond int64', '9223372036854775808'],
    ['an identifier of 101 digits', '9'.repeat(101)],
    ['an identifier of 5,000 digits', '9'.repeat(5000)],
    ['an identifier that cannot be decoded', '%zz'],
    ['a lone percent sign', '%'],
    ['an invalid UTF-8 sequence', '%c3%28'],
    ['an escaped slash', '1%2F2'],
    ['a semicolon', '7;x'],
    ['an escaped percent sign', '%2561'],
  ])(
    'has the deprecation headers on 404 and 401, by GET, by HEAD and with an absolute target, for %s',
    async (_name, id) => {
      const url = `${store.url}/v1/pets/${id}`;
      const missing = await send(`${url}?status=sold`, { key });
      expectError(missing, 404, 'not_found', expect.stringContaining('no animal with the identifier'));
      const anonymous = await send(url);
      expectError(anonymous, 401, 'missing_api_key');
      const head = await send(url, { method: 'HEAD', key });
      expect([head.status, head.text]).toEqual([404, '']);
      for (const response of [missing, anonymous, head]) {
        expectDeprecation(response);
        expectRateLimitHeaders(response);
      }
      const absolute = await sendRaw(
        store.url,
        `GET http://elsewhere.example/v1/pets/${id} HTTP/1.1\r\nHost: elsewhere.example\r\n` +
          `Connection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      );
      expect([absolute.status, absolute.headers['deprecation']]).toEqual([404, '@1764892800']);
    },
  );

  it('has the deprecation headers on 401 for an invalid key', async () => {
    const response = await send(`${store.url}${path}`, { key: 'secret' });
    expectError(response, 401, 'invalid_api_key');
    expectDeprecation(response);
  });

  it('has the deprecation headers on 429', async () => {
    const { key: exhausted } = await store.issue({ plan: 'enterprise', perMinute: 2, perDay: 10 });
    expect((await send(`${store.url}${path}`, { key: exhausted })).status).toBe(200);
    expect((await send(`${store.url}${path}`, { key: exhausted })).status).toBe(200);
    const response = await send(`${store.url}${path}`, { key: exhausted });
    expectError(response, 429, 'rate_limit_exceeded');
    expectDeprecation(response);
    expectRateLimitHeaders(response);
  });

  it('has the deprecation headers on 500', async () => {
    await store.database.query('ALTER TABLE pets RENAME COLUMN category_id TO lost');
    const response = await send(`${store.url}${path}`, { key });
    await store.database.query('ALTER TABLE pets RENAME COLUMN lost TO category_id');
    expectError(response, 500, 'internal_error');
    expectDeprecation(response);
  });
});

describe('operations that are not deprecated', () => {
  it.each<[string, string, Parameters<typeof send>[1]]>([
    ['listPets', '/v1/pets', {}],
    ['the replacement', '/v1/pets?status=available', {}],
    ['createPet', '/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
    ['a 400 of listPets', '/v1/pets?limit=0', {}],
    ['another method of listPets', '/v1/pets', { method: 'DELETE' }],
    ['another method of the same path', '/v1/pets/1', { method: 'DELETE' }],
    ['another method of the same path, undecodable', '/v1/pets/%zz', { method: 'DELETE' }],
    ['another method of the same path, overlong', `/v1/pets/${'9'.repeat(101)}`, { method: 'DELETE' }],
    ['an undecodable path of no operation', '/v1/pets/%zz/name', {}],
    ['an escaped slash before the identifier', '/v1/pets%2F1', {}],
    ['an unknown path', '/v1/dogs', {}],
    ['the path of an animal without an identifier, which is unknown', '/v1/pets/', {}],
    ['HEAD of that path', '/v1/pets/', { method: 'HEAD' }],
    ['health', '/livez', {}],
  ])('have no deprecation headers: %s', async (_name, target, init) => {
    expectNoDeprecation(await send(`${store.url}${target}`, { key, ...init }));
  });

  it('include the replacement, which has only its own links', async () => {
    const { headers } = await send(`${store.url}/v1/pets?status=available`, { key });
    expect(headers.get('link')).toBe('</v1/pets?limit=20&status=available>; rel="first"');
  });
});

describe('GET /v1/pets/{petId} at its removal', () => {
  it('returns 200 just before its removal', async () => {
    // The clock runs on, so a margin of a few seconds lets the response be made before the instant.
    store.clock.travelTo(new Date(REMOVAL.getTime() - 10_000));
    const response = await send(`${store.url}${path}`, { key });
    expect(response.status).toBe(200);
    expectDeprecation(response);
  });

  it.each([
    ['from the instant of its removal', REMOVAL],
    ['at any later time', new Date('2099-01-01T00:00:00Z')],
  ])('returns 410 endpoint_removed naming its replacement, %s', async (_name, instant) => {
    store.clock.travelTo(instant);
    for (const target of [path, '/v1/pets/999999', '/v1/pets/rex', '/v1/pets/%zz']) {
      const response = await send(`${store.url}${target}`, { key });
      expectError(
        response,
        410,
        'endpoint_removed',
        'This operation was removed on 2030-12-05. Use GET /v1/pets?status=available instead.',
      );
      expectDeprecation(response);
      expectRateLimitHeaders(response);
    }
    const head = await send(`${store.url}${path}`, { method: 'HEAD', key });
    expect([head.status, head.text]).toEqual([410, '']);
    expectDeprecation(head);
  });

  it('still authenticates and counts first', async () => {
    store.clock.travelTo(REMOVAL);
    const anonymous = await send(`${store.url}${path}`);
    expectError(anonymous, 401, 'missing_api_key');
    expectDeprecation(anonymous);

    const { key: narrow } = await store.issue({ plan: 'enterprise', perMinute: 2, perDay: 10 });
    expectError(await send(`${store.url}${path}`, { key: narrow }), 410, 'endpoint_removed');
    expectError(await send(`${store.url}${path}`, { key: narrow }), 410, 'endpoint_removed');
    const over = await send(`${store.url}${path}`, { key: narrow });
    expectError(over, 429, 'rate_limit_exceeded');
    expectDeprecation(over);
  });

  it('leaves the replacement and all else unchanged', async () => {
    store.clock.travelTo(REMOVAL);
    const list = await send(`${store.url}/v1/pets`, { key });
    expect(list.status).toBe(200);
    expect(list.json[0]).toEqual({ id: 1, name: 'Rex', categoryId: 7 });
    expectNoDeprecation(list);
    expect((await send(`${store.url}/v1/pets?status=available`, { key })).status).toBe(200);
    const body = { name: 'Tom', categoryId: 1 };
    expect((await send(`${store.url}/v1/pets`, { method: 'POST', key, body })).status).toBe(201);
    const withoutId = await send(`${store.url}/v1/pets/`, { key });
    expectError(withoutId, 404, 'not_found', expect.stringContaining('There is nothing at /v1/pets/.'));
    expectNoDeprecation(withoutId);
  });
});
