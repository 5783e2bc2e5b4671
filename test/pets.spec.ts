import { startApplication, type TestApplication } from './support/application.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { type HttpResponse, send } from './support/http.js';
import { sendRaw } from './support/raw-http.js';

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

  it('gives each animal a greater id than those before', async () => {
    const first = await create('{"name":"Rex","categoryId":7}');
    const second = await create('{"name":"Rex","categoryId":7}');
    expect(second.json.id).toBeGreaterThan(first.json.id);
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

  it('accepts a surrogate pair that is written as two escapes', async () => {
    const { status, json } = await create(String.raw`{"name":"\ud83d\udc15","categoryId":1}`);
    expect(status).toBe(201);
    expect(json.name).toBe('🐕');
  });

  it.each([
    ['any', '"color":"brown"'],
    ['id', '"id":1'],
    ['__proto__', '"__proto__":{"status":"sold"}'],
    ['constructor', '"constructor":{"prototype":{"status":"sold"}}'],
    ['toString', '"toString":1'],
    ['the empty name', '"":null'],
  ])('ignores unknown fields: %s', async (_name, field) => {
    const response = await create(`{${field},"name":"Rex","categoryId":7}`);
    expect(response.status).toBe(201);
    expect(response.text).toBe(`{"id":${response.json.id},"name":"Rex","categoryId":7}`);
    expect(response.json.id).not.toBe(1);
  });

  it('uses the last of repeated fields', async () => {
    const response = await create('{"name":"Rex","name":null,"name":"Tom","categoryId":"x","categoryId":7}');
    expect(response.status).toBe(201);
    expect(response.text).toBe(`{"id":${response.json.id},"name":"Tom","categoryId":7}`);
    const denied = await create('{"name":"Rex","categoryId":7,"name":null}');
    expectError(denied, 400, 'invalid_request', expect.stringMatching(/\bname\b/));
  });

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset=UTF-8'])(
    'accepts a body of type %s',
    async (type) => {
      expect((await create('{"name":"Rex","categoryId":7}', { 'Content-Type': type })).status).toBe(201);
    },
  );

  it('accepts white space around the JSON', async () => {
    expect((await create('\r\n\t {"name" : "Rex" , "categoryId" : 7 }\n\n')).status).toBe(201);
  });

  describe('returns 400 invalid_request, naming the field, for', () => {
    const NAME = /: name must [^;]+\.$/;
    const NAME_MISSING = /: name is required\.$/;
    const CATEGORY = /: categoryId must [^;]+\.$/;
    const CATEGORY_MISSING = /: categoryId is required\.$/;
    const STATUS = /: status must be one of available, pending, sold\.$/;

    it.each([
      ['no name', '{"categoryId":7}', NAME_MISSING],
      ['a name that is null', '{"name":null,"categoryId":7}', NAME],
      ['a name that is a number', '{"name":7,"categoryId":7}', NAME],
      ['a name that is true', '{"name":true,"categoryId":7}', NAME],
      ['a name that is an array', '{"name":["Rex"],"categoryId":7}', NAME],
      ['a name that is an object', '{"name":{"length":3},"categoryId":7}', NAME],
      ['an empty name', '{"name":"","categoryId":7}', NAME],
      ['a blank name', String.raw`{"name":" \t\n\u00a0\u3000","categoryId":7}`, NAME],
      ['a name of 256 characters', `{"name":"${'x'.repeat(256)}","categoryId":7}`, NAME],
      [
        'a name of 256 characters outside the basic plane',
        `{"name":"${'🐕'.repeat(256)}","categoryId":7}`,
        NAME,
      ],
      ['a name with NUL', String.raw`{"name":"R\u0000x","categoryId":7}`, NAME],
      ['a name with a lone high surrogate', String.raw`{"name":"R\ud800x","categoryId":7}`, NAME],
      ['a name with a lone low surrogate', String.raw`{"name":"R\udc00x","categoryId":7}`, NAME],
      [
        'a name with surrogates the wrong way round',
        String.raw`{"name":"\udc15\ud83d","categoryId":7}`,
        NAME,
      ],
      ['no categoryId', '{"name":"Rex"}', CATEGORY_MISSING],
      ['a categoryId that is null', '{"name":"Rex","categoryId":null}', CATEGORY],
      ['a categoryId that is a string', '{"name":"Rex","categoryId":"7"}', CATEGORY],
      ['a categoryId that is true', '{"name":"Rex","categoryId":true}', CATEGORY],
      ['a categoryId that is an array', '{"name":"Rex","categoryId":[7]}', CATEGORY],
      [
        'a categoryId that is an object',
        '{"name":"Rex","categoryId":{"value":"7","isLosslessNumber":true}}',
        CATEGORY,
      ],
      ['a categoryId with a fraction', '{"name":"Rex","categoryId":7.5}', CATEGORY],
      ['a categoryId with a fraction of zero', '{"name":"Rex","categoryId":7.0}', CATEGORY],
      ['a categoryId with an exponent', '{"name":"Rex","categoryId":1e3}', CATEGORY],
      ['a categoryId with a fraction and an exponent', '{"name":"Rex","categoryId":7.5E1}', CATEGORY],
      [
        'a categoryId one above the greatest int64',
        '{"name":"Rex","categoryId":9223372036854775808}',
        CATEGORY,
      ],
      [
        'a categoryId one below the least int64',
        '{"name":"Rex","categoryId":-9223372036854775809}',
        CATEGORY,
      ],
      ['a categoryId of a thousand digits', `{"name":"Rex","categoryId":${'9'.repeat(1000)}}`, CATEGORY],
      ['a status that is null', '{"name":"Rex","categoryId":7,"status":null}', STATUS],
      ['a status that is empty', '{"name":"Rex","categoryId":7,"status":""}', STATUS],
      ['a status that is unknown', '{"name":"Rex","categoryId":7,"status":"lost"}', STATUS],
      ['a status in capitals', '{"name":"Rex","categoryId":7,"status":"SOLD"}', STATUS],
      ['a status with a space', '{"name":"Rex","categoryId":7,"status":"sold "}', STATUS],
      ['a status that is a number', '{"name":"Rex","categoryId":7,"status":1}', STATUS],
      ['a status that is an array', '{"name":"Rex","categoryId":7,"status":["sold"]}', STATUS],
      [
        'a status named as a property of every object',
        '{"name":"Rex","categoryId":7,"status":"toString"}',
        STATUS,
      ],
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

  it('reads no field from a prototype in the body', async () => {
    const message = expect.stringMatching(/name is required; categoryId is required/);
    expectError(await create('{"__proto__":{"name":"Rex","categoryId":7}}'), 400, 'invalid_request', message);
    expectError(
      await create('{"constructor":{"name":"Rex","categoryId":7}}'),
      400,
      'invalid_request',
      message,
    );
    expect(({} as { name?: string }).name).toBeUndefined();
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
      ['followed by more', '{"name":"Rex","categoryId":7}}'],
      ['two objects', '{"name":"Rex","categoryId":7}{}'],
      ['single-quoted', "{'name':'Rex','categoryId':7}"],
      ['without quotes', '{name:"Rex",categoryId:7}'],
      ['with a comma too many', '{"name":"Rex","categoryId":7,}'],
      ['with a comment', '{"name":"Rex",/* */"categoryId":7}'],
      ['with NaN', '{"name":"Rex","categoryId":NaN}'],
      ['with a leading zero', '{"name":"Rex","categoryId":007}'],
      ['with a plus sign', '{"name":"Rex","categoryId":+7}'],
      ['with hexadecimal digits', '{"name":"Rex","categoryId":0x7}'],
      ['with a raw line break in a text', '{"name":"R\nex","categoryId":7}'],
      ['with a bad escape', String.raw`{"name":"R\xex","categoryId":7}`],
      ['a form', 'name=Rex&categoryId=7'],
      ['30,000 open arrays', '['.repeat(30_000)],
      ['30,000 nested arrays', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
      ['60,000 open arrays', '['.repeat(60_000)],
      ['10,000 nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ])('%s', async (_name, body) => {
      const response = await create(body);
      expectError(response, 400, 'invalid_request', expect.stringMatching(/[Bb]ody/));
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

    it('deeply nested in a field that would be ignored', async () => {
      const depth = 30_000;
      const response = await create(
        `{"name":"Rex","categoryId":7,"more":${'['.repeat(depth)}${']'.repeat(depth)}}`,
      );
      expectError(response, 400, 'invalid_request');
    });

    it.each([
      ['a stray byte', [0xff]],
      ['a sequence that is cut off', [0xc3]],
      ['an overlong sequence', [0xc0, 0x80]],
      ['a surrogate', [0xed, 0xa0, 0x80]],
      ['Latin-1', [0xe9]],
    ])('not UTF-8: %s', async (_name, bytes) => {
      const body = Buffer.concat([
        Buffer.from('{"name":"R'),
        Buffer.from(bytes),
        Buffer.from('x","categoryId":7}'),
      ]);
      const {
        status,
        headers,
        body: responseBody,
      } = await sendRaw(
        store.url,
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
        body,
      );
      expect(status).toBe(400);
      expect(JSON.parse(responseBody)).toEqual({
        code: 'invalid_request',
        message: expect.stringMatching(/UTF-8/),
        status: 400,
      });
      expect(headers['x-ratelimit-remaining']).toMatch(/^\d+$/);
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
      expectError(response, 413, 'payload_too_large', expect.stringMatching(/64 KiB/));
      expectRateLimitHeaders(response);
    });

    it('returns 413 also when the length is not sent first', async () => {
      const body = ofLength(BODY_LIMIT + 1);
      const response = await sendRaw(
        store.url,
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n` +
          'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n' +
          `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      );
      expect(response.status).toBe(413);
      expect(response.headers['x-ratelimit-limit']).toBe('100000');
    });

    it('counts bytes, not characters', async () => {
      const body = `{"name":"Rex","categoryId":7,"more":"${'é'.repeat(BODY_LIMIT / 2)}"}`;
      expectError(await create(body), 413, 'payload_too_large');
    });
  });

  describe('returns 415 unsupported_media_type for', () => {
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
      expectError(
        response,
        415,
        'unsupported_media_type',
        expect.stringMatching(/Content-Type: application\/json/),
      );
      expectRateLimitHeaders(response);
    });

    it('a body without a type', async () => {
      const { status, headers, body } = await sendRaw(
        store.url,
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n` +
          'Content-Length: 29\r\n\r\n{"name":"Rex","categoryId":7}',
      );
      expect(status).toBe(415);
      expect(JSON.parse(body)).toEqual({
        code: 'unsupported_media_type',
        message: expect.stringMatching(/Content-Type: application\/json/),
        status: 415,
      });
      expect(headers['x-ratelimit-limit']).toBe('100000');
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

  it('returns animals with a zero or negative id, if there are any', async () => {
    await store.database.query(
      "INSERT INTO pets (id, name, category_id) VALUES (0, 'Zero', 1), (-5, 'Minus', 1)",
    );
    expect((await get('0')).text).toBe('{"id":0,"name":"Zero","categoryId":1}');
    expect((await get('-5')).text).toBe('{"id":-5,"name":"Minus","categoryId":1}');
    await store.database.query('DELETE FROM pets WHERE id <= 0');
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
