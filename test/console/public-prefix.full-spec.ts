import type { Page } from 'playwright-core';
import { ConsoleBrowser, findBrowser } from '../support/programs/browser.js';
import { type PrefixProxy, startPrefixProxy } from '../support/programs/prefix-proxy.js';
import { startApplication, type TestApplication } from '../support/service/application.js';

const PREFIX = '/shop';

let store: TestApplication;
let proxy: PrefixProxy;
let browser: ConsoleBrowser;
let adminKey: string;

(findBrowser() === undefined ? describe.skip : describe)('behind a proxy that removes a prefix', () => {
  beforeAll(async () => {
    store = await startApplication({ environment: { STAGING_URL: `https://x.example${PREFIX}/v1` } });
    proxy = await startPrefixProxy(PREFIX, store.url);
    browser = await ConsoleBrowser.start(new URL(proxy.url).origin);
    ({ key: adminKey } = await store.issue({ role: 'admin', plan: 'business', name: 'Ann' }));
  });
  afterAll(async () => {
    await browser.close();
    proxy.stop();
    await store.close();
  });
  afterEach(async () => {
    expect(await browser.closePages()).toStrictEqual([]);
    expect(proxy.errors.splice(0)).toStrictEqual([]);
  });

  const open = async (path: string, apiKey?: string): Promise<Page> => {
    const url = path.startsWith(PREFIX) ? new URL(proxy.url).origin : store.url;
    return (await browser.open(path, { folder: '' as '/console', url, apiKey })).page;
  };
  const heading = (page: Page, name: string | RegExp) =>
    page.getByRole('heading', { name }).first().waitFor();

  it.each([PREFIX, ''])('the console works from each of its pages: %s/console', async (prefix) => {
    for (const path of ['/console', '/console/', '/console/admin/keys/']) {
      const page = await open(prefix + path, adminKey);
      await page.getByRole('link', { name: 'Plans' }).click();
      await heading(page, 'Plans');
      await page.getByRole('link', { name: 'enterprise' }).first().waitFor();
      expect(new URL(page.url()).pathname).toBe(`${prefix}/console/admin/plans`);
      await page.reload();
      await heading(page, 'Plans');
    }
  });

  it.each([PREFIX, ''])(
    'the menu leads to the reference, which has the same key: %s/console',
    async (prefix) => {
      const page = await open(`${prefix}/console`, adminKey);
      await page.getByRole('link', { name: 'Reference' }).click();
      await page.getByText(`Requests carry the key ending in ${adminKey.slice(-4)}`).waitFor();
      expect(new URL(page.url()).pathname).toBe(`${prefix}/docs`);
    },
  );

  it('the reference sends a request behind the prefix, and shows its address', async () => {
    const page = await open(`${PREFIX}/docs#/pets/listPets`);
    await page.getByLabel('API key, kept for this tab only').fill(adminKey);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    const { origin } = new URL(page.url());
    await page.getByText(`curl -i '${origin}${PREFIX}/v1/pets?limit=20'`).waitFor();
    await page.locator('.live-responses-table').getByText('200', { exact: true }).waitFor();
  });

  it.each([PREFIX, ''])('the sign-in page leads to the reference: %s/console', async (prefix) => {
    const page = await open(`${prefix}/console/admin/keys`);
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByText('List animals').first().waitFor();
  });

  it.each([`${PREFIX}/docs`, `${PREFIX}/docs/`, '/docs', '/docs/'])(
    'the reference shows both documents: %s',
    async (path) => {
      const page = await open(path);
      await page.getByText('List animals').first().waitFor();
      await page.getByRole('link', { name: 'Administration' }).click();
      await page.getByText('List keys').first().waitFor();
    },
  );
});
