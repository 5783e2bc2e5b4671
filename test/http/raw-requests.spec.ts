import { shareApplication } from '../support/service/application.js';
import { head, sendRaw } from '../support/http/raw-http.js';

const PET = '{"name":"Rex","categoryId":7}';
const CHUNKED = `1d\r\n${PET}\r\n0\r\n\r\n`;

const store = shareApplication();

/** Sends a request as it is, and returns the status of each response. */
async function readStatuses(firstLine: string, headers: string[], body = ''): Promise<number[]> {
  const all = [
    ...headers,
    `Authorization: Bearer ${store.key}`,
    'Content-Type: application/json',
    'Connection: close',
  ];
  const raw = await sendRaw(store.url, `${firstLine}\r\n${all.join('\r\n')}\r\n\r\n${body}`);
  const next = [...raw.body.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  return [raw.status, ...next];
}

describe('a request whose end a proxy could read differently', () => {
  it.each([
    ['a length and chunks', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 29', 'Content-Length: 5']],
    ['the same length twice', ['Content-Length: 29', 'Content-Length: 29']],
    ['a list of lengths', ['Content-Length: 3, 3']],
    ['chunks twice', ['Transfer-Encoding: chunked, chunked']],
    ['chunks with another coding', ['Transfer-Encoding: gzip, chunked']],
    ['a space before a colon', ['Content-Length : 29']],
    ['lines that end in LF alone', ['X-A: b\nContent-Length: 29']],
  ])('gets one response: %s', async (_name, headers) => {
    const body = headers.some((header) => header.includes('chunked')) ? CHUNKED : PET;
    const [status, ...others] = await readStatuses('POST /v1/pets HTTP/1.1', ['Host: x', ...headers], body);
    expect([201, 400]).toContain(status);
    expect(others).toStrictEqual([]);
  });

  it.each([
    ['no host', '/v1/pets HTTP/1.1', []],
    ['no host, in HTTP/1.0', '/v1/pets HTTP/1.0', []],
    ['two hosts', '/v1/pets HTTP/1.1', ['Host: x', 'Host: y']],
    ['a target of another host', 'http://elsewhere.example/v1/pets HTTP/1.1', ['Host: x']],
    ['an upgrade', '/v1/pets HTTP/1.1', ['Host: x', 'Upgrade: h2c']],
    ['an unknown expectation, as there is no 417', '/v1/pets HTTP/1.1', ['Host: x', 'Expect: wonders']],
  ])('gets one response: %s', async (_name, target, headers) => {
    expect(await readStatuses(`GET ${target}`, headers)).toEqual([200]);
  });
});

describe('CONNECT', () => {
  it('gets 405, after the responses to the requests before it', async () => {
    const get = head('GET /v1/pets', `Authorization: Bearer ${store.key}`);
    const connect = 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n';
    const { status, headers, body } = await sendRaw(store.url, connect);
    expect([status, headers['connection']]).toEqual([405, 'close']);
    expect(headers['allow']).toBe('GET, HEAD, POST, PUT, PATCH, DELETE');
    expect(JSON.parse(body)).toEqual({
      code: 'method_not_allowed',
      message: 'This server is no proxy, so it does not allow CONNECT.',
      status: 405,
    });
    const both = await sendRaw(store.url, get, connect);
    expect([both.status, both.body]).toEqual([200, expect.stringMatching(/^\[.*\]HTTP\/1\.1 405 /)]);
  });
});

describe('an error behind a response', () => {
  it.each(['GET /livez', 'POST /nothing'])('adds no second response to %s', async (request) => {
    const [, ...others] = await readStatuses(
      `${request} HTTP/1.1`,
      ['Host: x', 'Transfer-Encoding: chunked'],
      'no chunk\r\n',
    );
    expect(others).toStrictEqual([]);
  });
});
