import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { useApplication } from '../support/service/application.js';
import { expectError, expectNoRateLimitHeaders } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';
import { sendRaw, toHttpResponse } from '../support/http/raw-http.js';

const PER_MINUTE = 600;
const DOCUMENTS = ['/openapi.json', '/admin-openapi.json', '/docs', '/docs/swagger-ui-bundle.js'];
const SMALL = '/docs/main.js';

const store = useApplication({ environment: { TRUST_PROXY: 1 } });

const from = (address: string, path: string) =>
  send(`${store.url}${path}`, { headers: { 'X-Forwarded-For': address } });

describe.each(DOCUMENTS)('GET %s', (path) => {
  const accepting = async (coding?: string) => {
    const call = get(`${store.url}${path}`, {
      headers: coding === undefined ? {} : { 'Accept-Encoding': coding },
    });
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
  };

  it('returns the same document in each content coding, with an ETag of its own', async () => {
    const plain = await accepting();
    const gzipped = await accepting('gzip');
    const brotli = await accepting('br, gzip');
    const responses = [plain, gzipped, brotli];
    for (const response of responses) {
      expect(response.status).toBe(200);
      expect(response.headers).toMatchObject({
        vary: 'Accept-Encoding',
        'content-length': String(response.body.length),
        'content-type': plain.headers['content-type'],
      });
    }
    const codings = responses.map(({ headers }) => headers['content-encoding']);
    expect(codings).toEqual([undefined, 'gzip', 'br']);
    expect(gunzipSync(gzipped.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    expect(new Set(responses.map(({ headers }) => headers['etag'])).size).toBe(3);
  });

  it.each(['', 'identity', 'zstd', 'gzip;q=0, br;q=0', 'br;q=0, gzip;q=0.0, *', 'gzip;q=0.1, identity'])(
    'returns the document without a coding when the client accepts %j',
    async (coding) => {
      const response = await accepting(coding);
      expect(response.status).toBe(200);
      expect(response.headers).not.toHaveProperty('content-encoding');
    },
  );

  it('returns 304 to a client that has the document in the coding that it accepts', async () => {
    const url = `${store.url}${path}`;
    const etag = (await send(url, { headers: { 'Accept-Encoding': 'br' } })).headers.get('etag') ?? '';
    const same = await send(url, { headers: { 'Accept-Encoding': 'br', 'If-None-Match': etag } });
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', etag]);
    const other = await send(url, { headers: { 'Accept-Encoding': 'gzip', 'If-None-Match': etag } });
    expect(other.status).toBe(200);
  });
});

describe('documents', () => {
  it('return 429 with Retry-After to an address over 600 requests a minute, until the next', async () => {
    store.clock.travelToMinuteStart();
    for (let sent = 0; sent < PER_MINUTE; sent += 1) {
      const headers = { 'X-Forwarded-For': '203.0.113.7' };
      // Without a connection, which takes longer than the rest of so many requests.
      const { statusCode } = await store.app.inject({ path: DOCUMENTS[sent] ?? SMALL, headers });
      expect(statusCode).toBe(200);
    }
    const denied = await from('203.0.113.7', '/openapi.json');
    const retryAfter = denied.headers.get('retry-after');
    const message =
      'Rate limit exceeded: an address may send 600 requests per minute for documents. ' +
      `Wait ${retryAfter} seconds before the next request.`;
    expectError(denied, 429, 'rate_limit_exceeded', message);
    expect(retryAfter).toMatch(/^([1-5]\d|60)$/);
    expectNoRateLimitHeaders(denied);
    expect((await from('203.0.113.7', '/livez')).status).toBe(200);
    expect((await from('203.0.113.8', '/docs')).status).toBe(200);
    store.clock.travelToMinuteStart();
    expect((await from('203.0.113.7', '/docs')).status).toBe(200);
  });

  it('do not count against the requests that an address may send without a key', async () => {
    const remaining = async (path: string) =>
      (await from('203.0.113.9', path)).headers.get('x-ratelimit-remaining');
    expect(await remaining('/v1/pets')).toBe('299');
    expect(await remaining('/docs')).toBeNull();
    expect(await remaining('/v1/pets')).toBe('298');
  });
});

describe('the reference page', () => {
  it.each(['/docs', '/docs/'])(
    '%s is served without a key, runs only its own files, no inline script, and calls only this service',
    async (address) => {
      const { status, headers, text } = await send(store.url + address);
      expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
      expect(headers.get('content-security-policy')?.split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(text).not.toMatch(
        /<style|<script(?!( type="module")? src="(docs|\.)\/[\w.-]+"><\/script>)| style=| on\w+=|https?:/,
      );
      const files = Array.from(text.matchAll(/(?:src|href)="([^"#]+)"/g), ([, file]) => String(file));
      expect(files.length).toBeGreaterThan(0);
      for (const file of files) {
        const { href } = new URL(file, store.url + address);
        expect([file, (await send(href)).status]).toEqual([file, 200]);
      }
    },
  );

  it.each([
    '/docs-json',
    '/docs/package.json',
    '/docs/index.html',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%5cpackage.json',
    '/docs//etc/passwd',
    '/docs/swagger-ui.css%00.js',
  ])('serves no other file: %s', async (target) => {
    const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    expectError(toHttpResponse(await sendRaw(store.url, request)), 404, 'not_found');
  });

  it.each(['/docs', '/openapi.json', '/admin-openapi.json'])('%s allows only GET and HEAD', async (path) => {
    expect((await send(`${store.url}${path}`, { method: 'HEAD' })).status).toBe(200);
    const denied = await send(`${store.url}${path}`, { method: 'POST' });
    expect([denied.status, denied.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('GET /', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const requestRoot = (Accept: string, method = 'GET') =>
    send(`${store.url}/`, { method, headers: { Accept }, redirect: 'manual' });

  it.each(['GET', 'HEAD'])('redirects a browser to the reference page: %s', async (method) => {
    const { status, headers } = await requestRoot(BROWSER, method);
    expect([status, headers.get('location')]).toEqual([302, '/docs']);
    expect(headers.get('vary')).toContain('Accept');
  });

  it.each(['*/*', 'application/json', 'text/html;q=0, */*'])(
    'returns 404 to a client that accepts %s',
    async (accept) => {
      const response = await requestRoot(accept);
      expectError(response, 404, 'not_found');
      expect(response.headers.get('vary')).toContain('Accept');
    },
  );

  it('returns 404 for another method, even to a browser', async () => {
    expectError(await requestRoot(BROWSER, 'POST'), 404, 'not_found');
  });
});
