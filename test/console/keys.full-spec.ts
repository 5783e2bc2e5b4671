import type { Page } from 'playwright-core';
import { DAY_MS } from '../support/time/clock.js';
import { admin, expectSound, open, store, useConsole } from './console-service.js';
import { send } from '../support/http/http.js';

useConsole();

/** The panel of a key's page with what is stored of it. */
const facts = (page: Page) => page.getByRole('region', { name: 'Key', exact: true });

describe('the keys page of the console', () => {
  it('keeps the search, the filters, the order and the page in the address', async () => {
    for (let number = 0; number < 22; number += 1) {
      await store.issue({ name: `Fleet ${String(number).padStart(2, '0')}`, plan: 'pro' });
    }
    const page = await open('/admin/keys');
    await page.getByLabel('Name, note, external id, id or last four').fill('fleet');
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
    expect(await page.getByLabel('Name, note, external id, id or last four').inputValue()).toBe('');
  });

  it('issues a key with the external id of its customer, by which the list is searched', async () => {
    const page = await open('/admin/keys');
    await page.getByRole('button', { name: 'Issue key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Searched');
    await dialog.getByLabel('External id').fill('Kunde-Ärzte');
    await dialog.getByLabel('Plan').selectOption('free');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'I have copied it' }).click();
    await page.getByLabel('Name, note, external id, id or last four').fill('kunde-ärz');
    await page.waitForURL(/search=kunde/);
    await page.getByRole('link', { name: 'Ann', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /Searched.*Kunde-Ärzte/ }).waitFor();
  });

  it('finds the keys that expire soon, and those that nobody used for 30 days', async () => {
    await store.issue({ name: 'Watched: idle' });
    await store.database.query("UPDATE api_keys SET created_at = now() - interval '31 days'");
    await store.issue({ name: 'Watched: ends soon', expiresAt: new Date(Date.now() + 29 * DAY_MS) });
    await store.issue({ name: 'Watched: ends later', expiresAt: new Date(Date.now() + 31 * DAY_MS) });
    const page = await open('/admin/keys?search=watched');
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

describe('the list of keys of the console', () => {
  it('shows which of all keys a page has, 20, 50 or 100 of them, as the address says', async () => {
    for (let number = 0; number < 61; number += 1) {
      await store.issue({ name: `Paged ${number}` });
    }
    const page = await open('/admin/keys?search=paged');
    await page.getByText('1–20 of 61').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('21–40 of 61').waitFor();
    await page.getByLabel('Rows on a page').selectOption('50 rows');
    await page.getByText('1–50 of 61').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('51–61 of 61').waitFor();
    await page.reload();
    await page.getByText('51–61 of 61').waitFor();
    expect(page.url()).toMatch(/(?=.*limit=50)(?=.*page=2)/);
    await page.getByLabel('Rows on a page').selectOption('100 rows');
    await page.getByText('1–61 of 61').waitFor();
    expect(await page.getByRole('row').count()).toBe(62);
    await page.getByLabel('Rows on a page').selectOption('20 rows');
    await page.getByText('1–20 of 61').waitFor();
    expect(new URL(page.url()).search).toBe('?search=paged');
  });

  it('has the valid keys first, and tells a key and its successor apart by the masked key', async () => {
    const old = await store.issue({ name: 'Twin' });
    const next = await send(`${store.url}/admin/keys/${old.id}/rotate`, {
      method: 'POST',
      key: admin.key,
      body: { overlapSeconds: 0 },
    });
    await store.issue({ name: 'Twin: another' });
    const page = await open('/admin/keys?search=twin');
    await page.getByRole('row').nth(3).waitFor();
    const names = await page.locator('tbody td:first-child').allTextContents();
    expect(names).toEqual([
      expect.stringMatching(/^Twin: another/),
      `Twin${next.json.prefix}…${next.json.lastFour}`,
      `Twin${old.prefix}…${old.lastFour}`,
    ]);
  });

  it('shows the plan and the ban once for keys on one quota that are beside each other', async () => {
    const { quotaId } = await store.issue({ name: 'Sharing: first', plan: 'pro' });
    const body = { name: 'Sharing: second', quotaId };
    await send(`${store.url}/admin/keys`, { method: 'POST', key: admin.key, body });
    await store.issue({ name: 'Sharing: none', plan: 'pro' });
    const page = await open('/admin/keys?search=sharing');
    await page.getByRole('link', { name: 'Sharing: none' }).waitFor();
    const plans = await page.locator('td:nth-child(2)').allTextContents();
    expect(plans).toEqual(['pro', 'pro', 'Same quota']);
  });

  it('has what a key issued indented below it, and beside the key what that replaced', async () => {
    const issue = async (issuer: { key: string }, name: string) =>
      (await send(`${store.url}/v1/keys`, { method: 'POST', key: issuer.key, body: { name } })).json;
    const rotate = { method: 'POST', key: admin.key, body: { overlapSeconds: 600 } };
    const old = await store.issue({ name: 'Family', scopes: ['pets:read', 'keys:write'] });
    await issue(old, 'Family: branch');
    const next = (await send(`${store.url}/admin/keys/${old.id}/rotate`, rotate)).json;
    await issue(next, 'Family: app');
    const page = await open('/admin/keys?search=family');
    const left = async (text: string) =>
      (await page.getByRole('row', { name: text }).getByRole('link').boundingBox())?.x ?? 0;
    await page.getByRole('link', { name: 'Family: app' }).waitFor();
    expect(await page.locator('tbody td:first-child').allTextContents()).toEqual([
      expect.stringContaining(`…${next.lastFour}`),
      expect.stringContaining(`…${old.lastFour}`),
      expect.stringMatching(/^Family: app/),
      expect.stringMatching(/^Family: branch/),
    ]);
    expect(await left(`…${old.lastFour}`)).toBe(await left(`…${next.lastFour}`));
    expect(await left('Family: branch')).toBeGreaterThan(await left(`…${old.lastFour}`));
    await expectSound(page);
  });
});

describe('the dialog that revokes a key that leaked', () => {
  it('revokes it by the key itself, and shows which it was; an unknown one is an error', async () => {
    const { key } = await store.issue({ name: 'Leaked' });
    const page = await open('/admin/keys');
    await page.getByRole('button', { name: 'Revoke a leaked key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('input').fill('ask_test_nonsense');
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await dialog.getByText('was never issued here').waitFor();
    await expectSound(page);
    await dialog.locator('input').fill(` ${key} `);
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('heading', { name: 'Leaked', level: 1 }).waitFor();
    await page.getByText('Revoked', { exact: true }).first().waitFor();
    expect((await send(`${store.url}/v1/rate-limit`, { key })).status).toBe(401);
  });
});

describe('the dialog that issues a key', () => {
  it('issues it with scopes and networks', async () => {
    const page = await open('/admin/keys');
    await page.getByRole('button', { name: 'Issue key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Narrow');
    await dialog.getByLabel('Plan').selectOption('pro');
    await dialog.getByText('Selected', { exact: true }).click();
    await dialog.getByLabel('Read orders').check();
    await dialog.getByLabel('Allowed networks').fill('203.0.113.0/24');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('link', { name: 'Narrow' }).click();
    await facts(page).getByText('orders:read', { exact: true }).waitFor();
    await facts(page).getByText('203.0.113.0/24', { exact: true }).waitFor();
  });

  it('shows at once that name, plan and a scope are missing, with its actions in view', async () => {
    const page = await open('/admin/keys');
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('button', { name: 'Issue key' }).click();
    const dialog = page.getByRole('dialog');
    const action = dialog.getByRole('button', { name: 'Issue key' });
    expect(await dialog.getByLabel('Plan').inputValue()).toBe('');
    expect(await dialog.getByRole('checkbox').count()).toBe(0);
    await dialog.getByText('Selected', { exact: true }).click();
    await dialog.getByLabel('Manage keys of its quota').waitFor();
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).focus();
    const { y, height } = (await action.boundingBox()) ?? { y: 860, height: 860 };
    expect(y + height).toBeLessThan(860);
    await action.click();
    await dialog.getByText('Select at least one scope').waitFor();
    await dialog.getByText('Choose a plan', { exact: true }).last().waitFor();
    await dialog.getByText('Must not be blank').waitFor();
    await page.locator('input:focus').fill('Shop');
    await action.click();
    await page.locator('select:focus').selectOption('pro');
    await action.click();
    expect(await page.locator('input:focus').getAttribute('value')).toBe('pets:read');
    await expectSound(page);
  });

  it('leaves out scopes of administration that were chosen before the role became client', async () => {
    const page = await open('/admin/keys');
    await page.getByRole('button', { name: 'Issue key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Changed role');
    await dialog.getByLabel('Plan').selectOption('pro');
    await dialog.getByText('Administrator', { exact: true }).click();
    await dialog.getByText('Selected', { exact: true }).click();
    await dialog.getByLabel('Read administration').check();
    await dialog.getByLabel('Read orders').check();
    await dialog.getByText('Client', { exact: true }).click();
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('link', { name: 'Changed role' }).click();
    await facts(page).getByText('orders:read', { exact: true }).waitFor();
  });

  it('says beside the fields what is wrong, in the words of the service too', async () => {
    const page = await open('/admin/keys');
    await page.getByRole('button', { name: 'Issue key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Plan').selectOption('enterprise');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText('This plan needs a limit').first().waitFor();
    await dialog.getByText('Must not be blank').waitFor();
    await page.locator('input:focus').fill('Shop');
    await dialog.getByLabel('Own limit per minute').fill('many');
    await dialog.getByLabel('Own limit per day').fill('100');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText('Enter a whole number of requests').waitFor();
    await page.locator('input:focus').fill('0');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText(/^Must be an integer/).waitFor();
    await expectSound(page);
  });

  it('shows the key once, copies exactly it, and warns before the reader leaves it', async () => {
    const page = await open('/admin/keys', { scheme: 'dark' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Issue key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Issued here');
    await dialog.getByLabel('Plan').selectOption('business');
    await dialog.getByRole('textbox', { name: 'Note' }).fill('First line\nsecond line');
    await dialog.getByLabel('Expires').selectOption('At a time…');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    await dialog.getByText('Complete the date and time').waitFor();
    await page.locator('input:focus').fill('2091-07-01T12:30');
    await expectSound(page);
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    const text = (await page.locator('.new-key').textContent()) ?? '';
    expect((await send(`${store.url}/v1/rate-limit`, { key: text })).status).toBe(200);
    await expectSound(page);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Leave without the key?' }).waitFor();
    await expectSound(page);
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
  });

  it('says how to copy the key on a page without a clipboard, as over plain HTTP', async () => {
    const page = await open('/admin/keys', {
      prepare: (each) =>
        each.addInitScript('delete Navigator.prototype.clipboard; delete Crypto.prototype.randomUUID;'),
    });
    await page.getByRole('button', { name: 'Issue key' }).click();
    await page.getByText('The key works at once.').waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Without clipboard');
    await page.getByRole('dialog').getByLabel('Plan').selectOption('business');
    await page.getByRole('dialog').getByRole('button', { name: 'Issue key' }).click();
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copying failed: select the key and copy it').waitFor();
    await expectSound(page);
  });
});
