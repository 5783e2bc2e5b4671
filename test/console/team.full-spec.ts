import type { Page } from 'playwright-core';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import { DAY_MS } from '../support/time/clock.js';
import { APPEARANCES, expectSound, HOSTILE_NAME, open, store, useConsole } from './console-service.js';
import { send } from '../support/http/http.js';

const SCOPES = ['pets:read', 'pets:write', 'keys:write'] as const;

useConsole();

/** Issues a key that manages the keys of its quota. */
const issueHolder = (input: Parameters<typeof store.issue>[0] = {}) =>
  store.issue({ plan: 'business', name: 'Ann', scopes: [...SCOPES], ...input });
const issueBy = async ({ key }: IssuedKey, body: object): Promise<IssuedKey> =>
  (await send(`${store.url}/v1/keys`, { method: 'POST', key, body })).json;
const fetchStatus = async (key: string) => (await send(`${store.url}/v1/rate-limit`, { key })).status;
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const names = (page: Page) => page.getByRole('row').locator('bdi').allTextContents();

describe("the page of the console with a team's keys", () => {
  it('is there for keys with the scope keys:write alone', async () => {
    const holder = await issueHolder();
    const page = await open('', { apiKey: holder.key });
    await page.getByRole('link', { name: 'Team keys' }).click();
    await page.getByText('No keys yet').waitFor();
    await page.getByText('1 of 20 keys are in use').waitFor();
    const other = await store.issue();
    const without = await open('/team', { apiKey: other.key });
    await without.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(await without.getByRole('link', { name: 'Team keys' }).count()).toBe(0);
  });

  it('lists what holders issued on the quota, the valid keys first', async () => {
    const holder = await issueHolder();
    const first = await issueBy(holder, { name: 'First' });
    await issueBy(holder, { name: 'Second', scopes: ['pets:read'], allowedNetworks: ['203.0.113.0/24'] });
    await send(`${store.url}/v1/keys/${first.id}/revoke`, { method: 'POST', key: holder.key });
    const page = await open('/team', { apiKey: holder.key });
    await page.getByText('2 of 20 keys are in use').waitFor();
    expect(await names(page)).toEqual(['Second', 'First']);
    const second = page.getByRole('row', { name: /Second/ });
    for (const text of ['pets:read', '203.0.113.0/24', 'active', 'Your key']) {
      await second.getByText(text, { exact: true }).waitFor();
    }
    expect(await second.getByText('Never', { exact: true }).count()).toBe(2);
    await page.getByText(`${first.prefix}…${first.lastFour}`).waitFor();
    expect(await page.getByRole('button', { name: /^Revoke/ }).count()).toBe(1);
  });

  it.each(APPEARANCES)(
    'is accessible and fits the screen, with its dialogs (%s, %s)',
    async (scheme, width) => {
      const holder = await issueHolder({ expiresAt: new Date(Date.now() + 60 * DAY_MS) });
      await issueBy(holder, { name: HOSTILE_NAME });
      await issueBy(holder, { name: 'W'.repeat(255), scopes: ['pets:read'] });
      const page = await open('/team', { apiKey: holder.key, scheme, width });
      await page.getByText(HOSTILE_NAME).waitFor();
      await expectSound(page);
      await press(page, 'Issue a key');
      await page.getByRole('dialog').getByText('Selected', { exact: true }).click();
      await page.getByLabel('Add animals').waitFor();
      await expectSound(page);
      await page.keyboard.press('Escape');
      await press(page, `Revoke ${HOSTILE_NAME}`);
      await page.getByText('This cannot be undone').waitFor();
      await expectSound(page);
      await page.keyboard.press('Escape');
      await page
        .getByRole('button', { name: `Revoke ${HOSTILE_NAME}` })
        .and(page.locator(':focus'))
        .waitFor();
    },
  );
});

describe("the dialog that issues a key for a holder's team", () => {
  it('offers what the key of the holder may give, and shows the new key once', async () => {
    const expiresAt = new Date(Date.now() + 60 * DAY_MS);
    const holder = await issueHolder({ expiresAt, allowedNetworks: ['127.0.0.0/8'] });
    const page = await open('/team', { apiKey: holder.key });
    await press(page, 'Issue a key');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Leave empty to allow those of your key: 127.0.0.0/8').waitFor();
    expect(await dialog.getByLabel('Expires').locator('option').allTextContents()).toEqual([
      'With your key',
      'In 30 days',
      'At a time…',
    ]);
    await dialog.getByText('Selected', { exact: true }).click();
    const choices = dialog.getByRole('checkbox');
    await choices.first().waitFor();
    expect(await choices.evaluateAll((boxes) => boxes.map((box) => box.getAttribute('value')))).toEqual([
      'pets:read',
      'pets:write',
    ]);
    await dialog.getByLabel('Read animals').check();
    await dialog.getByLabel('Name').fill('Stock sync');
    await dialog.getByRole('button', { name: 'Issue key' }).click();
    const key = (await page.locator('.new-key').textContent()) ?? '';
    expect(await fetchStatus(key)).toBe(200);
    await press(page, 'I have copied it');
    await page.getByRole('button', { name: 'Issue a key' }).and(page.locator(':focus')).waitFor();
    await page
      .getByRole('row', { name: /Stock sync/ })
      .getByText('pets:read', { exact: true })
      .waitFor();
    expect(await page.content()).not.toContain(key);
  });

  it('shows beside its fields what the service says is wrong', async () => {
    const expiresAt = new Date(Date.now() + 60 * DAY_MS);
    const holder = await issueHolder({ expiresAt, allowedNetworks: ['127.0.0.0/8'] });
    const page = await open('/team', { apiKey: holder.key });
    await press(page, 'Issue a key');
    const dialog = page.getByRole('dialog');
    const action = dialog.getByRole('button', { name: 'Issue key' });
    await action.click();
    await dialog.getByText('Must not be blank').waitFor();
    await page.locator('input:focus').fill('Wide');
    await dialog.getByLabel('Allowed networks').fill('203.0.113.0/24');
    await dialog.getByLabel('Expires').selectOption('At a time…');
    await dialog.getByLabel('Time of expiry').fill('2091-07-01T12:30');
    await action.click();
    await dialog.getByText('Must be within those of your key: 127.0.0.0/8').waitFor();
    await dialog.getByText(/^Must not be after that of your key/).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

describe("the dialog that revokes a key of a holder's team", () => {
  it('names the key, warns that it was used today, and revokes it', async () => {
    const holder = await issueHolder();
    const used = await issueBy(holder, { name: 'Used' });
    const idle = await issueBy(holder, { name: 'Idle' });
    await send(`${store.url}/v1/pets`, { key: used.key });
    await store.app.get(UsageRecorder).flush();
    const page = await open('/team', { apiKey: holder.key });
    const dialog = page.getByRole('dialog');
    await press(page, 'Revoke Idle');
    await dialog.getByText(`${idle.prefix}…${idle.lastFour}`).waitFor();
    await dialog.getByText('Never').waitFor();
    expect(await dialog.getByText('Used today').count()).toBe(0);
    await press(page, 'Cancel');
    await press(page, 'Revoke Used');
    await dialog.getByText('Used', { exact: true }).waitFor();
    await dialog.getByText('Used today').waitFor();
    await press(page, 'Revoke key');
    await page.getByRole('row', { name: /Used.*revoked/ }).waitFor();
    await page.locator('h1:focus', { hasText: 'Team keys' }).waitFor();
    expect(await names(page)).toEqual(['Idle', 'Used']);
    expect([await fetchStatus(used.key), await fetchStatus(idle.key)]).toEqual([401, 200]);
  });
});
