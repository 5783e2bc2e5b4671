import { startApplication, type TestApplication } from '../support/service/application.js';
import { send } from '../support/http/http.js';
import { accessibilityFaults, ConsoleBrowser, scrollsSideways } from '../support/browser/console.js';

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

describe('the sign-in page of the console', () => {
  it.each([
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const)('is accessible and fits the screen (%s, %s)', async (scheme, width) => {
    const { page, complaints, origins } = await browser.open('', { scheme, width });
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([store.url]);
  });

  it('loads less than 250 kB at first, compressed, and no chart before it is needed', async () => {
    const { page } = await browser.open('');
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    const sizes: { name: string; bytes: number }[] = await page.evaluate(
      `document.fonts.ready.then(() => performance.getEntries()
        .filter(({ entryType }) => entryType === 'navigation' || entryType === 'resource')
        .map(({ name, encodedBodySize }) => ({ name, bytes: encodedBodySize })))`,
    );
    expect(sizes.length).toBeGreaterThan(4);
    expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(250_000);
    expect(sizes.filter(({ name }) => name.includes('chart'))).toEqual([]);
  });

  it('explains why a key is not accepted, and keeps the reader on the page', async () => {
    const { page } = await browser.open('');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Enter an API key').waitFor();
    await page.getByLabel('API key').fill('ask_test_no-such-key');
    await page.getByLabel('API key').press('Enter');
    await page.getByText('This key is not valid here.').waitFor();
  });

  it('announces what is wrong beside the field, which keeps the focus', async () => {
    const { page } = await browser.open('');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Enter an API key').waitFor();
    await page.locator('input:focus').fill('ask_test_no-such-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('This key is not valid here.').waitFor();
    await page.locator('input:focus').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('counts down to the next attempt after too many', async () => {
    const { key } = await store.issue();
    const { page } = await browser.open('');
    await page.route('**/v1/rate-limit', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '3' },
        contentType: 'application/json',
        body: JSON.stringify({ code: 'rate_limit_exceeded', message: 'Too many requests.' }),
      }),
    );
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('You can send it again in').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByText('You can send it again now.').waitFor();
    await page.unroute('**/v1/rate-limit');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('keeps the key in the tab only, and forgets it on signing out', async () => {
    const { key } = await store.issue();
    const { page } = await browser.open('', { apiKey: key });
    expect(page.url()).toBe(`${store.url}/console`);
    expect(await page.evaluate('JSON.stringify({ ...localStorage }) + document.cookie')).not.toContain(key);
    const other = await page.context().newPage();
    await other.goto(`${store.url}/console`);
    await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(key);
  });

  it('offers the colours as one choice, and keeps it', async () => {
    const { key } = await store.issue();
    const { page, complaints } = await browser.open('', { apiKey: key });
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'As the system', checked: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark', checked: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('signs out a key that has been revoked meanwhile, and says so', async () => {
    const { key, id } = await store.issue();
    const { page } = await browser.open('', { apiKey: key });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await store.database.query(`UPDATE api_keys SET revoked_at = now() WHERE id = '${id}'`);
    await page.getByText(/is no longer valid/).waitFor();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  });
});

describe('the files of the console', () => {
  it('are few enough for the first visits of 30 people behind one address within a minute', async () => {
    const { key } = await store.issue();
    const files = new Set<string>();
    const { page } = await browser.open('', {
      apiKey: key,
      prepare: async (each) => each.on('request', (request) => files.add(request.url())),
    });
    await page.getByRole('figure').waitFor();
    const paths = [...files].filter((url) => url.startsWith(`${store.url}/console`));
    expect(paths.length).toBeGreaterThan(6);
    store.clock.travelToMinuteStart();
    for (let person = 0; person < 30; person += 1) {
      const responses = await Promise.all(paths.map((path) => send(path)));
      expect(responses.every(({ status }) => status === 200)).toBe(true);
    }
    // As much is left for the pages that they open next.
    expect(30 * paths.length).toBeLessThan(300);
  });
});
