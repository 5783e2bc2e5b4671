import { shareApplication } from '../support/service/application.js';
import { expectError } from '../support/http/expectations.js';
import type { HttpResponse, Init } from '../support/http/http.js';
import { sendRaw } from '../support/http/raw-http.js';
import { whileBroken } from '../support/database/broken-table.js';

const REMOVAL = new Date('2030-12-05T00:00:00Z');
const NARROW = { plan: 'enterprise', perMinute: 2, perDay: 10 } as const;

const store = shareApplication();

const path = '/v1/pets/1';

beforeAll(async () => {
  await store.database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7)`);
});

/** @param id the identifier of the request if that is an int64. */
function expectDeprecation({ headers }: HttpResponse, id: string | null): void {
  expect(headers.get('deprecation')).toBe('@1764892800');
  expect(headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
  const byId = id === null ? '' : `</v1/pets?id=${id}>; rel="successor-version", `;
  expect(headers.get('link')).toBe(
    `${byId}</v1/pets?status=available>; rel="successor-version", </docs#/pets/getPet>; ` +
      'rel="deprecation"; type="text/html", </docs#/pets/getPet>; rel="sunset"; type="text/html"',
  );
}

function expectNoDeprecation({ headers }: HttpResponse): void {
  expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([null, null]);
  expect(headers.get('link') ?? '').not.toMatch(/successor-version|deprecation|sunset/);
}

describe('GET /v1/pets/{petId}, which is deprecated', () => {
  const request = (init: Init = {}, target = path) => store.send(target, init);

  it.each<[string, number, Init]>([
    ['200', 200, {}],
    ['200 of HEAD', 200, { method: 'HEAD' }],
    ['401 for an invalid key', 401, { key: 'secret' }],
  ])('has the deprecation headers on %s', async (_name, status, init) => {
    const response = await request(init);
    expect(response.status).toBe(status);
    expectDeprecation(response, '1');
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
    ['a link of its own', '7%3E;%20rel=%22next%22,%20%3Celsewhere'],
    ['a header of its own', '7%0d%0aX-Own:%20yes'],
  ])(
    'has the deprecation headers on 404 and 401, by GET, by HEAD and with an absolute target, for %s',
    async (_name, id) => {
      const target = `/v1/pets/${id}`;
      const missing = await request({}, `${target}?status=sold`);
      expectError(missing, 404, 'not_found', expect.stringContaining('No animal has the id'));
      const anonymous = await request({ key: undefined }, target);
      expectError(anonymous, 401, 'missing_api_key');
      const head = await request({ method: 'HEAD' }, target);
      expect(head.status).toBe(404);
      const known = id === '999999' ? id : null;
      [missing, anonymous, head].forEach((response) => expectDeprecation(response, known));
      expect(missing.headers.get('x-own')).toBeNull();

      const absolute = await sendRaw(
        store.url,
        `GET http://elsewhere.example/v1/pets/${id} HTTP/1.1\r\nHost: elsewhere.example\r\n` +
          `Connection: close\r\nAuthorization: Bearer ${store.key}\r\n\r\n`,
      );
      expect([absolute.status, absolute.headers['deprecation']]).toEqual([404, '@1764892800']);
    },
  );

  it('has the deprecation headers on 429 and 500', async () => {
    const { key: exhausted } = await store.issue(NARROW);
    await Promise.all([request({ key: exhausted }), request({ key: exhausted })]);
    const denied = await request({ key: exhausted });
    const failed = await whileBroken(store.database, 'pets', () => request());
    expectError(denied, 429, 'rate_limit_exceeded');
    expectError(failed, 500, 'internal_error');
    [denied, failed].forEach((response) => expectDeprecation(response, '1'));
  });
});

describe('operations that are not deprecated', () => {
  it.each<[string, string, Init]>([
    ['listPets', '/v1/pets', {}],

    ['createPet', '/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
    ['a 400 of listPets', '/v1/pets?limit=0', {}],
    ['another method of listPets', '/v1/pets', { method: 'DELETE' }],
    ['another method of the same path', '/v1/pets/1', { method: 'DELETE' }],
    ['another method of the same path, undecodable', '/v1/pets/%zz', { method: 'DELETE' }],

    ['an undecodable path of no operation', '/v1/pets/%zz/name', {}],
    ['an escaped slash before the identifier', '/v1/pets%2F1', {}],
    ['an unknown path', '/v1/dogs', {}],
    ['the path of an animal without an identifier, which is unknown', '/v1/pets/', {}],

    ['health', '/livez', {}],
  ])('have no deprecation headers: %s', async (_name, target, init) => {
    expectNoDeprecation(await store.send(target, init));
  });

  it('include the successors, which have only their own links', async () => {
    const { headers } = await store.send('/v1/pets?status=available');
    expect(headers.get('link')).toBe('</v1/pets?limit=20&status=available>; rel="first"');
  });
});

describe('GET /v1/pets/{petId} at its removal', () => {
  beforeAll(() => store.clock.travelTo(REMOVAL));

  it.each([
    [path, '1'],
    ['/v1/pets/999999', '999999'],
    ['/v1/pets/rex', null],
    ['/v1/pets/%zz', null],
  ])('returns 410 endpoint_removed naming its successors: %s', async (target, id) => {
    const response = await store.send(target);
    const byId = id === null ? '' : `GET /v1/pets?id=${id} or `;
    const use = `Use ${byId}GET /v1/pets?status=available instead.`;
    const message = `This operation was removed on 2030-12-05. ${use}`;
    expectError(response, 410, 'endpoint_removed', message);
    const head = await store.send(target, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([410, '']);
    [response, head].forEach((each) => expectDeprecation(each, id));
  });

  it('still authenticates and counts first', async () => {
    const { key: narrow } = await store.issue(NARROW);
    for (const [as, status, code] of [
      [undefined, 401, 'missing_api_key'],
      [narrow, 410, 'endpoint_removed'],
      [narrow, 410, 'endpoint_removed'],
      [narrow, 429, 'rate_limit_exceeded'],
    ] as const) {
      const response = await store.send(path, { key: as });
      expectError(response, status, code);
      expectDeprecation(response, '1');
    }
  });

  it('leaves GET /v1/pets?id=…, which still reads one animal', async () => {
    const response = await store.send('/v1/pets?id=1');
    expect([response.status, response.text]).toEqual([200, '[{"id":1,"name":"Rex","categoryId":7}]']);
    expectNoDeprecation(response);
  });

  it('leaves the other successor and all else unchanged', async () => {
    const list = await store.send('/v1/pets');
    expect(list.json[0]).toEqual({ id: 1, name: 'Rex', categoryId: 7 });
    expectNoDeprecation(list);
    expect((await store.send('/v1/pets?status=available')).status).toBe(200);
    const withoutId = await store.send('/v1/pets/');
    expectError(withoutId, 404, 'not_found', expect.stringContaining('There is nothing at /v1/pets/.'));
    expectNoDeprecation(withoutId);
  });
});
