import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import {
  admin,
  APPEARANCES,
  expectSound,
  open,
  OWN_CLOCK,
  reconnect,
  revoke,
  store,
  useConsole,
} from './console-service.js';
import { DAY_MS } from '../support/time/clock.js';
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

let shop: IssuedKey;

useConsole();
beforeAll(async () => {
  // Pages show the requests until now by the `Date` of responses, which is never ahead.
  store.clock.travelTo(new Date());
  shop = await store.issue({ plan: 'pro', name: 'Corner shop' });
  for (const path of ['/v1/pets', '/v1/pets/1', '/v1/pets/999999']) {
    await get(path, shop.key);
  }
  await get('/v1/pets', admin.key);
  await store.app.get(UsageRecorder).flush();
});

const get = (path: string, key: string) => send(`${store.url}${path}`, { key });

async function sendMany(count: number, path: string, key: string): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) {
    await get(path, key);
  }
}

describe('the overview of the console', () => {
  it('shows the plan, what is left of both windows, and the requests by outcome', async () => {
    const { key } = await store.issue({ plan: 'pro', name: 'Corner shop' });
    await sendMany(4, '/v1/pets', key);
    const page = await open('', { apiKey: key });
    await page.getByText('of 300 left').waitFor();
    await page.getByText('of 10,000 left').waitFor();
    await page.getByText('300 per minute, 10,000 per day').waitFor();
    // Those four, and the requests of the page itself.
    await page.getByText(/\d+ requests in the last hour, 0 denied/).waitFor();
    await page.getByText('30 days').click();
    await page.getByText(/\d+ requests in the last 30 days/).waitFor();
    await page.getByText('You called no deprecated operation').waitFor();
  });

  it('says how often the holder called a deprecated operation, and what replaces it', async () => {
    const { key } = await store.issue();
    await get('/v1/pets/1', key);
    await store.app.get(UsageRecorder).flush();
    const page = await open('', { apiKey: key });
    await page.getByText(/1 request, the last one /).waitFor();
    await page.getByText('/v1/pets?status=available').waitFor();
    await expectSound(page);
  });

  it('says of a rotated key what replaces it and until when it works', async () => {
    const { key, id } = await store.issue({ plan: 'pro' });
    const successor = await send(`${store.url}/admin/keys/${id}/rotate`, {
      method: 'POST',
      key: admin.key,
      body: { overlapSeconds: 3600 },
    });
    const page = await open('', { apiKey: key });
    await page.getByText('This key has been replaced').waitFor();
    const name = `${successor.json.prefix}…${successor.json.lastFour}`;
    await page.getByText(`Put its successor ${name} wherever you use this key`).waitFor();
    await expectSound(page);
    await revoke(successor.json);
    await page.reload();
    await page.getByText(`Its successor ${name} was revoked: ask an administrator`).waitFor();
  });

  it.each(APPEARANCES)('says above every page that the key expires soon (%s, %s)', async (scheme, width) => {
    const { key } = await store.issue({ expiresAt: new Date(Date.now() + 6 * DAY_MS) });
    const page = await open('/animals', { apiKey: key, scheme, width });
    const notice = page.getByRole('alert').filter({ hasText: 'This key expires soon' });
    await notice.getByText('Ask an administrator for another key before that').waitFor();
    await expectSound(page);
    const later = await store.issue({ expiresAt: new Date(Date.now() + 8 * DAY_MS) });
    const other = await open('/animals', { apiKey: later.key });
    await other.getByRole('heading', { name: 'Animals', level: 1 }).waitFor();
    await other.getByText('No animals yet').or(other.getByRole('row').nth(1)).first().waitFor();
    expect(await other.getByText('This key expires soon').count()).toBe(0);
  });

  it('shows initials of a name that begins with a symbol', async () => {
    const { key } = await store.issue({ name: '\u{1F436} Corner shop' });
    const page = await open('', { apiKey: key });
    await page.locator('.mantine-Avatar-root', { hasText: /^CS$/ }).waitFor();
  });

  it("rotates the reader's own key, shows the successor once, and says what the key may not do", async () => {
    const { key, prefix, lastFour } = await store.issue({
      plan: 'pro',
      scopes: ['pets:read'],
      allowedNetworks: ['127.0.0.0/8'],
    });
    const page = await open('', { apiKey: key });
    await page.getByText('pets:read', { exact: true }).waitFor();
    // Further resources may follow.
    await page.getByText(/add animals, read orders, place orders(, [a-z ]+)*\./).waitFor();
    await page.getByText('127.0.0.0/8. Requests from elsewhere get 403.').waitFor();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${prefix}…${lastFour}`).waitFor();
    await dialog.getByText('1 hour').click();
    await expectSound(page);
    await dialog.getByRole('button', { name: 'Rotate key' }).click();
    const successor = (await page.locator('.new-key').textContent()) ?? '';
    await page.getByText('Put it wherever you use this key').waitFor();
    expect((await get('/v1/pets', successor)).status).toBe(200);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText('This key has been replaced').waitFor();
    expect(await page.getByRole('button', { name: 'Rotate key' }).count()).toBe(0);
    await page.getByRole('button', { name: 'My key leaked' }).waitFor();
  });

  it('replaces a leaked key, shows the successor once, and signs in with it', async () => {
    const issued = await store.issue({ plan: 'pro', scopes: ['pets:read', 'keys:write'] });
    const { key, prefix, lastFour } = issued;
    const body = { name: 'Derived' };
    const derived = await send(`${store.url}/v1/keys`, { method: 'POST', key, body });
    const page = await open('', { apiKey: key });
    await page.getByRole('button', { name: 'My key leaked' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${prefix}…${lastFour}`).waitFor();
    await dialog
      .getByText('its successors, and the keys that any of them issued stop working at once')
      .waitFor();
    await expectSound(page);
    await dialog.getByRole('button', { name: 'Replace key' }).click();
    const successor = (await page.locator('.new-key').textContent()) ?? '';
    await dialog.getByText('Your old key, its successors, and the keys that any of them issued').waitFor();
    await expectSound(page);
    for (const [each, status] of [
      [key, 401],
      [derived.json.key, 401],
      [successor, 200],
    ] as const) {
      expect((await get('/v1/rate-limit', each)).status).toBe(status);
    }
    const rejection = page.waitForResponse((response) => response.status() === 401);
    await reconnect(page);
    await rejection;
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText(`ask_test_…${successor.slice(-4)}`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'My key leaked' }).waitFor();
    await page.reload();
    await page
      .getByText(`…${successor.slice(-4)}`)
      .first()
      .waitFor();
  });

  it('counts nothing against the key while it only shows what is left', async () => {
    const { key } = await store.issue({ plan: 'free' });
    const page = await open('', { apiKey: key, ...OWN_CLOCK });
    await page.getByRole('figure').waitFor();
    const before = (await get('/v1/rate-limit', key)).json.windows[1].remaining;
    for (let poll = 0; poll < 2; poll += 1) {
      const polled = page.waitForResponse((response) => response.url().endsWith('/v1/rate-limit'));
      await page.clock.fastForward(60_000);
      await polled;
    }
    expect((await get('/v1/rate-limit', key)).json.windows[1].remaining).toBe(before);
  });
});

describe('a chart of requests in the console', () => {
  it.each([
    ['the overview', '', 'dark', 'phone'],
    ['a key', '/admin/keys/ID', 'dark', 'desktop'],
    ['the traffic', '/admin', 'light', 'phone'],
  ] as const)(
    'is also a table, by the keyboard and in the same space (%s, %s, %s, %s)',
    async (_name, path, scheme, width) => {
      const page = await open(path.replace('ID', shop.id), { scheme, width });
      const panel = page.getByRole('region', { name: 'Requests', exact: true });
      await panel.getByRole('figure').locator('svg').first().waitFor();
      const before = await panel.boundingBox();
      await panel.getByRole('radio', { name: 'Chart' }).focus();
      await page.keyboard.press('ArrowRight');
      const table = panel.getByRole('table', { name: 'Requests by outcome' });
      await table.waitFor();
      expect(await table.getByRole('columnheader').allTextContents()).toEqual(HEADERS);
      expect((await panel.boundingBox())?.height).toBe(before?.height);
      await expectSound(page);
    },
  );

  it('has the same numbers in the table, without the periods that have none', async () => {
    const page = await open(`/admin/keys/${shop.id}`);
    await page.getByText('3 requests in the last 24 hours, 0 denied').waitFor();
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
    [100, 'Limit 100', 1],
    [1000, 'Limit 1,000 (above this scale)', 0],
  ])('has the limit as a line, and only a label if it is far above the bars (%i)', async (...given) => {
    const [perDay, label, lines] = given;
    const { key } = await store.issue({ plan: 'enterprise', perMinute: 100, perDay });
    await sendMany(30, '/v1/pets', key);
    await store.app.get(UsageRecorder).flush();
    const page = await open('', { apiKey: key });
    await page.getByText('30 days').click();
    const chart = page.getByRole('figure');
    await chart.getByText(label, { exact: true }).waitFor();
    expect(await chart.locator('.recharts-reference-line line').count()).toBe(lines);
  });
});
