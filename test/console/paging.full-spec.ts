import { admin, expectSound, open, store, useConsole } from './console-service.js';
import { send } from '../support/http/http.js';
import { showOn, TRANSLATOR } from '../support/programs/browser.js';

const ROWS = 45;
let webhookId: string;

useConsole();
beforeAll(async () => {
  for (let number = 0; number < ROWS; number += 1) {
    await store.issue({ name: `Fleet ${number}`, plan: 'pro' });
  }
  const body = { url: 'https://ops.example/hook', events: ['key.revoked'] };
  const webhook = await send(`${store.url}/admin/webhooks`, { method: 'POST', key: admin.key, body });
  webhookId = webhook.json.id;
  const fill = (statement: string, ...values: unknown[]) =>
    store.database.query(statement, [ROWS, ...values]);
  await fill("INSERT INTO pets (name, category_id) SELECT 'Animal ' || n, 1 FROM generate_series(1, $1) n");
  await fill(
    `INSERT INTO orders (quota_id, pet_id, quantity) SELECT $2::uuid, n, n FROM generate_series(1, $1) n`,
    admin.quotaId,
  );
  await fill("INSERT INTO plans SELECT 'plan-' || n, 60, 1000 FROM generate_series(1, $1) n");
  await fill(
    `INSERT INTO webhook_deliveries
       (id, webhook_id, event_id, event_type, dedupe_key, payload, state, attempts)
     SELECT gen_random_uuid(), $2::uuid, gen_random_uuid(), 'key.revoked', n::text, '{}', 'failed', n
     FROM generate_series(1, $1) n`,
    webhookId,
  );
  await fill(
    `INSERT INTO usage
     SELECT id, quota_id, 'day', date_trunc('day', now()), 'getPet', true, 1, 0, 0, 0, 0, now()
     FROM api_keys LIMIT $1`,
  );
  await fill(
    `INSERT INTO failed_requests
     SELECT gen_random_uuid(), now() - n * interval '1 second', 'id-' || n, 'GET', '/v1/nothing-' || n,
       'none', 404, 'not_found', 'Nothing', 1.5, NULL, $2::uuid, '203.0.113.7'
     FROM generate_series(1, $1) n`,
    admin.quotaId,
  );
});

const LISTS = [
  ['/animals', 'Animals'],
  ['/orders', 'Orders'],
  ['/admin', 'Callers of deprecated operations'],
  ['/admin/keys', 'Keys'],
  ['/admin/plans', 'Plans'],
  ['/admin/webhooks/WEBHOOK', 'Deliveries of this webhook'],
  ['/admin/audit', 'Audit entries'],
  ['/admin/requests', 'Failed requests'],
  ['/requests', 'Failed requests'],
];

describe.each(LISTS)('a list of the console with pages (%s)', (path, label) => {
  it('opens each page at its top, and has it in the address, on a desktop and on a phone', async () => {
    const page = await open(path.replace('WEBHOOK', webhookId));
    const table = page.getByRole('table', { name: label });
    const first = table.getByRole('row').nth(1);
    let headerHeight = 0;
    const expectTop = async () => {
      const { y = -1 } = (await first.boundingBox()) ?? {};
      expect([y > headerHeight, y < 450]).toEqual([true, true]);
      await page.locator(`[aria-label="${label}"][tabindex="0"]:focus`).waitFor();
    };
    await first.waitFor();
    const turn = async (button: string, address: RegExp) => {
      const before = await first.textContent();
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.waitForURL(address);
      await first.filter({ hasNotText: before ?? '' }).waitFor();
      await expectTop();
    };
    await turn('Next', /page=2$/);
    await turn('Next', /page=3$/);
    const third = await first.textContent();
    await expectSound(page);
    await showOn(page, 'phone');
    headerHeight = 60;
    await page.reload();
    await first.waitFor();
    expect(await first.textContent()).toBe(third);
    await expectSound(page);
    await turn('Previous', /page=2$/);
    await turn('Previous', /\/console[^?]*$/);
  });
});

describe.each([...LISTS, ['/admin/keys?search=Fleet', 'Keys']])(
  'a list of the console in a browser that translates pages (%s)',
  (path, label) => {
    it('shows each page as it is in a browser that does not', async () => {
      const address = path.replace('WEBHOOK', webhookId);
      const now = Date.now();
      const openWith = (script: string) =>
        open(address, {
          isAlone: true,
          prepare: async (page) => {
            // Else one may show a minute more since the last use of a key.
            await page.clock.setFixedTime(now);
            await page.addInitScript(script);
          },
        });
      const pages = [await openWith(''), await openWith(TRANSLATOR)];
      for (const number of [2, 3]) {
        const [plain, translated] = await Promise.all(
          pages.map(async (page) => {
            const first = page.getByRole('table', { name: label }).getByRole('row').nth(1);
            await first.waitFor();
            const before = await first.textContent();
            await page.getByRole('button', { name: 'Next', exact: true }).click();
            await page.waitForURL(new RegExp(`page=${number}$`));
            await first.filter({ hasNotText: before ?? '' }).waitFor();
            return page.getByRole('table', { name: label }).getByRole('row').allTextContents();
          }),
        );
        expect(translated).toEqual(plain);
      }
    });
  },
);

describe('the drawers of pages with a list', () => {
  it.each([
    ['/animals', 'Open animal 45', 'Animal 45', 'Open animal 40'],
    ['/admin/plans', 'plan-45', 'Plan plan-45', 'plan-27'],
  ])(
    'keep the page of the list, and the way to the pages before it (%s)',
    async (path, link, drawer, other) => {
      const page = await open(path);
      for (const number of [2, 3]) {
        await page.getByRole('button', { name: 'Next' }).click();
        await page.waitForURL(new RegExp(`page=${number}`));
      }
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('dialog', { name: drawer }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Previous' }).click();
      await page.getByRole('link', { name: other, exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get('page')).toBe('2');
    },
  );
});
