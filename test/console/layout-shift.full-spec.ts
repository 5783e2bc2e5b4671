import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { layoutShift } from '../support/browser/console.js';
import { browser, open, store, useConsole } from '../support/browser/console-service.js';
import { send } from '../support/http/http.js';

const OWN = ['', '/animals', '/orders', '/try'];
const PATHS = [...OWN, '/admin', '/admin/keys', '/admin/keys/ID', '/admin/plans', '/admin/audit'];

/** A font that replaces the system's, and panels whose last line depends on their data, move a few pixels. */
const UNNOTICED = 0.01;

let shop: IssuedKey;

useConsole();
beforeAll(async () => {
  shop = await store.issue({ plan: 'pro', name: 'Corner shop' });
  for (const path of ['/v1/pets', '/v1/pets/1', '/v1/pets/999999']) {
    await send(`${store.url}${path}`, { key: shop.key });
  }
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

  it.each(['desktop', 'phone'] as const)(
    'moves less than a reader notices while a page loads (%s)',
    async (width) => {
      const { page } = await open('', { width });
      const moving: Record<string, number> = {};
      for (const path of PATHS) {
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
