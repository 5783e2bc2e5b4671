import { startApplication, type TestApplication } from '../support/service/application.js';
import { expectError, expectRateLimitHeaders } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { sendRaw, toHttpResponse } from '../support/http/raw-http.js';

const BODY_LIMIT = 64 * 1024;

let store: TestApplication;
let key: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue({ plan: 'enterprise', perMinute: 100_000, perDay: 100_000 }));
});
afterAll(() => store.close());

/** Sends a body exactly as it is written. */
function create(body: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
  return send(`${store.url}/v1/pets`, { method: 'POST', key, body, headers });
}

/** Sends a body as Latin-1, with exactly these headers of it. */
async function sendPost(body: string, ...headers: string[]): Promise<HttpResponse> {
  const head = ['POST /v1/pets HTTP/1.1', 'Host: x', 'Connection: close', `Authorization: Bearer ${key}`];
  const all = [...head, ...headers, `Content-Length: ${body.length}`];
  return toHttpResponse(await sendRaw(store.url, `${all.join('\r\n')}\r\n\r\n`, body));
}

function get(id: string | number): Promise<HttpResponse> {
  return send(`${store.url}/v1/pets/${id}`, { key });
}

async function countPets(): Promise<number> {
  const [row] = await store.database.query<{ count: number }>('SELECT count(*)::int FROM pets');
  return row?.count ?? NaN;
}

describe('POST /v1/pets', () => {
  it('returns 201 with the animal, its new id and its Location', async () => {
    const response = await create('{"name":"Rex","categoryId":7,"status":"pending"}');
    expect(response.status).toBe(201);
    expect(response.json).toEqual({ id: expect.any(Number), name: 'Rex', categoryId: 7, status: 'pending' });
    expect(response.headers.get('location')).toBe(`/v1/pets/${response.json.id}`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expectRateLimitHeaders(response);

    const read = await send(`${store.url}${response.headers.get('location')}`, { key });
    expect(read.status).toBe(200);
    expect(read.text).toBe(response.text);
  });

  it.each(['available', 'pending', 'sold'])('accepts the status %s', async (status) => {
    const response = await create(`{"name":"Rex","categoryId":7,"status":"${status}"}`);
    expect(response.status).toBe(201);
    expect(response.json.status).toBe(status);
  });

  it('leaves a status that was not given out of every response, instead of null', async () => {
    const created = await create('{"name":"Rex","categoryId":7}');
    expect(created.text).toBe(`{"id":${created.json.id},"name":"Rex","categoryId":7}`);
    expect((await get(created.json.id)).text).toBe(created.text);
    const list = await send(`${store.url}/v1/pets?limit=100`, { key });
    expect(list.text).toContain(created.text);
  });

  it.each([
    ['the least int64', '-9223372036854775808', '-9223372036854775808'],
    ['the greatest int64', '9223372036854775807', '9223372036854775807'],
    ['an integer that a double cannot hold', '9007199254740993', '9007199254740993'],
    ['its negative', '-9007199254740993', '-9007199254740993'],
    ['zero', '0', '0'],
    ['minus zero', '-0', '0'],
  ])('keeps categoryId exact to the last digit both ways: %s', async (_name, sent, responseBody) => {
    const created = await create(`{"name":"Rex","categoryId":${sent}}`);
    expect(created.status).toBe(201);
    expect(created.text).toBe(`{"id":${created.json.id},"name":"Rex","categoryId":${responseBody}}`);
    expect((await get(created.json.id)).text).toBe(created.text);
    const list = await send(`${store.url}/v1/pets?limit=100`, { key });
    expect(list.text).toContain(created.text);
  });

  it('returns an id exactly that a double cannot represent', async () => {
    const id = '9007199254740993';
    await store.database.query('INSERT INTO pets (id, name, category_id) VALUES ($1, $2, 1)', [id, 'Far']);
    expect((await get(id)).text).toBe(`{"id":${id},"name":"Far","categoryId":1}`);
    await store.database.query('DELETE FROM pets WHERE id = $1', [id]);
  });

  it.each([
    ['with spaces before and after', '  Rex  '],
    ['with tab and line break', 'R\te\nx'],
    ['of one character', 'R'],
    ['with quotes and backslashes', `"R\\e'x"`],
    ['with markup', '<b>Rex</b>&amp;'],
    ['with emoji joined of several code points', '👩‍👩‍👧‍👦🐕'],
    ['in decomposed form, which is not composed', 'e\u0301'],
    ['with a character that only looks blank', '\u200b'],
    ['of 255 characters', 'x'.repeat(255)],
    ['of 255 characters outside the basic plane', '🐕'.repeat(255)],
  ])('stores a name as it is given: %s', async (_name, name) => {
    const created = await create(JSON.stringify({ name, categoryId: 1 }));
    expect(created.status).toBe(201);
    expect(created.json.name).toBe(name);
    expect((await get(created.json.id)).json.name).toBe(name);
  });

  it.each([
    ['any', '"color":"brown"'],
    ['id', '"id":1'],
    ['the empty name', '"":null'],
  ])('ignores unknown fields: %s', async (_name, field) => {
    const response = await create(`{${field},"name":"Rex","categoryId":7}`);
    expect(response.status).toBe(201);
    expect(response.text).toBe(`{"id":${response.json.id},"name":"Rex","categoryId":7}`);
    expect(response.json.id).not.toBe(1);
  });

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset=UTF-8'])(
    'accepts a body of type %s',
    async (type) => {
      expect((await create('{"name":"Rex","categoryId":7}', { 'Content-Type': type })).status).toBe(201);
    },
  );

  describe('returns 400 invalid_request, naming the field, for', () => {
    const NAME = /: name must [^;]+\.$/;
    const NAME_MISSING = /: name is required\.$/;
    const CATEGORY = /: categoryId must [^;]+\.$/;
    const CATEGORY_MISSING = /: categoryId is required\.$/;
    const STATUS = /: status must be one of available, pending, sold\.$/;

    const nameOf = (json: string) => `{"name":${json},"categoryId":7}`;
    const categoryOf = (json: string) => `{"name":"Rex","categoryId":${json}}`;
    const statusOf = (json: string) => `{"name":"Rex","categoryId":7,"status":${json}}`;

    it.each([
      ['no name', '{"categoryId":7}', NAME_MISSING],
      ['a name that is null', nameOf('null'), NAME],
      ['a name that is a number', nameOf('7'), NAME],
      ['a name that is true', nameOf('true'), NAME],
      ['a name that is an array', nameOf('["Rex"]'), NAME],
      ['a name that is an object', nameOf('{"length":3}'), NAME],
      ['an empty name', nameOf('""'), NAME],
      ['a blank name', nameOf(String.raw`" \t\n\u00a0\u3000"`), NAME],
      ['a name of 256 characters', nameOf(`"${'x'.repeat(256)}"`), NAME],
      ['a name of 256 characters outside the basic plane', nameOf(`"${'🐕'.repeat(256)}"`), NAME],
      ['a name with NUL', nameOf(String.raw`"R\u0000x"`), NAME],
      ['a name with a lone high surrogate', nameOf(String.raw`"R\ud800x"`), NAME],
      ['a name with a lone low surrogate', nameOf(String.raw`"R\udc00x"`), NAME],
      ['a name with surrogates the wrong way round', nameOf(String.raw`"\udc15\ud83d"`), NAME],
      ['no categoryId', '{"name":"Rex"}', CATEGORY_MISSING],
      ['a categoryId that is null', categoryOf('null'), CATEGORY],
      ['a categoryId that is a string', categoryOf('"7"'), CATEGORY],
      ['a categoryId that is true', categoryOf('true'), CATEGORY],
      ['a categoryId that is an array', categoryOf('[7]'), CATEGORY],
      ['a categoryId that is an object', categoryOf('{"value":"7","isLosslessNumber":true}'), CATEGORY],
      ['a categoryId with a fraction', categoryOf('7.5'), CATEGORY],
      ['a categoryId with a fraction of zero', categoryOf('7.0'), CATEGORY],
      ['a categoryId with an exponent', categoryOf('1e3'), CATEGORY],
      ['a categoryId with a fraction and an exponent', categoryOf('7.5E1'), CATEGORY],
      ['a categoryId one above the greatest int64', categoryOf('9223372036854775808'), CATEGORY],
      ['a categoryId one below the least int64', categoryOf('-9223372036854775809'), CATEGORY],
      ['a categoryId of a thousand digits', categoryOf('9'.repeat(1000)), CATEGORY],
      ['a status that is null', statusOf('null'), STATUS],
      ['a status that is empty', statusOf('""'), STATUS],
      ['a status that is unknown', statusOf('"lost"'), STATUS],
      ['a status in capitals', statusOf('"SOLD"'), STATUS],
      ['a status with a space', statusOf('"sold "'), STATUS],
      ['a status that is a number', statusOf('1'), STATUS],
      ['a status that is an array', statusOf('["sold"]'), STATUS],
      ['a status named as a property of every object', statusOf('"toString"'), STATUS],
    ])('%s', async (_name, body, message) => {
      const before = await countPets();
      const response = await create(body);
      expectError(response, 400, 'invalid_request', expect.stringMatching(message));
      expectRateLimitHeaders(response);
      expect(response.headers.get('location')).toBeNull();
      expect(await countPets()).toBe(before);
    });
  });

  it('names all invalid fields in one message', async () => {
    expectError(
      await create('{"status":"lost","categoryId":1.5,"name":""}'),
      400,
      'invalid_request',
      'The request is invalid: name must not be blank; categoryId must be an integer from -9223372036854775808 to ' +
        '9223372036854775807, written as digits; status must be one of available, pending, sold.',
    );
    expectError(
      await create('{}'),
      400,
      'invalid_request',
      'The request is invalid: name is required; categoryId is required.',
    );
  });

  describe('returns 400 invalid_request for a body that is', () => {
    it.each([
      ['an array', '[{"name":"Rex","categoryId":7}]'],
      ['an empty array', '[]'],
      ['a string', '"Rex"'],
      ['null', 'null'],
      ['true', 'true'],
      ['an integer', '7'],
      ['a fraction', '7.5'],
    ])('%s', async (_name, body) => {
      expectError(
        await create(body),
        400,
        'invalid_request',
        'The request is invalid: the body must be a JSON object.',
      );
    });

    it.each([
      ['empty', ''],
      ['white space', ' \n'],
      ['cut off', '{"name":"Rex","categoryId":7'],
      ['two objects', '{"name":"Rex","categoryId":7}{}'],
      ['a form', 'name=Rex&categoryId=7'],
      ['30,000 nested arrays', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ])('%s', async (_name, body) => {
      const response = await create(body);
      expectError(
        response,
        400,
        'invalid_request',
        expect.stringMatching(/^The body is not JSON: |must be a JSON object\.$/),
      );
      expect(response.json.message.length).toBeLessThan(300);
      expectRateLimitHeaders(response);
    });

    it('absent', async () => {
      const response = await send(`${store.url}/v1/pets`, { method: 'POST', key });
      expectError(response, 400, 'invalid_request', expect.stringMatching(/body/));
      const typed = await send(`${store.url}/v1/pets`, {
        method: 'POST',
        key,
        headers: { 'Content-Type': 'application/json' },
      });
      expectError(typed, 400, 'invalid_request', expect.stringMatching(/body/));
    });

    it('not UTF-8', async () => {
      const body = '{"name":"R\xe9x","categoryId":7}';
      const response = await sendPost(body, 'Content-Type: application/json');
      expectError(response, 400, 'invalid_request', expect.stringMatching(/^The body is not JSON: .*UTF-8/));
      expectRateLimitHeaders(response);
    });
  });

  describe('limits the body to 64 KiB, and', () => {
    const ofLength = (length: number) => {
      const empty = '{"name":"Rex","categoryId":7,"more":""}';
      return `${empty.slice(0, -2)}${'x'.repeat(length - empty.length)}"}`;
    };

    it('accepts a body of exactly that length', async () => {
      expect((await create(ofLength(BODY_LIMIT))).status).toBe(201);
    });

    it('returns 413 payload_too_large for one byte more', async () => {
      const response = await create(ofLength(BODY_LIMIT + 1));
      expectError(response, 413, 'payload_too_large', 'The body is larger than 64 KiB.');
      expectRateLimitHeaders(response);
    });

    it('counts bytes, not characters', async () => {
      const body = `{"name":"Rex","categoryId":7,"more":"${'é'.repeat(BODY_LIMIT / 2)}"}`;
      expectError(await create(body), 413, 'payload_too_large');
    });
  });

  describe('returns 415 unsupported_media_type for', () => {
    const NOT_JSON = 'The body must be JSON, with the header Content-Type: application/json.';

    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/jsonp',
      'application/octet-stream',
      'nonsense',
    ])('a body of type %s', async (type) => {
      const response = await create('{"name":"Rex","categoryId":7}', { 'Content-Type': type });
      expectError(response, 415, 'unsupported_media_type', NOT_JSON);
      expectRateLimitHeaders(response);
    });

    it('a body without a type', async () => {
      const response = await sendPost('{"name":"Rex","categoryId":7}');
      expectError(response, 415, 'unsupported_media_type', NOT_JSON);
      expectRateLimitHeaders(response);
    });
  });
});

describe('GET /v1/pets/{petId}', () => {
  it('returns 200 with the animal', async () => {
    const created = await create('{"name":"Rex","categoryId":7,"status":"sold"}');
    const response = await get(created.json.id);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.text).toBe(`{"id":${created.json.id},"name":"Rex","categoryId":7,"status":"sold"}`);
    expectRateLimitHeaders(response);
  });

  it.each([
    ['that no animal has', '999999'],
    ['zero', '0'],
    ['below zero', '-1'],
    ['the greatest int64', '9223372036854775807'],
    ['the least int64', '-9223372036854775808'],
    ['one above the greatest int64', '9223372036854775808'],
    ['one below the least int64', '-9223372036854775809'],
    ['of a hundred digits', '9'.repeat(100)],
    ['with a fraction', '1.0'],
    ['with an exponent', '1e0'],
    ['with a plus sign', '+1'],
    ['with a space before', '%201'],
    ['with a space after', '1%20'],
    ['with a line break', '1%0A'],
    ['hexadecimal', '0x1'],
    ['a BigInt literal', '1n'],
    ['in Arabic digits', encodeURIComponent('١')],
    ['a word', 'rex'],
    ['NaN', 'NaN'],
    ['a minus sign', '-'],
    ['with NUL', '1%00'],
    ['SQL', encodeURIComponent("1'; DROP TABLE pets; --")],
    ['undefined', 'undefined'],
  ])('returns 404 not_found for an id %s', async (_name, id) => {
    const response = await get(id);
    expectError(response, 404, 'not_found', expect.stringContaining(decodeURIComponent(id)));
    expectRateLimitHeaders(response);
  });
});
