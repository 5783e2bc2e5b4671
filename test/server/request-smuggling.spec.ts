import { once } from 'node:events';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { eventually } from '../support/eventually.js';
import { hold } from '../support/load/holding.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { sendRaw } from '../support/http/raw-http.js';

const PET = '{"name":"Rex","categoryId":7}';
const SMUGGLED = '{"name":"smuggled","categoryId":7}';

let store: TestApplication;
let key: string;
/** A whole request behind the end of another one, which no client has sent as a request. */
let hidden: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue({ plan: 'enterprise', perMinute: 100_000, perDay: 100_000 }));
  hidden = head('POST /v1/pets', `Content-Length: ${SMUGGLED.length}`, 'Connection: close') + SMUGGLED;
});
afterAll(() => store.close());

function head(request: string, ...headers: string[]): string {
  const all = ['Host: x', `Authorization: Bearer ${key}`, 'Content-Type: application/json', ...headers];
  return `${request} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`;
}

const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

async function animals(name: string): Promise<number> {
  const [row] = await store.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM pets WHERE name = $1',
    [name],
  );
  return row?.count ?? -1;
}

/**
 * Expects one well-formed error, after which the server has closed: it reads nothing behind bytes that are ambiguous.
 */
function expectOneError({ status, headers, body }: Awaited<ReturnType<typeof sendRaw>>): void {
  expect([status, headers['connection']]).toEqual([400, 'close']);
  expect(JSON.parse(body)).toEqual({ code: 'invalid_request', message: expect.any(String), status: 400 });
}

describe('a body with an ambiguous end is rejected, and nothing behind it is read:', () => {
  const TE = 'Transfer-Encoding';
  it.each<[string, string[]]>([
    ['a length and chunks', ['Content-Length: 5', `${TE}: chunked`]],
    ['chunks and a length', [`${TE}: chunked`, 'Content-Length: 5']],
    ['two lengths', ['Content-Length: 5', 'Content-Length: 0']],
    ['the same length twice', ['Content-Length: 5', 'Content-Length: 5']],
    ['a coding that is almost chunked', [`${TE}: xchunked`]],
    ['chunked before another coding', [`${TE}: chunked, identity`]],
    ['two codings', [`${TE}: chunked`, `${TE}: identity`]],
    ['the coding identity', [`${TE}: identity`]],
    ['a space before the colon of the coding', [`${TE} : chunked`]],
    ['a coding on a line that is folded', [`${TE}:\r\n chunked`]],
    ['a header line that ends in LF alone', [`X-A: b\nX-B: c`, 'Content-Length: 5']],
    ['a header with a CR within', ['X-A: b\rX-B: c', 'Content-Length: 5']],
  ])('%s', async (_name, headers) => {
    expectOneError(await sendRaw(store.url, head('POST /v1/pets', ...headers), '0\r\n\r\n', hidden));
    expect(await animals('smuggled')).toBe(0);
  });

  it.each([
    ['a size that is too small', `5\r\n${PET}\r\n0\r\n\r\n`],
    ['lines that end in LF alone', `1d\n${PET}\n0\n\n`],
    ['an extension with an LF', `1d;a\nb\r\n${PET}\r\n0\r\n\r\n`],
    ['a length among the trailers', `1d\r\n${PET}\r\n0\r\nContent-Length: 9\r\n\r\n`],
  ])('chunks with %s', async (_name, body) => {
    const before = await animals('Rex');
    expectOneError(await sendRaw(store.url, head('POST /v1/pets', `${TE}: chunked`), body, hidden));
    expect([await animals('Rex'), await animals('smuggled')]).toEqual([before, 0]);
  });

  it('chunks in HTTP/1.0, which does not have them', async () => {
    for (const authorized of [true, false]) {
      const request = head('POST /v1/pets', 'Connection: keep-alive', `${TE}: chunked`)
        .replace('HTTP/1.1', 'HTTP/1.0')
        .replace('Authorization', authorized ? 'Authorization' : 'X-Nothing');
      const { status, headers, body } = await sendRaw(store.url, request, chunked(PET), hidden);
      expect([status, headers['connection']]).toEqual([authorized ? 400 : 401, 'close']);
      expect(JSON.parse(body)).toMatchObject({ status });
      expect(await animals('smuggled')).toBe(0);
    }
  });
});

describe('the host and the credentials of a request are unambiguous:', () => {
  it.each([
    ['two hosts', ['Host: y']],
    ['the same host twice', ['Host: x']],
  ])('%s are rejected', async (_name, headers) => {
    expectOneError(await sendRaw(store.url, head('GET /v1/pets', ...headers), hidden));
    expect(await animals('smuggled')).toBe(0);
  });

  it.each(['a b', 'x, y', 'user@x', ':80'])('an invalid host is rejected: %s', async (host) => {
    const request = head('GET /v1/pets').replace('Host: x', `Host: ${host}`);
    expectOneError(await sendRaw(store.url, request, hidden));
    expect(await animals('smuggled')).toBe(0);
  });

  it.each(['', 'user@x', ':80'])('an invalid host in an absolute target is rejected: "%s"', async (host) => {
    expectOneError(await sendRaw(store.url, head(`GET http://${host}/v1/pets`), hidden));
    expect(await animals('smuggled')).toBe(0);
  });

  it.each(['', 'x:80', '[::1]:3000'])('any other host is accepted: "%s"', async (host) => {
    const request = head('GET /v1/pets', 'Connection: close').replace('Host: x', `Host: ${host}`);
    expect((await sendRaw(store.url, request)).status).toBe(200);
  });

  it('two keys count as no key', async () => {
    const response = await sendRaw(
      store.url,
      head('GET /v1/pets', 'Authorization: Bearer another', 'Connection: close'),
    );
    expect(response.status).toBe(401);
    expect(JSON.parse(response.body)).toMatchObject({ code: 'invalid_api_key' });
  });

  it('two content types count as none', async () => {
    const response = await sendRaw(
      store.url,
      head('POST /v1/pets', 'Content-Type: text/plain', `Content-Length: ${PET.length}`, 'Connection: close'),
      PET,
    );
    expect(response.status).toBe(415);
  });

  it('no header is dropped, however many precede it', async () => {
    const many = Array.from({ length: 3000 }, () => 'a:');
    const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${many.join('\r\n')}\r\nConnection: close\r\n`;
    const response = await sendRaw(store.url, `${request}Authorization: Bearer ${key}\r\n\r\n`);
    expect(response.status).toBe(200);
  });
});

describe('a request has one response:', () => {
  it.each([
    ['GET /livez', 200],
    ['POST /nothing', 404],
  ])(
    'an error in the body of %s gets no second response, since the request has its response before the body',
    async (request, status) => {
      const socket = net.connect(Number(new URL(store.url).port), '127.0.0.1').setEncoding('latin1');
      socket.write(`${request} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
      const [response] = await once(socket, 'data');
      expect(response).toContain(`HTTP/1.1 ${status} `);
      socket.write('no size of a chunk\r\n');
      expect(await text(socket)).toBe('');
    },
  );

  it.each([
    ['in the body of a request', 'POST /v1/pets', 'no size of a chunk\r\n'],
    ['in a body that is not awaited', 'GET /livez', 'no size of a chunk\r\n'],
    ['in a CONNECT request', 'CONNECT 127.0.0.1:5432', ''],
  ])('an error %s is reported after the response to the request before it', async (_name, request, rest) => {
    const holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const wrong = head(request, 'Transfer-Encoding: chunked') + rest;
    const response = sendRaw(store.url, head('GET /v1/pets') + wrong);
    await eventually(() => expectLocksWaitedFor(store.database, 1));
    await holder.letGo();
    const { status, body } = await response;
    expect([status, body.match(/HTTP\/1\.1 \d+/g)]).toEqual([200, ['HTTP/1.1 400']]);
  });

  it('an error behind pipelined requests is reported after their responses', async () => {
    const requests = ['/v1/pets', '/livez'].map((target) => head(`GET ${target}`));
    const { status, body } = await sendRaw(store.url, ...requests, 'nonsense\r\n\r\n');
    expect([status, body.match(/HTTP\/1\.1 \d+/g)]).toEqual([200, ['HTTP/1.1 200', 'HTTP/1.1 400']]);
    expect(body.endsWith('"message":"The request is not valid HTTP/1.1.","status":400}')).toBe(true);
  });
});

describe('valid but rare syntax is read as it is meant:', () => {
  it.each([
    ['a chunk extension', `1d;a=b\r\n${PET}\r\n0\r\n\r\n`],
    ['a trailer, which is ignored', `1d\r\n${PET}\r\n0\r\nX-A: b\r\nAuthorization: Bearer x\r\n\r\n`],
  ])('%s', async (_name, body) => {
    const request = head('POST /v1/pets', 'Transfer-Encoding: chunked', 'Connection: close');
    expect((await sendRaw(store.url, request, body)).status).toBe(201);
  });

  it('a key in a trailer counts as no key', async () => {
    const request = head('POST /v1/pets', 'Transfer-Encoding: chunked', 'Connection: close');
    const anonymous = request.replace(/Authorization.*\r\n/, '');
    const trailer = `1d\r\n${PET}\r\n0\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    expect((await sendRaw(store.url, anonymous, trailer)).status).toBe(401);
  });

  it.each(['h2c', 'websocket', 'TLS/1.0'])('an upgrade to %s is ignored: no 101', async (protocol) => {
    const response = await sendRaw(
      store.url,
      head(
        'GET /v1/pets',
        'Connection: Upgrade, HTTP2-Settings, close',
        `Upgrade: ${protocol}`,
        'HTTP2-Settings: AAMAAABk',
      ),
    );
    expect([response.status, response.headers['upgrade']]).toEqual([200, undefined]);
  });

  it('nothing is read behind an upgrade, since a part of it could look like a request', async () => {
    const upgrade = head('GET /v1/pets', 'Connection: Upgrade', 'Upgrade: websocket');
    const { status, headers, body } = await sendRaw(store.url, upgrade, hidden);
    expect([status, headers['connection']]).toEqual([200, 'close']);
    expect(body).not.toContain('HTTP/1.1');
    expect(await animals('smuggled')).toBe(0);
  });

  it('CONNECT opens no tunnel', async () => {
    expectOneError(await sendRaw(store.url, head('CONNECT 127.0.0.1:5432'), hidden));
    expect(await animals('smuggled')).toBe(0);
  });

  it('a client that sends CONNECT and disconnects disturbs no other', async () => {
    const { hostname, port } = new URL(store.url);
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const socket = net.connect(Number(port), hostname);
      socket.write(head('CONNECT 127.0.0.1:5432'), () => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    expect((await fetch(`${store.url}/livez`)).status).toBe(200);
  });

  it('TRACE returns nothing of what was sent', async () => {
    const { status, body } = await sendRaw(
      store.url,
      head('TRACE /v1/pets', 'Cookie: a=secret', 'Connection: close'),
    );
    expect(status).toBe(405);
    expect(body).not.toContain('secret');
    expect(body).not.toContain(key);
  });

  it('the body of a pipelined request is read as it was sent, whole or in chunks of one byte', async () => {
    const bytes = Buffer.from('{"name":"Zoë 🐶","categoryId":7}');
    const chunks = Array.from(bytes, (byte) => Buffer.from([...Buffer.from('1\r\n'), byte, 13, 10]));
    const { body } = await sendRaw(
      store.url,
      head('GET /v1/pets?limit=1'),
      head('POST /v1/pets', `Content-Length: ${bytes.length}`),
      bytes,
      head('POST /v1/pets', 'Transfer-Encoding: chunked', 'Connection: close'),
      ...chunks,
      '0\r\n\r\n',
    );
    expect(body.match(/"name":"Zoë 🐶"/g)).toHaveLength(2);
  });
});

describe('a path is not normalized, so that proxies and the service agree on it:', () => {
  it.each([
    '//v1/pets',
    '/./v1/pets',
    '/x/../v1/pets',
    '/docs/../v1/pets',
    '/docs/../admin/keys',
    '/%2fv1/pets',
    '/v1%2fpets',
    '//admin/keys',
    '/admin%2fkeys',
    '/admin;/keys',
    '/ADMIN/keys',
    '/%2e%2e/admin/keys',
    '\\v1\\pets',
  ])('%s is 404', async (target) => {
    const response = await sendRaw(store.url, head(`GET ${target}`, 'Connection: close'));
    // A target cannot begin with a backslash.
    expect(response.status).toBe(target.startsWith('/') ? 404 : 400);
  });

  it.each(['/v1//pets', '/v1/./pets', '/v1/../pets', '/v1/../admin/keys', '/v1/pets;a=b', '/v1/pets%00'])(
    '%s is part of the interface: 404 with a key, and 401 without one',
    async (target) => {
      const request = head(`GET ${target}`, 'Connection: close');
      expect((await sendRaw(store.url, request)).status).toBe(404);
      expect((await sendRaw(store.url, request.replace(/Authorization.*\r\n/, ''))).status).toBe(401);
    },
  );

  it.each(['/v1/pets\0', '/v1/pets\x9b31m', '/v1/p\xe4ts', '/v1/pets\x7f'])(
    '%j is not a valid target',
    async (target) => {
      expectOneError(await sendRaw(store.url, head(`GET ${target}`), hidden));
    },
  );
});
