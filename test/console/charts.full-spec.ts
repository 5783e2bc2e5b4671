import type { IssuedKey } from '../../src/admin/key.schemas.js';
import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { accessibilityFaults, ConsoleBrowser, scrollsSideways } from '../support/browser/console.js';
import { send } from '../support/http/http.js';

const HEADERS = [
  'Start',
  'Succeeded',
  'Not modified',
  'Client error',
  'Over the limit (429)',
  'Server error',
  'Total',
];

let store: TestApplication;
let browser: ConsoleBrowser;
let admin: IssuedKey;
let shop: IssuedKey;

beforeAll(async () => {
  store = await startApplication();
  // Pages show the requests until now by the `Date` of responses, which is never ahead.
  store.clock.travelTo(new Date());
  browser = await ConsoleBrowser.start(store.url);
  admin = await store.issue({ role: 'admin', plan: 'business', name: 'Ann' });
  shop = await store.issue({ plan: 'pro', name: 'Corner shop' });
  for (const path of ['/v1/pets', '/v1/pets/1', '/v1/pets/999999']) {
    await send(`${store.url}${path}`, { key: shop.key });
  }
  await send(`${store.url}/v1/pets`, { key: admin.key });
  await store.app.get(UsageRecorder).flush();
});
afterAll(async () => {
  await browser.close();
  await store.close();
});

describe('a chart of requests in the console', () => {
  it.each([
    ['the overview', '', 'light', 'desktop'],
    ['the overview', '', 'dark', 'phone'],
    ['a key', '/admin/keys/ID', 'dark', 'desktop'],
    ['a key', '/admin/keys/ID', 'light', 'phone'],
    ['the traffic', '/admin', 'light', 'phone'],
    ['the traffic', '/admin', 'dark', 'desktop'],
  ] as const)(
    'is also a table, by the keyboard and in the same space (%s, %s, %s, %s)',
    async (_name, path, scheme, width) => {
      const { page, complaints } = await browser.open(path.replace('ID', shop.id), {
        apiKey: admin.key,
        scheme,
        width,
      });
      const panel = page.getByRole('region', { name: 'Requests', exact: true });
      await panel.getByRole('figure').locator('svg').first().waitFor();
      const before = await panel.boundingBox();
      await panel.getByRole('radio', { name: 'Chart' }).focus();
      await page.keyboard.press('ArrowRight');
      const table = panel.getByRole('table', { name: 'Requests by outcome' });
      await table.waitFor();
      expect(await table.getByRole('columnheader').allTextContents()).toEqual(HEADERS);
      expect((await panel.boundingBox())?.height).toBe(before?.height);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
      expect(complaints).toEqual([]);
    },
  );

  it('has the same numbers in the table, without the periods that have none', async () => {
    const { page } = await browser.open(`/admin/keys/${shop.id}`, { apiKey: admin.key });
    await page.getByText('3 requests in the last 24 hours, 0 refusals').waitFor();
    await page.getByText('Table', { exact: true }).click();
    const rows = page.getByRole('table', { name: 'Requests by outcome' }).getByRole('row');
    const numbers = (await rows.allTextContents()).slice(1).map((text) => text.slice(-6));
    // The hour may have ended between the requests.
    expect(numbers.length).toBeLessThanOrEqual(2);
    const total = numbers.reduce((sum, text) => sum + Number(text.at(-1)), 0);
    const succeeded = numbers.reduce((sum, text) => sum + Number(text.at(0)), 0);
    expect([total, succeeded]).toEqual([3, 1]);
    await page.getByText(`Left out: ${24 - numbers.length} periods without requests.`).waitFor();
  });

  it.each([
    [100, 'Limit 100'],
    [1000, 'Limit 1,000 (above this scale)'],
  ])(
    'has the limit as a line, whose label says where it is far above the bars (%i)',
    async (perDay, label) => {
      const { key } = await store.issue({ plan: 'enterprise', perMinute: 100, perDay });
      for (let sent = 0; sent < 30; sent += 1) {
        await send(`${store.url}/v1/pets`, { key });
      }
      await store.app.get(UsageRecorder).flush();
      const { page } = await browser.open('', { apiKey: key });
      await page.getByText('30 days').click();
      const chart = page.getByRole('figure');
      await chart.getByText(label, { exact: true }).waitFor();
      expect(await chart.locator('.recharts-reference-line line').count()).toBe(1);
    },
  );
});
