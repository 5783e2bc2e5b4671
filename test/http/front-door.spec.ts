import { startApplication, type TestApplication } from '../support/service/application.js';
import { expectError } from '../support/http/expectations.js';
import { send } from '../support/http/http.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('GET /', () => {
  let store: TestApplication;

  beforeAll(async () => {
    store = await startApplication();
  });
  afterAll(() => store.close());

  const requestRoot = (Accept: string, method = 'GET') =>
    send(`${store.url}/`, { method, headers: { Accept }, redirect: 'manual' });

  it('redirects a browser to the reference page', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await requestRoot(BROWSER, method);
      expect([method, status, headers.get('location')]).toEqual([method, 302, '/docs']);
      expect(headers.get('vary')).toContain('Accept');
    }
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
