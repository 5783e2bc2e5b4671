import { useApplication } from '../support/service/application.js';
import { expectError } from '../support/http/expectations.js';
import { type HttpResponse, send } from '../support/http/http.js';

const store = useApplication();

const page = (path = '/console', headers = {}) => send(`${store.url}${path}`, { headers });
const readPolicy = ({ headers }: HttpResponse) => headers.get('content-security-policy') ?? '';
const readNonce = (response: HttpResponse) => /'nonce-([^']+)'/.exec(readPolicy(response))?.[1];
const SCRIPT = '/console/assets/console.js';
const FONT = '/console/assets/inter-latin-wght-normal.woff2';

describe('GET /console', () => {
  it('returns the page with a nonce of its own for each response, which no cache stores', async () => {
    const [first, second] = [await page(), await page()];
    for (const response of [first, second]) {
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.text).toContain(`nonce="${readNonce(response)}"`);
      expect(response.text).not.toContain('%NONCE%');
    }
    expect(readNonce(first)).not.toBe(readNonce(second));
  });

  it('has a content security policy that allows nothing inline and no other origin', async () => {
    const response = await page();
    const policy = readPolicy(response);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
    expect(policy).not.toMatch(/unsafe|http|\*/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each(['/console/', '/console/animals', '/console/admin/keys/some-id'])(
    'returns the page at %s too, because the page itself finds what to show',
    async (path) => {
      expect(await page(path)).toMatchObject({
        status: 200,
        text: expect.stringContaining('<div id="root">'),
      });
    },
  );

  it.each(['/console', '/console/', '/console/admin/keys/'])(
    'names only files of the service: %s',
    async (path) => {
      const { text } = await page(path);
      const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(
        ([, link]) => new URL(String(link), store.url + path),
      );
      expect(links.length).toBeGreaterThan(2);
      for (const { href } of links) {
        expect(href.startsWith(`${store.url}/`)).toBe(true);
        expect([href, (await send(href)).status]).toEqual([href, 200]);
      }
    },
  );
});

describe('the files of the console', () => {
  const file = async (coding: string) => send(store.url + SCRIPT, { headers: { 'Accept-Encoding': coding } });

  it('have the names of every release, because replicas of two may serve one page', async () => {
    const { text } = await page();
    const names = [...text.matchAll(/(?:src|href)="\.(\/console\/[^"]+)"/g)].map(([, name]) => name);
    expect(names).toEqual(['/console/assets/icon.svg', SCRIPT, FONT]);
    const { text: code } = await file('identity');
    // Neither code nor styles are loaded later, when another release may respond.
    expect(code).not.toMatch(/import\(|\.css["'`]/);
  });

  it('are revalidated, so that a reader has the script of the release that serves', async () => {
    const { status, headers } = await file('br');
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/javascript; charset=utf-8',
      'cache-control': 'public, max-age=0',
      vary: 'Accept-Encoding',
    });
    const known = headers.get('etag') ?? '';
    const again = await page(SCRIPT, { 'Accept-Encoding': 'br', 'If-None-Match': known });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('are kept for a week if they are fonts or icons, which hardly differ between releases', async () => {
    for (const path of [FONT, '/console/assets/icon.svg']) {
      const { status, headers } = await page(path);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=604800']);
    }
  });

  it('are compressed for clients that accept it, in any case, and unchanged for others', async () => {
    const [plain, compressed] = [await file('identity'), await file('BR')];
    expect(plain.headers.has('content-encoding')).toBe(false);
    expect(compressed.headers.get('content-encoding')).toBe('br');
    expect(compressed.text === plain.text).toBe(true);
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(plain.text.length / 2);
  });

  it.each(['/console/assets', '/console/assets/', '/console/assets/index-unknown.js'])(
    'are no page, so %s returns 404',
    async (path) => {
      expectError(await page(path), 404, 'not_found');
    },
  );
});

describe('a page of the console', () => {
  it.each(['/console', '/console/', '/console/animals'])(
    'returns 405 with Allow to POST at %s',
    async (path) => {
      const response = await send(store.url + path, { method: 'POST' });
      expectError(response, 405, 'method_not_allowed');
      expect(response.headers.get('allow')).toBe('GET, HEAD');
    },
  );
});
