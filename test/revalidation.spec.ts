import { startApplication, type TestApplication } from './support/application.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { type Answer, send } from './support/http.js';
import { sendRaw } from './support/raw-http.js';

const UNLIMITED = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };

let store: TestApplication;
let key: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue(UNLIMITED));
  await store.database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7), ('Tom', 3)`);
});
afterAll(() => store.close());

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return send(`${store.url}${path}`, { key, headers, method });
}

const tagOf = ({ headers }: Answer) => headers.get('etag') ?? '';

describe.each(['/v1/pets', '/v1/pets?status=sold', '/v1/pets?limit=1', '/v1/pets/1', '/v1/store/orders'])(
  'GET %s',
  (path) => {
    it('names its answer, which its client alone may keep, and must ask for anew', async () => {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(tagOf(answer)).toMatch(/^"[\w-]{27}"$/);
      expect(answer.headers.get('cache-control')).toBe('private, no-cache');
      expect(tagOf(await get(path))).toBe(tagOf(answer));
    });

    it('is 304 without a body to whom it is known, counted, with all that tells of it', async () => {
      const known = await get(path);
      for (const ifNoneMatch of [tagOf(known), `W/${tagOf(known)}`, `"x", ${tagOf(known)}`, '*']) {
        const answer = await get(path, { 'If-None-Match': ifNoneMatch });
        expect([answer.status, answer.text]).toEqual([304, '']);
        expect(tagOf(answer)).toBe(tagOf(known));
        expect(answer.headers.get('cache-control')).toBe('private, no-cache');
        expect(answer.headers.get('link')).toBe(known.headers.get('link'));
        expect(answer.headers.get('deprecation')).toBe(known.headers.get('deprecation'));
        expect(answer.headers.get('x-stability')).toBe(known.headers.get('x-stability'));
        expect(answer.headers.get('content-type')).toBeNull();
        expect(answer.headers.get('content-length')).toBeNull();
        expectRateLimitHeaders(answer);
        expect(Number(answer.headers.get('x-ratelimit-remaining'))).toBeLessThan(
          Number(known.headers.get('x-ratelimit-remaining')),
        );
      }
    });

    it('is whole to whom another is known', async () => {
      const known = await get(path);
      for (const ifNoneMatch of ['"x"', 'x', '', tagOf(known).slice(1, -1)]) {
        const answer = await get(path, { 'If-None-Match': ifNoneMatch });
        expect([answer.status, answer.text]).toEqual([200, known.text]);
      }
    });

    it('HEAD says the same, and how long the body is', async () => {
      const known = await get(path);
      const head = await get(path, {}, 'HEAD');
      expect([head.status, tagOf(head)]).toEqual([200, tagOf(known)]);
      const length = String(Buffer.byteLength(known.text));
      expect(head.headers.get('content-length')).toBe(length);
      const notModified = await get(path, { 'If-None-Match': tagOf(known) }, 'HEAD');
      expect([notModified.status, notModified.text]).toEqual([304, '']);
      expect([null, length]).toContain(notModified.headers.get('content-length'));
    });

    it('is not kept from whom has no key by a tag', async () => {
      const known = await get(path);
      const answer = await send(`${store.url}${path}`, { headers: { 'If-None-Match': tagOf(known) } });
      expectError(answer, 401, 'missing_api_key');
      expect(tagOf(answer)).toBe('');
    });
  },
);

it('a change is seen, and leaves the connection in order after a 304', async () => {
  const known = tagOf(await get('/v1/pets'));
  const authorization = `Authorization: Bearer ${key}`;
  const request = (headers: string) =>
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${authorization}\r\n${headers}\r\n`;
  const { status, body } = await sendRaw(
    store.url,
    request(`If-None-Match: ${known}\r\n`),
    request('Connection: close\r\n'),
  );
  // What follows a 304 is the next answer: it has no body.
  expect([status, body.slice(0, 12)]).toEqual([304, 'HTTP/1.1 200']);
  await send(`${store.url}/v1/pets`, { method: 'POST', key, body: { name: 'Max', categoryId: 1 } });
  const answer = await get('/v1/pets', { 'If-None-Match': known });
  expect(answer.status).toBe(200);
  expect(tagOf(answer)).not.toBe(known);
});

it.each([
  ['/v1/pets', '?status=pending&limit=2', { name: 'Ada', categoryId: 1, status: 'pending' }],
  ['/v1/store/orders', '?limit=2', { petId: 1, quantity: 1 }],
])('GET %s%s that ended, and now goes on with the same body, is another', async (path, query, body) => {
  const add = () => send(`${store.url}${path}`, { method: 'POST', key, body });
  await add();
  await add();
  const ended = await get(`${path}${query}`);
  expect(ended.json).toHaveLength(2);
  await add();
  const goesOn = await get(`${path}${query}`, { 'If-None-Match': tagOf(ended) });
  expect([goesOn.status, goesOn.text]).toEqual([200, ended.text]);
  expect(goesOn.headers.get('link')).toContain('rel="next"');
});

it.each<[string, string, Parameters<typeof send>[1]]>([
  ['401', '/v1/pets', { key: undefined }],
  ['404', '/v1/pets/999', {}],
  ['400', '/v1/pets?limit=0', {}],
  ['405', '/v1/pets', { method: 'DELETE' }],
])('%s may not be kept, and has no tag', async (status, path, init) => {
  const answer = await send(`${store.url}${path}`, { key, ...init });
  expect(answer.status).toBe(Number(status));
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(tagOf(answer)).toBe('');
});

it('429 may not be kept', async () => {
  const { key: narrow } = await store.issue({ plan: 'enterprise', perMinute: 2, perDay: 10 });
  await send(`${store.url}/v1/pets`, { key: narrow });
  await send(`${store.url}/v1/pets`, { key: narrow });
  const answer = await send(`${store.url}/v1/pets`, { key: narrow });
  expectError(answer, 429, 'rate_limit_exceeded');
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

it('what is added, and where a key stands, has no tag', async () => {
  const added = await send(`${store.url}/v1/pets`, {
    method: 'POST',
    key,
    body: { name: 'Max', categoryId: 1 },
    headers: { 'If-None-Match': '*' },
  });
  expect([added.status, tagOf(added)]).toEqual([201, '']);
  const standing = await get('/v1/rate-limit', { 'If-None-Match': '*' });
  expect([standing.status, tagOf(standing)]).toEqual([200, '']);
});
