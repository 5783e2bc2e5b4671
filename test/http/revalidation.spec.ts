import { shareApplication } from '../support/service/application.js';
import { expectRateLimitHeaders } from '../support/http/expectations.js';
import type { HttpResponse } from '../support/http/http.js';
import { head, sendRaw } from '../support/http/raw-http.js';

const store = shareApplication();
beforeAll(() => store.database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7), ('Tom', 3)`));

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  store.send(path, { headers, method });

const readTag = ({ headers }: HttpResponse) => headers.get('etag') ?? '';

describe.each([
  '/v1/pets?status=sold',
  '/v1/pets?limit=1',
  '/v1/pets?id=2&id=1',
  '/v1/pets/1',
  '/v1/store/orders',
])('GET %s', (path) => {
  it('returns an ETag, and a Cache-Control that requires revalidation and no shared cache', async () => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(readTag(response)).toMatch(/^"[\w-]{27}"$/);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    expect(readTag(await get(path))).toBe(readTag(response));
  });

  it('returns 304 without a body if If-None-Match has the ETag, and counts, with all headers', async () => {
    const known = await get(path);
    const compressed = readTag(known).replace(/"$/, '-gzip"');
    const named = [readTag(known), `W/${readTag(known)}`, `"x", ${readTag(known)}`, compressed, '*'];
    for (const ifNoneMatch of named) {
      const response = await get(path, { 'If-None-Match': ifNoneMatch });
      expect([response.status, response.text]).toEqual([304, '']);
      for (const name of ['etag', 'cache-control', 'link', 'deprecation', 'x-stability']) {
        expect([name, response.headers.get(name)]).toEqual([name, known.headers.get(name)]);
      }
      expect(['content-type', 'content-length'].filter((name) => response.headers.has(name))).toStrictEqual(
        [],
      );
      expectRateLimitHeaders(response);
      expect(Number(response.headers.get('x-ratelimit-remaining'))).toBeLessThan(
        Number(known.headers.get('x-ratelimit-remaining')),
      );
    }
  });

  it('returns 200 with the body when If-None-Match has another ETag', async () => {
    const known = await get(path);
    for (const ifNoneMatch of ['"x"', 'x', '', readTag(known).slice(1, -1)]) {
      const response = await get(path, { 'If-None-Match': ifNoneMatch });
      expect([response.status, response.text]).toEqual([200, known.text]);
    }
  });

  it('returns the same for HEAD, with the length of the body', async () => {
    const known = await get(path);
    const bare = await get(path, {}, 'HEAD');
    const length = String(Buffer.byteLength(known.text));
    expect([bare.status, readTag(bare), bare.headers.get('content-length')]).toEqual([
      200,
      readTag(known),
      length,
    ]);
    expect((await get(path, { 'If-None-Match': readTag(known) }, 'HEAD')).status).toBe(304);
  });
});

it('GET /v1/pets returns 200 after a change, and the connection stays usable after a 304', async () => {
  const known = readTag(await get('/v1/pets'));
  const request = (header: string) => head('GET /v1/pets', `Authorization: Bearer ${store.key}`, header);
  const { status, body } = await sendRaw(
    store.url,
    request(`If-None-Match: ${known}`),
    request('Connection: close'),
  );
  // The bytes after a 304 are the next response: a 304 has no body.
  expect([status, body.slice(0, 12)]).toEqual([304, 'HTTP/1.1 200']);
  await store.send('/v1/pets', { method: 'POST', body: { name: 'Max', categoryId: 1 } });
  const response = await get('/v1/pets', { 'If-None-Match': known });
  expect(response.status).toBe(200);
  expect(readTag(response)).not.toBe(known);
});

it.each([
  ['/v1/pets', '?status=pending&limit=2', { name: 'Ada', categoryId: 1, status: 'pending' }],
  ['/v1/store/orders', '?limit=2', { petId: 1, quantity: 1 }],
])(
  'GET %s%s returns another ETag when a last page gets a next page, though its body is the same',
  async (path, query, body) => {
    const add = () => store.send(path, { method: 'POST', body });
    await add();
    await add();
    const ended = await get(`${path}${query}`);
    expect(ended.json).toHaveLength(2);
    await add();
    const continued = await get(`${path}${query}`, { 'If-None-Match': readTag(ended) });
    expect([continued.status, continued.text]).toEqual([200, ended.text]);
    expect(continued.headers.get('link')).toContain('rel="next"');
  },
);

it('POST /v1/pets and GET /v1/rate-limit return no ETag', async () => {
  const added = await store.send('/v1/pets', {
    method: 'POST',
    body: { name: 'Max', categoryId: 1 },
    headers: { 'If-None-Match': '*' },
  });
  expect([added.status, readTag(added)]).toEqual([201, '']);
  const rateLimitStatus = await get('/v1/rate-limit', { 'If-None-Match': '*' });
  expect([rateLimitStatus.status, readTag(rateLimitStatus)]).toEqual([200, '']);
});
