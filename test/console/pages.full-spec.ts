import type { Page } from 'playwright-core';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { FailedRequestRecorder } from '../../src/usage/failed-requests/failed-request.recorder.js';
import { layoutShift } from '../support/programs/browser.js';
import {
  admin,
  APPEARANCES,
  expectSound,
  HOSTILE_NAME,
  LONGEST_NAME,
  open,
  SIGNED_OUT,
  store,
  useConsole,
} from './console-service.js';
import { send } from '../support/http/http.js';

/** What the page of every release of this major version has. */
const OTHER_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="service-root" content="%ROOT%" />
    <title>Another release</title>
    <meta property="csp-nonce" nonce="%NONCE%">
    <script type="module" crossorigin src="%ROOT%console/assets/console.js" nonce="%NONCE%"></script>
  </head>
  <body><div id="root"></div></body>
</html>`;

/** Panels whose last line depends on their data move a few pixels. */
const UNNOTICED = 0.01;

let shop: IssuedKey;
let longest: IssuedKey;
let webhookId: string;

useConsole();
beforeAll(async () => {
  // Pages show the requests until now by the `Date` of responses, which is never ahead.
  store.clock.travelTo(new Date());
  shop = await store.issue({ name: HOSTILE_NAME, note: 'Calls at night', plan: 'pro' });
  longest = await store.issue({ name: LONGEST_NAME, note: HOSTILE_NAME });
  for (const path of ['/v1/pets', '/v1/pets/1', '/v1/pets/999999']) {
    await send(`${store.url}${path}`, { key: shop.key, headers: { 'X-Request-Id': 'page-1' } });
  }
  await store.app.get(FailedRequestRecorder).flush();
  await store.database.query(
    "INSERT INTO pets (name, category_id, status) SELECT unnest($1::text[]), 1, 'sold'",
    [[HOSTILE_NAME, '\u202Egnp.exe', LONGEST_NAME, 'Fern']],
  );
  await store.database.query(
    'INSERT INTO orders (quota_id, pet_id, quantity) SELECT quota_id, 1, 1000 FROM api_keys',
  );
  const body = { url: `https://ops.example/${LONGEST_NAME}`, events: ['key.revoked', 'quota.banned'] };
  const webhook = await send(`${store.url}/admin/webhooks`, { method: 'POST', key: admin.key, body });
  webhookId = webhook.json.id;
  await store.database.query(
    `INSERT INTO webhook_deliveries
       (id, webhook_id, event_id, event_type, dedupe_key, payload, state, attempts, last_failure,
         next_attempt_at, response_status, response_body)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), 'key.revoked', n::text, $2, 'failed', 11,
       'The response was 500', NULL,
       500, $3
     FROM generate_series(1, 25) n`,
    [webhookId, JSON.stringify({ data: { name: LONGEST_NAME } }), HOSTILE_NAME],
  );
});

type Step = (page: Page) => Promise<unknown>;

const see =
  (text: string): Step =>
  (page) =>
    page.getByText(text).first().waitFor();

/**
 * The pages by their names, with what leads to each state in which a page must be sound, and shows that it is
 * there.
 */
const PAGES: [name: string, path: string, loaded: Step, ...further: Step[]][] = [
  ['Overview', '', see('GET /v1/pets/{petId}')],
  [
    'Animals',
    '/animals',
    see(HOSTILE_NAME),
    async (page) => {
      await page.getByRole('link', { name: 'Open animal 3' }).click();
      await page.getByRole('dialog').getByText(LONGEST_NAME).waitFor();
    },
    async (page) => {
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Add an animal' }).click();
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('Must not be blank').waitFor();
    },
  ],
  [
    'Orders',
    '/orders',
    async (page) => {
      await page.getByText('Beta', { exact: true }).last().waitFor();
      await page.getByRole('cell', { name: '1,000' }).waitFor();
    },
    async (page) => {
      await page.getByRole('button', { name: 'Place an order' }).click();
      await page.getByText('Experimental', { exact: true }).waitFor();
      await page.getByLabel('Animal id').fill('7');
      await page.getByRole('button', { name: 'Place order' }).click();
      await page.getByText('No animal has the id 7').waitFor();
    },
  ],
  [
    'Traffic',
    '/admin',
    async (page) => {
      await page.getByRole('figure').waitFor();
      await page.getByRole('table', { name: 'Callers of deprecated operations' }).waitFor();
    },
  ],
  ['Failed requests', '/admin/requests', see('No animal has the id 999999')],
  ['A failed request', '/admin/requests/show?id=page-1', see('No animal has the id 999999')],
  ['Own failed requests', '/requests', see('No animal has the id 999999')],
  ['Keys', '/admin/keys', see('Calls at night')],
  ['A key', '/admin/keys/ID', see('No other keys')],
  [
    'Plans',
    '/admin/plans',
    (page) => page.getByRole('link', { name: 'pro', exact: true }).waitFor(),
    async (page) => {
      await page.getByRole('link', { name: 'pro', exact: true }).click();
      await page.getByRole('dialog').getByText(HOSTILE_NAME).waitFor();
    },
  ],
  ['Webhooks', '/admin/webhooks', see('A key is revoked')],
  [
    'A webhook',
    '/admin/webhooks/WEBHOOK',
    see('The response was 500'),
    async (page) => {
      await page.getByRole('button', { name: 'A key is revoked' }).first().click();
      await page.getByRole('dialog').getByText(HOSTILE_NAME).waitFor();
      await page.getByRole('dialog').getByText(LONGEST_NAME).waitFor();
    },
  ],
  ['Audit', '/admin/audit', see(HOSTILE_NAME)],
  ['No such page', '/no-such-page', see('Go to the overview')],
];

describe('a table of the console on a phone', () => {
  it.each([
    ['/admin/keys', 'Keys', ['Plan', 'State', 'Last 24 hours', 'Last used', 'Expires']],
    ['/admin/webhooks/WEBHOOK', 'Deliveries of this webhook', ['Queued', 'Event', 'State', 'Attempts']],
    ['/admin/requests', 'Failed requests', ['Time', 'Request', 'Response', 'Key', 'Took', 'Address']],
    ['/admin/audit', 'Audit entries', ['Time', 'Actor', 'Action', 'Subject']],
  ] as const)('shows each row as a card with the names of the columns (%s)', async (path, label, columns) => {
    const page = await open(path.replace('WEBHOOK', webhookId), { width: 'phone' });
    const table = page.getByRole('table', { name: label });
    await table.waitFor();
    const row = table.getByRole('row').nth(1);
    for (const name of columns) {
      const cell = row.locator(`[data-label="${name}"]`);
      const { x = -1, width = 360 } = (await cell.boundingBox()) ?? {};
      expect([x > 0, x + width <= 360]).toEqual([true, true]);
      const shown = `getComputedStyle(document.querySelector('[data-label="${name}"]'), '::before').content`;
      expect(await page.evaluate(shown)).toContain(name);
    }
    expect(await table.getByRole('columnheader').count()).toBeGreaterThanOrEqual(columns.length);
  });
});

describe.each(APPEARANCES)('a page of the console (%s, %s)', (scheme, width) => {
  it.each(PAGES)(
    'is accessible, fits the screen, and moves less than a reader notices while it loads (%s)',
    async (_name, path, loaded, ...further) => {
      const { key: apiKey } = ['', '/requests'].includes(path) ? shop : admin;
      // Its cache is cold, so the font arrives while the page loads.
      const page = await open(path.replace('WEBHOOK', webhookId).replace('ID', longest.id), {
        apiKey,
        scheme,
        width,
        isAlone: true,
      });
      await loaded(page);
      await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
      expect(await layoutShift(page)).toBeLessThan(UNNOTICED);
      expect(await page.title()).toBe(`${await page.locator('h1').textContent()} · Animal Store`);
      await expectSound(page);
      for (const step of further) {
        await step(page);
        await expectSound(page);
      }
    },
  );

  it('is accessible, fits the screen, and hardly moves while it loads (sign-in)', async () => {
    const page = await open('', { ...SIGNED_OUT, scheme, width, isAlone: true });
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await layoutShift(page)).toBeLessThan(UNNOTICED);
    await expectSound(page);
  });
});

describe('the page of another release of the console', () => {
  it.each(['', '/admin/keys'])(
    'works with the script of this one, and has its styles: /console%s',
    async (path) => {
      const prepare = (each: Page) =>
        each.route(`**/console${path}`, async (route) => {
          const response = await route.fetch();
          const [, nonce = ''] = /nonce="([^"]+)"/.exec(await response.text()) ?? [];
          const root = '../'.repeat(path.split('/').length - 1) || './';
          const body = OTHER_PAGE.replaceAll('%NONCE%', nonce).replaceAll('%ROOT%', root);
          await route.fulfill({ response, body });
        });
      const page = await open(path, { prepare, isAlone: true });
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.title()).not.toBe('');
      await expectSound(page);
    },
  );
});
