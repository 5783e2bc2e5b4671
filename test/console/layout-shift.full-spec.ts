import type { IssuedKey } from '../../src/admin/key.schemas.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { ConsoleBrowser, layoutShift } from '../support/browser/console.js';
import { send } from '../support/http/http.js';

const OWN = ['', '/animals', '/orders', '/try'];
const ADMINISTRATION = ['/admin', '/admin/keys', '/admin/keys/ID', '/admin/plans', '/admin/audit'];

/** A font that replaces the system's, and panels whose last line depends on their data, move a few pixels. */
const UNNOTICED = 0.01;

let store: TestApplication;
let browser: ConsoleBrowser;
let admin: IssuedKey;
let shop: IssuedKey;

beforeAll(async () => {
  store = await startApplication();
  browser = await ConsoleBrowser.start(store.url);
  admin = await store.issue({ role: 'admin', plan: 'business', name: 'Ann' });
  shop = await store.issue({ plan: 'pro', name: 'Corner shop' });
  for (const path of ['/v1/pets', '/v1/pets/1', '/v1/pets/999999']) {
    await send(`${store.url}${path}`, { key: shop.key });
  }
});
afterAll(async () => {
  await browser.close();
  await store.close();
});

describe('the layout of the console', () => {
  it.each(['desktop', 'phone'] as const)(
    'moves less than a reader notices while the sign-in page loads (%s)',
    async (width) => {
      const { page } = await browser.open('', { width });
      await page.waitForLoadState('networkidle');
      expect(await layoutShift(page)).toBeLessThan(UNNOTICED);
    },
  );

  it.each([
    ['client', 'desktop'],
    ['client', 'phone'],
    ['administrator', 'desktop'],
    ['administrator', 'phone'],
  ] as const)(
    'moves less than a reader notices while a page of a signed-in %s loads (%s)',
    async (role, width) => {
      const apiKey = role === 'client' ? shop.key : admin.key;
      const { page } = await browser.open('', { apiKey, width });
      const moving: Record<string, number> = {};
      const paths = role === 'client' ? OWN : [...OWN, ...ADMINISTRATION];
      for (const path of paths) {
        await page.goto(`${store.url}/console${path.replace('ID', shop.id)}`, { waitUntil: 'networkidle' });
        const shift = await layoutShift(page);
        if (shift >= UNNOTICED) {
          moving[path] = shift;
        }
      }
      expect(moving).toEqual({});
    },
  );
});
