import type { IssuedKey } from '../../src/admin/key.schemas.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { accessibilityFaults, ConsoleBrowser } from '../support/console.js';

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
