import { accessibilityFaults } from '../support/browser/console.js';
import { APPEARANCES, expectSound, open, store, useConsole } from '../support/browser/console-service.js';
import { send } from '../support/http/http.js';

const KEYS = '/admin/keys';
const HOSTILE_NAME = '<script>alert(1)</script>';
const LONGEST_NAME = 'W'.repeat(255);
const DAY_MS = 86_400_000;

useConsole();
beforeAll(async () => {
  await store.issue({ name: HOSTILE_NAME, note: 'Calls at night' });
  await store.issue({ name: LONGEST_NAME });
});

async function statusOf(key: string): Promise<number> {
  return (await send(`${store.url}/v1/rate-limit`, { key })).status;
}

describe('the keys page of the console', () => {
  it.each(APPEARANCES)(
    'is accessible and fits the screen with hostile names (%s, %s)',
    async (scheme, width) => {
      const opened = await open(KEYS, { scheme, width });
      const { page } = opened;
      await page.getByRole('link', { name: HOSTILE_NAME }).waitFor();
      await page.getByText('Calls at night').waitFor();
      await expectSound(opened);
    },
  );

  it('keeps the search, the filters, the order and the page in the address', async () => {
    for (let number = 0; number < 22; number += 1) {
      await store.issue({ name: `Fleet ${String(number).padStart(2, '0')}`, plan: 'pro' });
    }
    const { page } = await open(KEYS);
    await page.getByLabel('Search by name').fill('fleet');
    await page.waitForURL(/search=fleet/);
    await page.getByLabel('Order').selectOption('By name');
    await page.getByLabel('Plan').selectOption('pro');
    await page.getByLabel('State').selectOption('Active');
    await page.getByRole('link', { name: 'Fleet 00' }).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'Fleet 20' }).waitFor();
    expect(page.url()).toMatch(/(?=.*sort=name)(?=.*plan=pro)(?=.*state=active)(?=.*page=2)/);
    await page.reload();
    await page.getByRole('link', { name: 'Fleet 21' }).waitFor();
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByRole('link', { name: 'Fleet 00' }).waitFor();
    await page.getByText('Banned').click();
    await page.getByText('No key matches').waitFor();
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.getByRole('link', { name: 'Fleet 21' }).waitFor();
    expect(await page.getByLabel('Search by name').inputValue()).toBe('');
  });

  it('finds the keys that expire soon, and those that nobody used for 30 days', async () => {
    const { id } = await store.issue({ name: 'Watched: idle' });
    await store.database.query("UPDATE api_keys SET created_at = now() - interval '31 days' WHERE id = $1", [
      id,
    ]);
    await store.issue({ name: 'Watched: ends soon', expiresAt: new Date(Date.now() + 29 * DAY_MS) });
    await store.issue({ name: 'Watched: ends later', expiresAt: new Date(Date.now() + 31 * DAY_MS) });
    const { page } = await open('/admin/keys?search=watched');
    const later = page.getByRole('link', { name: 'Watched: ends later' });
    await later.waitFor();
    for (const [filter, name] of [
      ['Expires within 30 days', 'Watched: ends soon'],
      ['Not used for 30 days', 'Watched: idle'],
    ] as const) {
      await page.getByText(filter).click();
      await later.waitFor({ state: 'detached' });
      expect(await page.getByRole('table').getByRole('link').allTextContents()).toEqual([name]);
      await page.getByText(filter).click();
      await later.waitFor();
    }
  });
});

describe('the dialog that issues a key', () => {
  it('says beside the fields what is wrong, in the words of the service too', async () => {
    const { page } = await open(KEYS);
    await page.getByRole('button', { name: 'Issue key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Plan').selectOption('enterprise');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText('This plan needs a limit').first().waitFor();
    await dialog.getByLabel('Own limit per minute').fill('many');
    await dialog.getByLabel('Own limit per day').fill('100');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText('Enter a whole number of requests').waitFor();
    await page.locator('input:focus').fill('0');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText('Must not be blank').waitFor();
    await dialog.getByText(/^Must be an integer/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('shows the key once, copies exactly it, and warns before the reader leaves it', async () => {
    const { page, complaints } = await open(KEYS, { scheme: 'dark' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Issue key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Issued here');
    await dialog.getByRole('textbox', { name: 'Note' }).fill('First line\nsecond line');
    await dialog.getByLabel('Expires').selectOption('At a time…');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText('Complete the date and time').waitFor();
    await page.locator('input:focus').fill('2091-07-01T12:30');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    const text = (await page.locator('.new-key').textContent()) ?? '';
    expect(await statusOf(text)).toBe(200);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Leave without the key?' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.locator('button:focus', { hasText: 'Back to the key' }).click();
    expect(await dialog.getByRole('button', { name: /copy/i }).count()).toBe(1);
    expect(await dialog.locator('code, pre, input, textarea').count()).toBe(1);
    await page.locator('button:focus', { hasText: 'Copy key' }).click();
    await dialog.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.locator('button:focus', { hasText: 'Issue key' }).waitFor();
    await page.getByText('First line second line').waitFor();
    expect(await page.content()).not.toContain(text);
    await page.getByRole('link', { name: 'Issued here' }).click();
    await page.getByText('1 Jul 2091, 12:30').first().waitFor();
    expect(complaints).toEqual([]);
  });
});

describe("a key's page of the console", () => {
  it.each(APPEARANCES)(
    'is accessible and fits the screen with the longest name (%s, %s)',
    async (scheme, width) => {
      const { id, key } = await store.issue({ name: LONGEST_NAME, note: HOSTILE_NAME });
      await send(`${store.url}/v1/pets`, { key });
      const opened = await open(`${KEYS}/${id}`, { scheme, width });
      const { page } = opened;
      await page.getByText('Issued a key').waitFor();
      await page.getByText('of 60 left').waitFor();
      await page.getByText('Full again in').first().waitFor();
      await expectSound(opened);
    },
  );

  it('renames the key, and records it', async () => {
    const { id } = await store.issue({ name: 'Before' });
    const { page } = await open(`${KEYS}/${id}`);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('After');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'After' }).waitFor();
    await page.getByText('Renamed a key').waitFor();
  });

  it('rotates the key with an overlap, never past its expiry, and links both keys', async () => {
    const expiresAt = new Date(Date.now() + 2 * DAY_MS);
    const { id, key } = await store.issue({ name: 'Rotated', expiresAt });
    const { page } = await open(`${KEYS}/${id}`);
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('7 days').click();
    await page.getByText('when this key expires anyway').waitFor();
    await page.getByText('1 hour', { exact: true }).last().click();
    await page.getByText('Then this key gets 401').waitFor();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const successor = (await page.locator('.new-key').textContent()) ?? '';
    expect([await statusOf(key), await statusOf(successor)]).toEqual([200, 200]);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('button', { name: 'Rotate' }).waitFor({ state: 'detached' });
    await page.locator('h1:focus', { hasText: 'Rotated' }).waitFor();
    await page.getByRole('link', { name: 'Its successor' }).click();
    await page.getByRole('link', { name: 'The key before it' }).waitFor();
  });

  it('changes the limits, and revokes the key', async () => {
    const { id, key } = await store.issue({ name: 'Changed' });
    const { page } = await open(`${KEYS}/${id}`);
    await page.getByRole('button', { name: 'Change plan' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Own limit per minute').fill('7');
    await dialog.getByLabel('Own limit per day').fill('70');
    await dialog.getByText('7 per minute, 70 per day').waitFor();
    await dialog.getByRole('button', { name: 'Change plan' }).click();
    await page.getByText('of 70 left').waitFor();
    await page.locator('button:focus', { hasText: 'Change plan' }).waitFor();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Requests with this key get 401 within a second. This cannot be undone.').waitFor();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('Revoked a key').waitFor();
    await page.locator('h1:focus', { hasText: 'Changed' }).waitFor();
    expect(await statusOf(key)).toBe(401);
  });

  it('lifts a ban, which the list and the traffic show until then', async () => {
    const { key } = await store.issue({ name: 'Banned shop', plan: 'enterprise', perMinute: 1, perDay: 100 });
    await send(`${store.url}/v1/pets`, { key });
    await send(`${store.url}/v1/pets`, { key });
    const { page } = await open('/admin/keys?banned=yes');
    await page
      .getByRole('row', { name: /Banned shop/ })
      .getByText('Banned', { exact: true })
      .waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByRole('link', { name: 'Traffic' }).click();
    await page.getByRole('region', { name: 'Banned now' }).getByRole('link', { name: 'Banned shop' }).click();
    await page.getByRole('heading', { name: 'Banned', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Lift ban' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift ban' }).click();
    await page.getByRole('heading', { name: 'Refusals before a ban' }).waitFor();
    await page.locator('h1:focus', { hasText: 'Banned shop' }).waitFor();
    await page.getByText('Lifted a ban').waitFor();
    await page.getByRole('link', { name: 'Traffic' }).click();
    await page.getByText('No key is banned').waitFor();
    await page.goto(`${store.url}/console/admin/keys?banned=yes`);
    await page.getByText('No key matches').waitFor();
  });

  it('says that there is no such key', async () => {
    const { page } = await open('/admin/keys/00000000-0000-4000-8000-000000000000');
    await page.getByRole('heading', { name: 'There is no such key' }).waitFor();
  });
});
