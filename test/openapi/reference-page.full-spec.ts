import { startApplication, type TestApplication } from '../support/service/application.js';
import { BrowserPage, findBrowser } from '../support/browser/browser.js';
import { ApiDocument } from '../support/http/document.js';
import { until } from '../support/eventually.js';

const program = findBrowser();
const describeInBrowser = program === undefined ? describe.skip : describe;

describeInBrowser('the reference page, in a browser', () => {
  let store: TestApplication;
  let page: BrowserPage;

  beforeAll(async () => {
    store = await startApplication();
    page = await BrowserPage.open(program ?? '');
  });
  afterAll(async () => {
    await page.close();
    await store.close();
  });

  const shown = (selector: string) =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent`);
  const appears = (selector: string) => until(async () => typeof (await shown(selector)) === 'string');
  const operations = () => page.evaluate(`document.querySelectorAll('.opblock').length`);

  it('shows every operation of both documents, to read and not to try, without violating its policy', async () => {
    for (const [search, file, operation] of [
      ['', 'openapi.json', 'pets-listPets'],
      ['?urls.primaryName=Administration', 'admin-openapi.json', 'keys-issueKey'],
    ] as const) {
      await page.goTo(`${store.url}/docs${search}`);
      await appears(`#operations-${operation}`);
      expect(await operations()).toBe(new ApiDocument([file]).operations.length);
      expect(await shown('.try-out__btn')).toBeUndefined();
    }
    // The style sheet is loaded.
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.opblock')).borderRadius`)).toBe(
      '4px',
    );
    expect(page.complaints).toEqual([]);
  });

  it('explains a deprecation in the section that its Link header leads to', async () => {
    await page.goTo(`${store.url}/docs#/pets/getPet`);
    const description = '#operations-pets-getPet .opblock-description';
    await appears(description);
    expect(await shown(description)).toContain(
      'Removed on 5 December 2030. Use GET /pets with the filter status instead.',
    );
    expect(await shown('#operations-pets-getPet.opblock-deprecated')).toBeDefined();
  });

  it('runs no injected script', async () => {
    await page.evaluate(`new Promise((resolve) => {
      document.addEventListener('securitypolicyviolation', resolve, { once: true });
      document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="globalThis.ran = true">');
    })`);
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(page.complaints.join()).toContain('Content Security Policy');
  });
});
