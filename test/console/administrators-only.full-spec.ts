import type { IssuedKey } from '../../src/admin/key.schemas.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { accessibilityFaults, ConsoleBrowser, scrollsSideways } from '../support/browser/console.js';

let store: TestApplication;
let browser: ConsoleBrowser;
let admin: IssuedKey;
let client: IssuedKey;

beforeAll(async () => {
  store = await startApplication();
  browser = await ConsoleBrowser.start(store.url);
  admin = await store.issue({ plan: 'business', role: 'admin' });
  client = await store.issue({ plan: 'pro' });
});
afterAll(async () => {
  await browser.close();
  await store.close();
});

describe('a page of the console that cannot be shown', () => {
  it.each([
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const)('is accessible where there is none at the address (%s, %s)', async (scheme, width) => {
    const options = { apiKey: client.key, scheme, width };
    const { page, complaints } = await browser.open('/no-such-page', options);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    expect(complaints).toEqual([]);
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it.each([
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const)(
    'is accessible where its code does not load, and loads again (%s, %s)',
    async (scheme, width) => {
      const code = '**/assets/animals.page-*.js';
      const { page } = await browser.open('/animals', {
        apiKey: client.key,
        scheme,
        width,
        prepare: (each) => each.route(code, (route) => route.abort()),
      });
      await page.getByRole('heading', { name: 'This page failed' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
      await page.unroute(code);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'Animals', level: 1 }).waitFor();
    },
  );
});

describe('the pages of administration of the console', () => {
  it.each(['/admin', '/admin/keys', '/admin/plans', '/admin/audit'])(
    'shows "There is no such page" to a client at %s',
    async (path) => {
      const { page } = await browser.open(path, { apiKey: client.key });
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    },
  );

  it('says once that the signed-in key could not be read, and reads it again only on a retry', async () => {
    const { page } = await browser.open('/admin', { apiKey: admin.key });
    await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
    let requests = 0;
    await page.route('**/v1/key', async (route) => {
      requests += 1;
      await route.abort();
    });
    await page.reload();
    await page.getByText('This could not be loaded').waitFor();
    await page.waitForTimeout(2000);
    expect(requests).toBeLessThanOrEqual(2);
    expect(await page.getByText('This could not be loaded').count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.unroute('**/v1/key');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
  });
});
