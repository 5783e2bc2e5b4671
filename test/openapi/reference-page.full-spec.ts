import { startApplication, type TestApplication } from '../support/service/application.js';
import { ConsoleBrowser, findBrowser } from '../support/browser/console.js';
import { ApiDocument } from '../support/http/document.js';
import { until } from '../support/eventually.js';

(findBrowser() === undefined ? describe.skip : describe)('the reference page, in a browser', () => {
  let store: TestApplication;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    store = await startApplication();
    browser = await ConsoleBrowser.start(store.url);
  });
  afterAll(async () => {
    await browser.close();
    await store.close();
  });

  const open = (address: string) => browser.open(address, { folder: '/docs' });

  it.each([
    ['', 'openapi.json', 'pets-listPets'],
    ['?urls.primaryName=Administration', 'admin-openapi.json', 'keys-issueKey'],
  ])(
    'shows every operation of a document, to read and not to try, without violating its policy (%s)',
    async (search, file, operation) => {
      const { page, complaints } = await open(search);
      await page.locator(`#operations-${operation}`).waitFor();
      expect(await page.locator('.opblock').count()).toBe(new ApiDocument([file]).operations.length);
      expect(await page.locator('.try-out__btn').count()).toBe(0);
      // The style sheet is loaded.
      expect(await page.evaluate("getComputedStyle(document.querySelector('.opblock')).borderRadius")).toBe(
        '4px',
      );
      expect(complaints).toStrictEqual([]);
    },
  );

  it('explains a deprecation in the section that its Link header leads to', async () => {
    const { page } = await open('#/pets/getPet');
    const description = page.locator('#operations-pets-getPet.opblock-deprecated .opblock-description');
    expect(await description.textContent()).toContain(
      'Removed on 5 December 2030. Use GET /pets with the filter status instead.',
    );
  });

  it('runs no injected script', async () => {
    const { page, complaints } = await open('');
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="globalThis.ran = true">')`,
    );
    await until(() => complaints.join().includes('Content Security Policy'));
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
  });
});
