import { startApplication, type TestApplication } from '../support/application.js';
import {
  accessibilityFaults,
  ConsoleBrowser,
  type ConsolePage,
  scrollsSideways,
} from '../support/console.js';
import type { IssuedKey } from '../../src/admin/key.schemas.js';

const HOSTILE_NAME = '<script>alert(1)</script>';
const LONGEST_NAME = 'W'.repeat(255);
let store: TestApplication;
let browser: ConsoleBrowser;
let admin: IssuedKey;

beforeAll(async () => {
  store = await startApplication();
  browser = await ConsoleBrowser.start(store.url);
  admin = await store.issue({ name: 'Administrator', plan: 'business', role: 'admin' });
  await store.issue({ name: HOSTILE_NAME, note: 'Calls at night' });
  await store.issue({ name: LONGEST_NAME });
});
afterAll(async () => {
  await browser.close();
  await store.close();
});

function open(path: string, options: Parameters<ConsoleBrowser['open']>[1] = {}): Promise<ConsolePage> {
  return browser.open(`/admin/keys${path}`, { apiKey: admin.key, ...options });
}

async function statusOf(key: string): Promise<number> {
  const { status } = await fetch(`${store.url}/v1/rate-limit`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return status;
}

describe('the keys page of the console', () => {
  it.each([
    ['light', 'desktop'],
    ['dark', 'desktop'],
    ['light', 'phone'],
    ['dark', 'phone'],
  ] as const)('is accessible and fits the screen with hostile names (%s, %s)', async (scheme, width) => {
    const { page, complaints, origins } = await open('', { scheme, width });
    await page.getByRole('link', { name: HOSTILE_NAME }).waitFor();
    await page.getByText('Calls at night').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([store.url]);
  });

  it('keeps the search, the filters, the order and the page in the address', async () => {
    for (let number = 0; number < 22; number += 1) {
      await store.issue({ name: `Fleet ${String(number).padStart(2, '0')}`, plan: 'pro' });
    }
    const { page } = await open('');
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

  it('shows "There is no such page" to a client', async () => {
    const { key } = await store.issue();
    const { page } = await open('', { apiKey: key });
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  });
});

describe('the dialog that issues a key', () => {
  it('says beside the fields what is wrong, in the words of the service too', async () => {
    const { page } = await open('');
    await page.getByRole('button', { name: 'Issue key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Plan').selectOption('enterprise');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText('This plan needs a limit').first().waitFor();
    await dialog.getByLabel('Own limit per minute').fill('many');
    await dialog.getByLabel('Own limit per day').fill('100');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText('Must not be blank').waitFor();
    await dialog.getByText(/^Must be an integer/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('shows the key once, and asks before the reader leaves it', async () => {
    const { page, complaints } = await open('');
    await page.getByRole('button', { name: 'Issue key' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Issued here');
    await page.getByRole('textbox', { name: 'Note' }).fill('First line\nsecond line');
    await page.getByRole('dialog').getByRole('button', { name: 'Issue key' }).click();
    const text = (await page.locator('.new-key').textContent()) ?? '';
    expect(await statusOf(text)).toBe(200);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Leave without the key?' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Back to the key' }).click();
    expect(await page.getByRole('button', { name: /copy/i }).count()).toBe(1);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('link', { name: 'Issued here' }).waitFor();
    await page.getByText('First line second line').waitFor();
    expect(await page.content()).not.toContain(text);
    expect(complaints).toEqual([]);
  });
});

describe("a key's page of the console", () => {
  it.each([
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const)('is accessible and fits the screen with the longest name (%s, %s)', async (scheme, width) => {
    const { id, key } = await store.issue({ name: LONGEST_NAME, note: HOSTILE_NAME });
    await fetch(`${store.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    const { page, complaints, origins } = await open(`/${id}`, { scheme, width });
    await page.getByText('Issued a key').waitFor();
    await page.getByText('of 60 left').waitFor();
    await page.getByText('Full again in').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([store.url]);
  });

  it('renames the key, and records it', async () => {
    const { id } = await store.issue({ name: 'Before' });
    const { page } = await open(`/${id}`);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('After');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'After' }).waitFor();
    await page.getByText('Renamed a key').waitFor();
  });

  it('rotates the key with an overlap, never past its expiry, and links both keys', async () => {
    const expiresAt = new Date(Date.now() + 2 * 86_400_000);
    const { id, key } = await store.issue({ name: 'Rotated', expiresAt });
    const { page } = await open(`/${id}`);
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('7 days').click();
    await page.getByText('when this key expires anyway').waitFor();
    await page.getByText('1 hour', { exact: true }).last().click();
    await page.getByText('Then this key gets 401').waitFor();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const successor = (await page.locator('.new-key').textContent()) ?? '';
    expect([await statusOf(key), await statusOf(successor)]).toEqual([200, 200]);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('link', { name: 'Its successor' }).click();
    await page.getByRole('link', { name: 'The key before it' }).waitFor();
  });

  it('changes the limits, and revokes the key', async () => {
    const { id, key } = await store.issue({ name: 'Changed' });
    const { page } = await open(`/${id}`);
    await page.getByRole('button', { name: 'Change plan' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Own limit per minute').fill('7');
    await dialog.getByLabel('Own limit per day').fill('70');
    await dialog.getByText('7 per minute, 70 per day').waitFor();
    await dialog.getByRole('button', { name: 'Change plan' }).click();
    await page.getByText('of 70 left').waitFor();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Requests with this key get 401 within a second. This cannot be undone.').waitFor();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('Revoked a key').waitFor();
    expect(await statusOf(key)).toBe(401);
  });

  it('lifts a ban', async () => {
    const { id, key } = await store.issue({ name: 'Banned', plan: 'enterprise', perMinute: 1, perDay: 100 });
    for (let request = 0; request < 2; request += 1) {
      await fetch(`${store.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    }
    const { page } = await open(`/${id}`);
    await page.getByRole('heading', { name: 'Banned' }).first().waitFor();
    await page.getByRole('button', { name: 'Lift ban' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift ban' }).click();
    await page.getByRole('heading', { name: 'Refusals before a ban' }).waitFor();
  });

  it('warns that revoking the signed-in key signs out, and signs out', async () => {
    const { id, key } = await store.issue({ name: 'Own', plan: 'business', role: 'admin' });
    const { page } = await open(`/${id}`, { apiKey: key });
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoking it signs you out at once.').waitFor();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  });

  it('says that there is no such key', async () => {
    const { page } = await open('/00000000-0000-4000-8000-000000000000');
    await page.getByRole('heading', { name: 'There is no such key' }).waitFor();
  });
});
