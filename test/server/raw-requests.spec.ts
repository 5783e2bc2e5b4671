import { startApplication, type TestApplication } from '../support/service/application.js';
import { sendRaw } from '../support/http/raw-http.js';

const PET = '{"name":"Rex","categoryId":7}';
const CHUNKED = `1d\r\n${PET}\r\n0\r\n\r\n`;

let store: TestApplication;
let key: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue({ plan: 'enterprise', perMinute: 100_000, perDay: 100_000 }));
});
afterAll(() => store.close());

/** Sends a request as it is, and returns the status of each response. */
async function statusesOf(firstLine: string, headers: string[], body = ''): Promise<number[]> {
  const all = [
    ...headers,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Connection: close',
  ];
  const raw = await sendRaw(store.url, `${firstLine} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`);
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
    const [status, ...others] = await statusesOf('POST /v1/pets', ['Host: x', ...headers], body);
    expect([201, 400]).toContain(status);
    expect(others).toEqual([]);
  });

  it.each([
    ['no host', '/v1/pets', []],
    ['two hosts', '/v1/pets', ['Host: x', 'Host: y']],
    ['a target of another host', 'http://elsewhere.example/v1/pets', ['Host: x']],
    ['an upgrade', '/v1/pets', ['Host: x', 'Upgrade: h2c']],
  ])('gets one response: %s', async (_name, target, headers) => {
    expect(await statusesOf(`GET ${target}`, headers)).toEqual([200]);
  });
});

describe('an error behind a response', () => {
  it.each(['GET /livez', 'POST /nothing'])('adds no second response to %s', async (line) => {
    const [, ...others] = await statusesOf(line, ['Host: x', 'Transfer-Encoding: chunked'], 'no chunk\r\n');
    expect(others).toEqual([]);
  });
});
