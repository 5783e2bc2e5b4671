import { setTimeout as pause } from 'node:timers/promises';
import { shareApplication } from '../support/service/application.js';
import { expectError } from '../support/http/expectations.js';
import { dial, head, sendRaw, toHttpResponse } from '../support/http/raw-http.js';

const PET = { name: 'Rex', categoryId: 7 };
const KIB = 1024;

const store = shareApplication();

const closing = (line: string, ...headers: string[]) =>
  head(line, `Authorization: Bearer ${store.key}`, 'Connection: close', ...headers);

describe('prototype pollution', () => {
  // The service runs in this process, so whatever it pollutes is polluted here.
  afterEach(() => {
    const { polluted, status, role } = {} as Record<string, unknown>;
    expect([polluted, status, role]).toEqual([undefined, undefined, undefined]);
    for (const { prototype } of [Object, Array, Function, String, Number] as { prototype: object }[]) {
      expect(Object.keys(prototype)).toStrictEqual([]);
    }
  });

  const POLLUTION = '{"polluted":1,"status":"sold","role":"admin","toString":1}';
  it.each([
    `"__proto__":${POLLUTION}`,
    `"constructor":{"prototype":${POLLUTION}}`,
    `"a":{"__proto__":${POLLUTION}},"a":{"constructor":{"prototype":${POLLUTION}}}`,
    String.raw`"\u005f_proto__":{"polluted":1,"status":"sold"}`,
    `"toString":1,"valueOf":1,"hasOwnProperty":1,"__defineGetter__":1`,
  ])('is impossible by a body with %s, which is ignored', async (field) => {
    const response = await store.send('/v1/pets', {
      method: 'POST',
      body: `{"name":"Rex",${field},"categoryId":7}`,
    });
    expect(response.status).toBe(201);
    expect(response.json).toEqual({ id: expect.any(Number), ...PET });
  });

  it('is impossible by a body whose __proto__ has the fields that it lacks', async () => {
    const body = `{"__proto__":{"name":"Rex","categoryId":7}}`;
    expectError(await store.send('/v1/pets', { method: 'POST', body }), 400, 'invalid_request');
  });

  it.each([
    ['/v1/pets?__proto__[polluted]=1&__proto__.polluted=1&__proto__=1&__proto__=2', 200],
    ['/v1/pets?constructor[prototype][polluted]=1&limit[__proto__]=1', 200],
    ['/v1/constructor', 404],
    ['/v1/pets/__proto__', 404],
    ['/admin/plans/__proto__', 403],
  ])('is impossible by the path or the query %s', async (target, status) => {
    expect((await store.send(target)).status).toBe(status);
  });

  it.each(['__proto__', 'constructor'])(
    'is impossible by the name %s in Idempotency-Key or X-Request-Id, or as the name of a header',
    async (name) => {
      const headers = { 'Idempotency-Key': name, 'X-Request-Id': name, [name]: 'polluted' };
      const init = { method: 'POST', headers, body: PET };
      const [first, second] = [await store.send('/v1/pets', init), await store.send('/v1/pets', init)];
      expect([first.status, first.headers.get('x-request-id')]).toEqual([201, name]);
      expect(first.headers.get('idempotent-replayed')).toBeNull();
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(second.json).toEqual(first.json);
    },
  );
});

describe('an oversized request', () => {
  it.each([
    ['16 KiB of headers', () => closing('GET /v1/pets', ...Array.from({ length: 10_000 }, () => 'a:b'))],
    [
      'trailers of 16 KiB',
      () =>
        closing('POST /v1/pets', 'Content-Type: application/json', 'Transfer-Encoding: chunked') +
        `2\r\n{}\r\n0\r\nX: ${'x'.repeat(17 * KIB)}\r\n\r\n`,
    ],
  ])('gets 431 for %s', async (_name, request) => {
    expectError(toHttpResponse(await sendRaw(store.url, request())), 431, 'headers_too_large');
  });

  it('gets 413 for an endless chunked body as soon as it exceeds 64 KiB', async () => {
    const socket = dial(store.url);
    const chunk = `400\r\n${' '.repeat(KIB)}\r\n`;
    let response = '';
    socket.setEncoding('latin1').on('data', (text: string) => (response += text));
    // The server closes the connection while it is written to.
    socket.on('error', () => {});
    socket.write(closing('POST /v1/pets', 'Content-Type: application/json', 'Transfer-Encoding: chunked'));
    while (!socket.destroyed) {
      socket.write(chunk.repeat(16));
      await pause(5);
    }
    expect(response).toMatch(/^HTTP\/1\.1 413 [^]*"code":"payload_too_large"/);
  });

  it.each([
    ['open arrays', '['.repeat(64 * KIB)],
    ['digits', `{"name":"Rex","categoryId":${'9'.repeat(60_000)}}`],
    ['backslashes', `{"name":"${'\\\\'.repeat(30_000)}","categoryId":7}`],
    ['fields', `{${Array.from({ length: 6000 }, (_, index) => `"${index}":1`).join(',')}}`],
  ])('gets 400 within a second for 64 KiB of %s', async (_name, body) => {
    const start = performance.now();
    expectError(await store.send('/v1/pets', { method: 'POST', body }), 400, 'invalid_request');
    expect(performance.now() - start).toBeLessThan(1000);
  });

  it('gets 200 with 4,000 query parameters, which are ignored', async () => {
    expect((await store.send(`/v1/pets?limit=1&${'a=1&'.repeat(3900)}`)).json).toHaveLength(1);
    expectError(await store.send(`/v1/pets?${'limit=1&'.repeat(1500)}`), 400, 'invalid_request');
  });

  it('gets 200 with one id 3,000 times, which counts once, and 400 with 1,500 ids', async () => {
    const { status, headers } = await store.send(`/v1/pets?${'id=1&'.repeat(3000)}`);
    expect([status, headers.get('link')]).toEqual([200, '</v1/pets?limit=100&id=1>; rel="first"']);
    const different = Array.from({ length: 1500 }, (_, index) => `id=${index}`).join('&');
    expectError(await store.send(`/v1/pets?${different}`), 400, 'invalid_request');
  });
});

describe('input to regular expressions', () => {
  const LONG = 15 * KIB;
  it.each<[string, string, Record<string, string>]>([
    ['Authorization of spaces', '/v1/pets', { Authorization: `Bearer ${' '.repeat(LONG)}x y` }],
    ['Authorization of many words', '/v1/pets', { Authorization: 'Bearer '.repeat(2000) }],
    ['Authorization of almost a key', '/v1/pets', { Authorization: `Bearer ask_test_${'a'.repeat(LONG)}!` }],
    ['If-None-Match of quotes', '/v1/pets', { 'If-None-Match': '"'.repeat(LONG) + '\t' }],
    ['If-None-Match of tags', '/v1/pets', { 'If-None-Match': '"a",'.repeat(3500) }],
    ['X-Request-Id of prefixes of keys', '/v1/pets', { 'X-Request-Id': 'sk_live'.repeat(2000) }],
    ['a host of dots', '/v1/pets', { Host: `${'a.'.repeat(7000)}!` }],
    ['a cursor of nothing', `/v1/pets?cursor=${'A'.repeat(LONG)}`, {}],
    ['a limit of digits', `/v1/pets?limit=${'1'.repeat(LONG)}`, {}],
    ['a path of digits', `/v1/pets/${'1'.repeat(LONG)}`, {}],
    ['a path of escapes', `/v1/${'%2f'.repeat(5000)}`, {}],
    ['a path of slashes', `/v1/${'/'.repeat(LONG)}`, {}],
    ['a path of prefixes of keys', `/v1/${'sk_live_'.repeat(1800)}`, {}],
    ['an Idempotency-Key of 15 KiB', '/v1/pets', { 'Idempotency-Key': 'x'.repeat(LONG) }],
  ])('takes less than a second: %s', async (_name, target, headers) => {
    const given = Object.entries({ Authorization: `Bearer ${store.key}`, Host: 'x', ...headers });
    const lines = given.map(([name, value]) => `${name}: ${value}`).join('\r\n');
    const start = performance.now();
    const { status } = await sendRaw(
      store.url,
      `GET ${target} HTTP/1.1\r\nConnection: close\r\n${lines}\r\n\r\n`,
    );
    expect(status).toBeLessThan(500);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('SQL in a request', () => {
  it('is data for the database, in a name and in an Idempotency-Key', async () => {
    const name = String.raw`\'; DROP TABLE pets; -- $1 ${'${1}'} %s {"a":1} E'\x00' "`;
    const headers = { 'Idempotency-Key': `';DROP-TABLE-pets;--` };
    const init = { method: 'POST', headers, body: { ...PET, name } };
    const { status, json } = await store.send('/v1/pets', init);
    expect([status, json.name]).toEqual([201, name]);
    expect((await store.send(`/v1/pets/${json.id}`)).json.name).toBe(name);
    expect((await store.send('/v1/pets', init)).headers.get('idempotent-replayed')).toBe('true');
  });
});
