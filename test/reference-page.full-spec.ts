import { startApplication, type TestApplication } from './support/application.js';
import { BrowserPage, findBrowser } from './support/browser.js';
import { ApiDocument } from './support/document.js';
import { until } from './support/eventually.js';

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
  async function click(selector: string): Promise<void> {
    await appears(selector);
    await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
  }

  it('shows every operation, and tries one out with a key, against nothing that its policy forbids', async () => {
    const { key } = await store.issue();
    await page.goTo(`${store.url}/docs#/pets/listPets`);
    await click('.authorize');
    await appears('.auth-container input');
    // As a person types it: React hears no other change.
    await page.evaluate(`(() => {
      const input = document.querySelector('.auth-container input');
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, ${JSON.stringify(key)});
      input.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
    await click('.auth-btn-wrapper .authorize');
    await click('.btn-done');
    await click('#operations-pets-listPets .try-out__btn');
    await click('#operations-pets-listPets .execute');
    await appears('#operations-pets-listPets .live-responses-table .response-col_status');

    expect(await shown('#operations-pets-listPets .live-responses-table tbody .response-col_status')).toMatch(
      /^200/,
    );
    expect(await shown('#operations-pets-listPets .request-url')).toContain(`${store.url}/v1/pets`);
    expect(await page.evaluate(`document.querySelectorAll('.opblock').length`)).toBe(
      new ApiDocument(['openapi.json']).operations.length,
    );
    // Its style sheets count: the page is not white, and the buttons are where they belong.
    expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe('rgb(250, 250, 250)');
    expect(page.complaints).toEqual([]);
  });

  it('runs nothing that somebody writes into it', async () => {
    await page.evaluate(`new Promise((resolve) => {
      document.addEventListener('securitypolicyviolation', resolve, { once: true });
      document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="globalThis.ran = true">');
    })`);
    const isForbidden = (code: string) =>
      page.evaluate(`(() => { try { ${code}; return false; } catch (error) { return error.name; } })()`);
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(page.complaints.join()).toContain('Content Security Policy');
    expect(await isForbidden(`new Function('return 1')()`)).toBe('EvalError');
    expect(await page.evaluate(`fetch('https://elsewhere.example/').catch((error) => error.name)`)).toBe(
      'TypeError',
    );
  });
});
