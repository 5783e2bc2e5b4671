import { startApplication, type TestApplication } from '../support/service/application.js';
import { accessibilityFaults, ConsoleBrowser, scrollsSideways } from '../support/browser/console.js';
import { send } from '../support/http/http.js';

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

const get = (path: string, key: string) => send(`${store.url}${path}`, { key });

async function sendMany(count: number, path: string, key: string): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) {
    await get(path, key);
  }
}

describe('the overview of the console', () => {
  it.each([
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const)(
    'is accessible, fits the screen and sends requests to no other origin (%s, %s)',
    async (scheme, width) => {
      const { key } = await store.issue({ plan: 'pro' });
      await sendMany(3, '/v1/pets/1', key);
      const { page, complaints, origins } = await browser.open('', { apiKey: key, scheme, width });
      await page.getByRole('figure').waitFor();
      await page.getByText('GET /v1/pets/{petId}').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
      expect(complaints).toEqual([]);
      expect([...origins]).toEqual([store.url]);
    },
  );

  it('shows the plan, what is left of both windows, and the requests by outcome', async () => {
    const { key } = await store.issue({ plan: 'pro', name: 'Corner shop' });
    await sendMany(4, '/v1/pets', key);
    const { page } = await browser.open('', { apiKey: key });
    await page.getByText('of 300 left').waitFor();
    await page.getByText('of 10,000 left').waitFor();
    await page.getByText('300 per minute, 10,000 per day').waitFor();
    // Those four, and the requests of the page itself.
    await page.getByText(/\d+ requests in the last hour, 0 refusals/).waitFor();
    await page.getByText('30 days').click();
    await page.getByText(/\d+ requests in the last 30 days/).waitFor();
    await page.getByText('No request of the last 400 days used an operation').waitFor();
  });

  it('shows a banned key the end of its ban, also when it signs in', async () => {
    const { key } = await store.issue({ plan: 'free' });
    await sendMany(120, '/v1/pets', key);
    const { page } = await browser.open('', { apiKey: key });
    await page.getByRole('heading', { name: 'Banned' }).waitFor();
    await page.getByText('Requests meanwhile do not lengthen the ban').waitFor();
    await page.getByText('This key is banned').first().waitFor();
  });

  it('says of a rotated key what replaces it and until when it works', async () => {
    const { key, id } = await store.issue({ plan: 'pro' });
    const admin = await store.issue({ role: 'admin', plan: 'business' });
    const successor = await send(`${store.url}/admin/keys/${id}/rotate`, {
      method: 'POST',
      key: admin.key,
      body: { overlapSeconds: 3600 },
    });
    const { page } = await browser.open('', { apiKey: key });
    await page.getByText('This key has been replaced').waitFor();
    await page.getByText(`${successor.json.prefix}…${successor.json.lastFour}`).waitFor();
  });

  it('counts nothing against the key while it only shows what is left', async () => {
    const { key } = await store.issue({ plan: 'free' });
    const { page } = await browser.open('', { apiKey: key });
    await page.getByRole('figure').waitFor();
    const before = (await get('/v1/rate-limit', key)).json.windows[1].remaining;
    await page.waitForResponse((response) => response.url().endsWith('/v1/rate-limit'));
    await page.waitForResponse((response) => response.url().endsWith('/v1/rate-limit'));
    expect((await get('/v1/rate-limit', key)).json.windows[1].remaining).toBe(before);
  });

  it('shows a client key no page of administration', async () => {
    const { key } = await store.issue({ plan: 'pro' });
    const { page } = await browser.open('', { apiKey: key });
    await page.getByText('of 300 left').waitFor();
    expect(await page.getByRole('navigation', { name: 'Administration' }).count()).toBe(0);
  });
});
