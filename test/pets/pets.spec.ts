import { shareApplication } from '../support/service/application.js';
import { expectError, expectInvalid } from '../support/http/expectations.js';
import type { HttpResponse } from '../support/http/http.js';
import { sendRaw, toHttpResponse } from '../support/http/raw-http.js';

const BODY_LIMIT = 64 * 1024;
const PET = '{"name":"Rex","categoryId":7}';
const EMPTY = '{"name":"Rex","categoryId":7,"more":""}';

const store = shareApplication();

/** Sends a body exactly as it is written. */
function create(body: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
  return store.send('/v1/pets', { method: 'POST', body, headers });
}

/** Sends a body as Latin-1, with exactly these headers of it. */
async function sendPost(body: string, ...headers: string[]): Promise<HttpResponse> {
  const head = [
    'POST /v1/pets HTTP/1.1',
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${store.key}`,
  ];
  const all = [...head, ...headers, `Content-Length: ${body.length}`];
  return toHttpResponse(await sendRaw(store.url, `${all.join('\r\n')}\r\n\r\n`, body));
}

function get(id: string | number): Promise<HttpResponse> {
  return store.send(`/v1/pets/${id}`);
}

describe('POST /v1/pets', () => {
  it('returns 201 with the animal, its new id and its Location', async () => {
    const { status, text, json, headers } = await create('{"name":"Rex","categoryId":7,"status":"pending"}');
    expect([status, json]).toEqual([
      201,
      { id: expect.any(Number), name: 'Rex', categoryId: 7, status: 'pending' },
    ]);
    expect(headers.get('location')).toBe(`/v1/pets/${json.id}`);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    const read = await store.send(headers.get('location') ?? '');
    expect([read.status, read.text]).toEqual([200, text]);
  });

  /** Expects the same fields in the response to the creation, to a read by id and in a list. */
  async function expectEverywhere(body: string, fields = body.slice(1)): Promise<void> {
    const created = await create(body);
    expect([created.status, created.text]).toEqual([201, `{"id":${created.json.id},${fields}`]);
    expect((await get(created.json.id)).text).toBe(created.text);
    expect((await store.send('/v1/pets?limit=100')).text).toContain(created.text);
  }

  it('leaves a status that was not given out of every response, instead of null', () =>
    expectEverywhere('{"name":"Rex","categoryId":7}'));

  it.each([
    ['the least int64', '-9223372036854775808'],
    ['the greatest int64', '9223372036854775807'],
    ['an integer that a double cannot hold', '9007199254740993'],
    ['zero', '0'],
    ['minus zero', '-0', '0'],
  ])('keeps categoryId exact to the last digit both ways: %s', (_name, sent, kept = sent) =>
    expectEverywhere(`{"name":"Rex","categoryId":${sent}}`, `"name":"Rex","categoryId":${kept}}`),
  );

  it('returns an id exactly that a double cannot represent', async () => {
    const id = '9007199254740993';
    await store.database.query('INSERT INTO pets (id, name, category_id) VALUES ($1, $2, 1)', [id, 'Far']);
    expect((await get(id)).text).toBe(`{"id":${id},"name":"Far","categoryId":1}`);
    await store.database.query('DELETE FROM pets WHERE id = $1', [id]);
  });

  it.each([
    ['with spaces before and after', '  Rex  '],
    ['with control characters and line breaks', 'R\t\b\f\r\n\u0001\u007f\u2028'],
    ['of one character', 'R'],
    ['with quotes, backslashes and markup', `"R\\e'x" <b>Rex</b>&amp;`],
    ['with emoji joined of several code points', '👩‍👩‍👧‍👦🐕'],
    ['in decomposed form, which is not composed', 'e\u0301'],
    ['with a character that only looks blank', '\u200b'],
    ['of 255 characters outside the basic plane', '🐕'.repeat(255)],
  ])('stores a name as it is given: %s', (_name, name) =>
    expectEverywhere(JSON.stringify({ name, categoryId: 1 })),
  );

  it.each(['"color":"brown"', '"id":1', '"":null'])('ignores unknown fields: %s', (field) =>
    expectEverywhere(`{${field},"name":"Rex","categoryId":7}`, '"name":"Rex","categoryId":7}'),
  );

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset=UTF-8'])(
    'accepts a body of type %s',
    async (type) => {
      expect((await create(PET, { 'Content-Type': type })).status).toBe(201);
    },
  );

  it('returns 400 that names all invalid fields in one message', async () => {
    expectInvalid(
      await create('{"status":"lost","categoryId":1.5,"name":""}'),
      'name must not be blank; categoryId must be an integer from -9223372036854775808 to ' +
        '9223372036854775807, without quotes, fraction or exponent; ' +
        'status must be one of available, pending, sold',
    );
  });

  describe('a body that is no JSON object', () => {
    it.each([
      ['white space', ' \n'],
      ['cut off', '{"name":"Rex","categoryId":7'],
      ['two objects', '{"name":"Rex","categoryId":7}{}'],
      ['a form', 'name=Rex&categoryId=7'],
      ['30,000 nested arrays', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ])('gets 400 invalid_request if it is %s', async (_name, body) => {
      const response = await create(body);
      const message: unknown = expect.stringMatching(/^The body is not JSON: |must be a JSON object\.$/);
      expectError(response, 400, 'invalid_request', message);
      expect(response.json.message.length).toBeLessThan(300);
    });

    it.each<[string, Record<string, string>]>([
      ['absent', {}],
      ['absent, with a type', { 'Content-Type': 'application/json' }],
    ])('gets 400 invalid_request if it is %s', async (_name, headers) => {
      const response = await store.send('/v1/pets', { method: 'POST', headers });
      expectInvalid(response, 'the body must be a JSON object');
    });

    it('gets 400 invalid_request if it is not UTF-8', async () => {
      const body = '{"name":"R\xe9x","categoryId":7}';
      const response = await sendPost(body, 'Content-Type: application/json');
      expectError(response, 400, 'invalid_request', expect.stringMatching(/^The body is not JSON: .*UTF-8/));
    });
  });

  it.each([
    [201, 'exactly 64 KiB', 'x'.repeat(BODY_LIMIT - EMPTY.length)],
    [413, 'one byte more than 64 KiB', 'x'.repeat(BODY_LIMIT - EMPTY.length + 1)],
    [413, 'more than 64 KiB in fewer characters', 'é'.repeat(BODY_LIMIT / 2)],
  ])('returns %d for a body of %s', async (status, _name, more) => {
    const response = await create(`${EMPTY.slice(0, -2)}${more}"}`);
    expect(response.status).toBe(status);
    if (status === 413) {
      expectError(response, 413, 'payload_too_large', 'The body is larger than 64 KiB.');
    }
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/octet-stream',
    'nonsense',
    null,
  ])('returns 415 unsupported_media_type for a body of type %s', async (type) => {
    const response = await sendPost(PET, ...(type === null ? [] : [`Content-Type: ${type}`]));
    const message = 'The body must be JSON, with the header Content-Type: application/json.';
    expectError(response, 415, 'unsupported_media_type', message);
  });
});

describe('GET /v1/pets/{petId}', () => {
  it.each([
    ['that no animal has', '999999'],
    ['zero', '0'],
    ['below zero', '-1'],
    ['the greatest int64', '9223372036854775807'],
    ['one above the greatest int64', '9223372036854775808'],
    ['one below the least int64', '-9223372036854775809'],
    ['of a hundred digits', '9'.repeat(100)],
    ['with a fraction', '1.0'],
    ['with an exponent', '1e0'],
    ['with a plus sign', '+1'],
    ['with a space before', '%201'],
    ['with a line break', '1%0A'],
    ['hexadecimal', '0x1'],
    ['in Arabic digits', encodeURIComponent('١')],
    ['a word', 'rex'],
    ['a minus sign', '-'],
    ['with NUL', '1%00'],
    ['SQL', encodeURIComponent("1'; DROP TABLE pets; --")],
  ])('returns 404 not_found for an id %s', async (_name, id) => {
    expectError(await get(id), 404, 'not_found', expect.stringContaining(decodeURIComponent(id)));
  });
});
