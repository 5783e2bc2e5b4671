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
  async function click(selector: string): Promise<void> {
    await appears(selector);
    await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
  }

  it('shows every operation, and sends a trial request with a key, without violating its policy', async () => {
    const { key } = await store.issue();
    await page.goTo(`${store.url}/docs#/pets/listPets`);
    await click('.authorize');
    await appears('.auth-container input');
    // React ignores a value that is set without an input event.
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
    // The style sheets are loaded: the page is not white, and the buttons are in their positions.
    expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe('rgba(0, 0, 0, 0)');
    expect(await page.evaluate(`getComputedStyle(document.documentElement).backgroundColor`)).toBe(
      'rgb(250, 250, 250)',
    );
    expect(page.complaints).toEqual([]);
  });

  it('keeps the key for the tab only, on both pages', async () => {
    const kept = () => page.evaluate(`[sessionStorage.length, localStorage.length]`);
    const isAuthorized = () => appears('.authorize.locked');
    expect(await kept()).toEqual([1, 0]);
    for (const path of ['/docs', '/docs/admin']) {
      await page.goTo(`${store.url}${path}`);
      await isAuthorized();
    }
    await click('.authorize');
    await click('.auth-btn-wrapper button:not(.btn-done)');
    await page.goTo(`${store.url}/docs`);
    await appears('.authorize.unlocked');
    expect(page.complaints).toEqual([]);
  });

  it('shows administration, and links to both documents', async () => {
    await page.goTo(`${store.url}/docs/admin`);
    await appears('#operations-keys-issueKey');
    expect(await page.evaluate(`document.querySelectorAll('.opblock').length`)).toBe(
      new ApiDocument(['admin-openapi.json']).operations.length,
    );
    expect(await shown('.documents [href="/openapi.json"]')).toBe('openapi.json');
    expect(await shown('.documents [href="/admin-openapi.json"]')).toBe('admin-openapi.json');
  });

  it('shows which operations are deprecated or not stable', async () => {
    await page.goTo(`${store.url}/docs`);
    await appears('#operations-store-createOrder .badge');
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.badge')].map((badge) => [badge.closest('.opblock').id, badge.textContent])`,
      ),
    ).toEqual([
      ['operations-pets-getPet', 'deprecated, removed on 2030-12-05'],
      ['operations-store-listOrders', 'beta'],
      ['operations-store-createOrder', 'experimental'],
      ['operations-account-getOwnKey', 'beta'],
      ['operations-account-listOwnUsage', 'beta'],
      ['operations-account-listOwnDeprecatedCalls', 'beta'],
    ]);
  });

  it('explains a deprecation in the section that its Link header leads to', async () => {
    await page.goTo(`${store.url}/docs?deprecation#/pets/getPet`);
    const description = '#operations-pets-getPet .opblock-description';
    await appears(description);
    expect(await shown(description)).toContain(
      'Removed on 5 December 2030. Use GET /pets with the filter status instead.',
    );
  });

  it('filters operations by the words of their method, path, summary and name', async () => {
    await page.evaluate(`(() => {
      const input = document.querySelector('.operation-filter-input');
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, 'POST order');
      input.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
    const operations = () =>
      page.evaluate(`[...document.querySelectorAll('.opblock')].map(({ id }) => id).join()`);
    await until(async () => (await operations()) === 'operations-store-createOrder');
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ])('follows the colour scheme, and fits the screen: %s, %i pixels', async (scheme, width) => {
    await page.emulate({ width, scheme });
    await page.goTo(`${store.url}/docs?${scheme}${width}#/pets/getPet`);
    await appears('#operations-pets-getPet .responses-table');
    expect(await page.evaluate(`document.documentElement.classList.contains('dark-mode')`)).toBe(
      scheme === 'dark',
    );
    expect(
      await page.evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`),
    ).toBe(0);
    expect(page.complaints).toEqual([]);
  });

  it('runs no injected script', async () => {
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
