import type { Page } from 'playwright-core';
import type { CreateKeyInput } from '../../src/keys/key.schemas.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { DAY_MS } from '../support/time/clock.js';
import { admin, expectSound, open, reconnect, signIn, store, useConsole } from './console-service.js';
import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { showOn } from '../support/programs/browser.js';

const PLANS_URL = /\/admin\/plans\?/;
const OWN = { name: 'Own', plan: 'business', role: 'admin' } as const;

useConsole();

/** Issues a key and opens its page. */
async function openKey(input: Partial<CreateKeyInput> = {}) {
  const issued = await store.issue(input);
  return { ...issued, page: await open(`/admin/keys/${issued.id}`) };
}

/** Issues a key of an administrator and opens its page with the key itself. */
async function openOwnKey() {
  const issued = await store.issue(OWN);
  return { ...issued, page: await open(`/admin/keys/${issued.id}`, { apiKey: issued.key }) };
}

async function fetchStatus(key: string): Promise<number> {
  return (await send(`${store.url}/v1/rate-limit`, { key })).status;
}

async function createPet(key: string): Promise<number> {
  const body = { name: 'Rex', categoryId: 1 };
  return (await send(`${store.url}/v1/pets`, { method: 'POST', key, body })).status;
}

/** Issues a key, and sends what bans it. */
async function issueBanned(name: string) {
  const issued = await store.issue({ name, plan: 'enterprise', perMinute: 1, perDay: 100 });
  for (let request = 0; request < requestsBeforeBan(1); request += 1) {
    await send(`${store.url}/v1/pets`, { key: issued.key });
  }
  return issued;
}

/** Returns the keys of a quota, the oldest first. */
async function listKeysOf(quotaId: string): Promise<{ id: string; name: string }[]> {
  return (await send(`${store.url}/admin/keys?quotaId=${quotaId}`, { key: admin.key })).json;
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click();
const nameField = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true });
/** The panel with what is stored of the key. */
const facts = (page: Page) => page.getByRole('region', { name: 'Key', exact: true });
/** The text of a new key, which a dialog shows once. */
const newKey = async (page: Page) => (await page.locator('.new-key').textContent()) ?? '';

describe("a key's page of the console", () => {
  it('lifts a ban, which the list and the traffic show until then', async () => {
    await issueBanned('Banned shop');
    const page = await open('/admin/keys?banned=yes');
    const row = page.getByRole('row', { name: /Banned shop/ });
    await row.getByText('Banned', { exact: true }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByRole('link', { name: 'Traffic' }).click();
    await page.getByRole('region', { name: 'Banned now' }).getByRole('link', { name: 'Banned shop' }).click();
    await page.getByRole('heading', { name: 'Banned', exact: true }).waitFor();
    await press(page, 'Lift ban');
    await confirm(page, 'Lift ban');
    await page.getByRole('heading', { name: 'Denials before a ban' }).waitFor();
    await page.locator('h1:focus', { hasText: 'Banned shop' }).waitFor();
    await page.getByText('Lifted a ban').waitFor();
    await page.getByRole('link', { name: 'Traffic' }).click();
    await page.getByText('No key is banned').waitFor();
    await page.goto(`${store.url}/console/admin/keys?banned=yes`);
    await page.getByText('No key matches').waitFor();
  });

  it('says in its header that a key is banned, instead of active', async () => {
    const { id } = await issueBanned('Now denied');
    const page = await open(`/admin/keys/${id}`);
    await page.getByRole('heading', { name: 'Banned', exact: true }).waitFor();
    await page.getByText('Last used', { exact: true }).waitFor();
    // The other one is the title of the panel with the end of the ban.
    expect(await page.getByText('Banned', { exact: true }).count()).toBe(2);
    expect(await page.getByText('active', { exact: true }).count()).toBe(0);
  });

  it.each([
    ['is revoked', 'This key is revoked', 'revoked_at = now()'],
    ['has expired', 'This key has expired', "expires_at = now() - interval '1 hour'"],
  ])('begins with the fact that a key %s instead of what is left', async (_what, title, change) => {
    const { id } = await store.issue({ name: 'Ended' });
    await store.database.query(`UPDATE api_keys SET ${change} WHERE id = $1`, [id]);
    const page = await open(`/admin/keys/${id}`);
    await page.getByRole('alert').getByText(title).waitFor();
    await page.getByText('No other keys').waitFor();
    expect(await page.getByRole('button', { name: /^(Change plan|Issue another key)$/ }).count()).toBe(0);
    await page.getByText(/requests with this key get 401/).waitFor();
    await page.getByText('Last used', { exact: true }).waitFor();
    expect(await page.getByText(/left$/).count()).toBe(0);
    await expectSound(page);
  });

  it('suspends a key, says since when it is denied, and resumes it', async () => {
    const { key, page } = await openKey({ name: 'Unpaid' });
    await press(page, 'Suspend');
    await page.getByRole('dialog').getByText('Its expiry goes on.').waitFor();
    await expectSound(page);
    await confirm(page, 'Suspend key');
    await page.getByRole('alert').getByText('This key is suspended').waitFor();
    await page.getByText(/requests with this key get 401, until you resume it/).waitFor();
    await page.locator('h1:focus', { hasText: 'Unpaid' }).waitFor();
    await page.getByText('Suspended a key').waitFor();
    await until(async () => (await fetchStatus(key)) === 401);
    expect(await page.getByRole('button', { name: 'Suspend', exact: true }).count()).toBe(0);
    for (const name of ['Restrict', 'Rotate', 'Revoke']) {
      await page.getByRole('button', { name, exact: true }).waitFor();
    }
    await expectSound(page);
    await page.goto(`${store.url}/console/admin/keys?state=suspended`);
    await page
      .getByRole('row', { name: /Unpaid/ })
      .getByText('suspended', { exact: true })
      .waitFor();
    await page.getByRole('link', { name: 'Unpaid' }).click();
    await press(page, 'Resume');
    await confirm(page, 'Resume key');
    await page.getByRole('button', { name: 'Suspend', exact: true }).waitFor();
    await until(async () => (await fetchStatus(key)) === 200);
  });

  it('warns before it suspends the signed-in key, and then signs out', async () => {
    const { page } = await openOwnKey();
    await press(page, 'Suspend');
    await page.getByText('You are signed in with this key').waitFor();
    await confirm(page, 'Suspend key');
    await page.getByLabel('API key').waitFor();
  });

  it('shows the external id of the quota, changes it, and leads to the keys that have it', async () => {
    const { quotaId, page } = await openKey({ name: 'Named', externalId: 'customer-7' });
    await press(page, 'Change plan');
    const field = page.getByRole('textbox', { name: 'External id' });
    expect(await field.inputValue()).toBe('customer-7');
    await field.fill('customer-8');
    await expectSound(page);
    await confirm(page, 'Change plan');
    await facts(page).getByRole('link', { name: 'customer-8' }).click();
    await page.getByRole('row', { name: /Named.*customer-8/ }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(page.url()).toContain('externalId=customer-8');
    await page.getByRole('link', { name: 'Named' }).click();
    await page.getByText('Changed the external id of a quota').waitFor();
    await press(page, 'Change plan');
    await field.fill('');
    await confirm(page, 'Change plan');
    await facts(page).getByText('None', { exact: true }).waitFor();
    const { json } = await send(`${store.url}/admin/quotas/${quotaId}`, { key: admin.key });
    expect(json.externalId).toBeNull();
  });

  it('has the id and the last four characters of the key to copy, and names it in its dialogs', async () => {
    const { id, prefix, lastFour } = await store.issue({ name: 'Copied' });
    const page = await open(`/admin/keys/${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    for (const [button, text] of [
      ['Copy ID', id],
      ['Copy last four', lastFour],
    ] as const) {
      await press(page, button);
      await page.getByRole('button', { name: 'Copied', exact: true }).last().waitFor();
      await until(async () => (await page.evaluate('navigator.clipboard.readText()')) === text);
    }
    for (const name of ['Rename', 'Change plan', 'Restrict', 'Rotate', 'Revoke']) {
      await press(page, name);
      await page.getByRole('dialog').getByText(`Copied ${prefix}…${lastFour}`).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  it('shows the audit and the failed requests on a phone only when the reader opens them', async () => {
    const { page } = await openKey({ name: 'Pocket' });
    await page.getByText('Issued a key').waitFor();
    await showOn(page, 'phone');
    await page.getByText('Issued a key').waitFor({ state: 'detached' });
    await press(page, 'Show audit');
    await page.getByText('Issued a key').waitFor();
    await press(page, 'Show failed requests');
    await page.getByText('No failed request with this key is kept.').waitFor();
    await expectSound(page);
    await press(page, 'Hide audit');
    await page.getByText('Issued a key').waitFor({ state: 'detached' });
  });

  it('says that there is no such key', async () => {
    const page = await open('/admin/keys/00000000-0000-4000-8000-000000000000');
    await page.getByRole('heading', { name: 'There is no such key' }).waitFor();
  });

  it('says which scope the signed-in key lacks to read it, or to change it', async () => {
    const { id } = await store.issue();
    const scoped = await store.issue({ ...OWN, scopes: ['pets:read'] });
    const page = await open(`/admin/keys/${id}`, { apiKey: scoped.key });
    await page.getByText('it lacks the scope admin:read').waitFor();
    expect(await page.getByText('This could not be loaded').count()).toBe(0);
    const reader = await store.issue({ ...OWN, scopes: ['admin:read'] });
    const shown = await open(`/admin/keys/${id}`, { apiKey: reader.key });
    for (const name of ['Rename', 'Change plan', 'Restrict', 'Rotate', 'Revoke', 'Issue another key']) {
      await shown.getByRole('button', { name, exact: true, disabled: true }).waitFor();
    }
    await expectSound(shown);
  });

  it('says once that its use could not be loaded, and leaves no skeleton', async () => {
    const { id } = await store.issue();
    const page = await open(`/admin/keys/${id}`, {
      prepare: (each) => each.route(/\/admin\/usage/, (route) => route.abort()),
    });
    await page.getByText('They are loaded together with the requests above.').waitFor();
    expect(await page.getByText('This could not be loaded').count()).toBe(1);
  });
});

describe("the panel of a key's page with the other keys on the quota", () => {
  it('lists the valid keys first, and who issued each', async () => {
    const holder = await store.issue({ name: 'Holder', scopes: ['pets:read', 'keys:write'] });
    for (let number = 1; number < 20; number += 1) {
      await send(`${store.url}/v1/keys`, {
        method: 'POST',
        key: holder.key,
        body: { name: `Team ${number}` },
      });
    }
    const keys = await listKeysOf(holder.quotaId);
    const last = keys.find(({ name }) => name === 'Team 19');
    await send(`${store.url}/admin/keys/${last?.id}/revoke`, { method: 'POST', key: admin.key });
    const page = await open(`/admin/keys/${keys.find(({ name }) => name === 'Team 1')?.id}`);
    const panel = page.getByRole('region', { name: 'Other keys on the quota' });
    await panel.getByText('19 of 20 keys are in use').waitFor();
    expect((await panel.getByRole('link').allTextContents()).slice(0, 2)).toEqual(['Team 18', 'Team 17']);
    expect((await panel.getByRole('link').allTextContents()).slice(-2)).toEqual(['Holder', 'Team 19']);
    expect(await panel.getByText('issued by Holder').count()).toBe(18);
    await page.getByRole('link', { name: 'The holder of another key' }).waitFor();
    await expectSound(page);
  });

  it('issues another key, without a plan of its own', async () => {
    const { page } = await openKey({ name: 'Shared', plan: 'pro' });
    await press(page, 'Issue another key');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('the plan pro, 300 per minute, 10,000 per day').waitFor();
    expect(await dialog.getByLabel('Plan').count()).toBe(0);
    await expectSound(page);
    await nameField(page).fill('Sharer');
    await press(page, 'Issue key');
    expect(await fetchStatus(await newKey(page))).toBe(200);
    await press(page, 'I have copied it');
    await page.locator('button:focus', { hasText: 'Issue another key' }).waitFor();
    await page.getByRole('link', { name: 'Sharer' }).click();
    await page.getByRole('heading', { name: 'Sharer', level: 1 }).waitFor();
    await page.getByText('2 of 20 keys are in use').waitFor();
    await page.getByRole('link', { name: 'Shared', exact: true }).waitFor();
  });
});

describe("the panel of a key's page that tries limits", () => {
  const panel = (page: Page) => page.getByRole('region', { name: 'What if' });

  /** Issues a key that sent 70 requests in one minute, and opens its page. */
  async function openUsedKey() {
    const issued = await store.issue();
    await store.database.query(
      `INSERT INTO usage VALUES ($1, $2, 'minute', date_trunc('minute', now()), 'listPets', false, 70, ` +
        '0, 0, 0, 0, now())',
      [issued.id, issued.quotaId],
    );
    return open(`/admin/keys/${issued.id}`);
  }

  it('shows what a plan would have denied, and the smallest plan that denies none', async () => {
    const page = await openUsedKey();
    await press(page, 'Try limits');
    await panel(page).getByLabel('Plan').selectOption('free');
    await press(page, 'Show what they would have denied');
    await panel(page).getByText('10 (14.29%), in 1 minute on 1 day').waitFor();
    await panel(page)
      .getByText(/: 10 of 70 requests/)
      .waitFor();
    await expectSound(page);
    await panel(page).getByLabel('Plan').selectOption('pro');
    await press(page, 'Show what they would have denied');
    await panel(page).getByText('300 per minute, 10,000 per day', { exact: true }).waitFor();
    await panel(page).getByText('None', { exact: true }).waitFor();
  });

  it('tries limits of your own, and moves the focus to the first that is wrong', async () => {
    const page = await openUsedKey();
    await press(page, 'Try limits');
    await panel(page).getByLabel('Own limit per minute').fill('50');
    await press(page, 'Show what they would have denied');
    await panel(page).getByText('Give both limits or neither').waitFor();
    await page.locator('input:focus').fill('45');
    await press(page, 'Show what they would have denied');
    await panel(page).getByText('50 per minute, 45 per day').waitFor();
    await panel(page).getByText('25 (35.71%), in 1 minute on 1 day').waitFor();
    await panel(page).getByLabel('Own limit per day').fill('2147483648');
    await press(page, 'Show what they would have denied');
    await panel(page)
      .getByText(/perDay must be an integer/)
      .waitFor();
  });

  it('fits a phone in the dark scheme', async () => {
    const page = await openUsedKey();
    await page.emulateMedia({ colorScheme: 'dark' });
    await showOn(page, 'phone');
    await press(page, 'Try limits');
    // Another plan than the key's is chosen at first.
    expect(await panel(page).getByLabel('Plan').inputValue()).toBe('pro');
    await panel(page).getByLabel('Plan').selectOption('free');
    await press(page, 'Show what they would have denied');
    await panel(page)
      .getByText(/: 10 of 70 requests/)
      .waitFor();
    await expectSound(page);
  });
});

describe('the dialogs that change a key', () => {
  it('are accessible in both schemes and on a phone, and return the focus to their buttons', async () => {
    const { id } = await issueBanned('Banned');
    const page = await open(`/admin/keys/${id}`);
    for (const [name, text, colorScheme, width] of [
      ['Rename', 'Requests with the key work as before.', 'light', 'desktop'],
      ['Change plan', 'What was counted in this minute and today is kept.', 'dark', 'desktop'],
      ['Lift ban', 'The ban would end on', 'light', 'desktop'],
      ['Restrict', 'Other requests get 403 and still count', 'light', 'phone'],
      ['Rotate', 'A new key with the same name', 'dark', 'phone'],
      ['Revoke', 'This cannot be undone.', 'light', 'phone'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await showOn(page, width);
      await press(page, name);
      await page.getByRole('dialog').getByText(text).waitFor();
      await expectSound(page);
      await page.keyboard.press('Escape');
      await page.locator('button:focus', { hasText: name }).waitFor();
    }
  });
});

describe('the dialog that renames a key', () => {
  it('begins with the last name and note, forgets cancelled input, and returns the focus', async () => {
    const { page } = await openKey({ name: 'First', note: 'Kept' });
    await press(page, 'Rename');
    await nameField(page).fill('Forgotten, as it is cancelled');
    await press(page, 'Cancel');
    await page.locator('button:focus', { hasText: 'Rename' }).waitFor();
    for (const [before, after] of [
      ['First', 'Second'],
      ['Second', 'Third'],
    ] as const) {
      await press(page, 'Rename');
      await page.getByText('Requests with the key work as before.').waitFor();
      expect(await nameField(page).inputValue()).toBe(before);
      expect(await page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('Kept');
      await nameField(page).fill(after);
      await press(page, 'Save');
      await page.getByRole('heading', { name: after }).waitFor();
      await page.locator('button:focus', { hasText: 'Rename' }).waitFor();
    }
  });

  it('shows the change there and on the page of the audit', async () => {
    const { page } = await openKey({ name: 'Recorded' });
    const audit = page.getByRole('link', { name: 'Show in the audit' });
    await audit.click();
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    await page.goBack();
    await press(page, 'Rename');
    await nameField(page).fill('Recorded again');
    await press(page, 'Save');
    await page.getByRole('heading', { name: 'Recorded again' }).waitFor();
    await page.getByText('Renamed a key').waitFor();
    await audit.click();
    await page.getByRole('table').getByText('Renamed a key').waitFor();
  });
});

describe('the dialog that changes the plan of a key', () => {
  it('moves the focus to the first field that is wrong, and changes the limits', async () => {
    const { page } = await openKey();
    const dialog = page.getByRole('dialog');
    await press(page, 'Change plan');
    await dialog.getByLabel('Own limit per minute').fill('7');
    await confirm(page, 'Change plan');
    await dialog.getByText('Give both limits or neither').waitFor();
    await page.locator('input:focus').fill('70');
    expect(await dialog.getByLabel('Own limit per day').inputValue()).toBe('70');
    await dialog.getByText('7 per minute, 70 per day').waitFor();
    await confirm(page, 'Change plan');
    await page.getByText('of 70 left').waitFor();
    await page.locator('button:focus', { hasText: 'Change plan' }).waitFor();
  });

  it("begins with the key's plan on a page opened by its address, even after 100 other plans", async () => {
    await store.database.query(
      "INSERT INTO plans SELECT 'plan-' || number, 1, 1 FROM generate_series(1, 100) AS number",
    );
    const { page } = await openKey({ plan: 'pro' });
    await press(page, 'Change plan');
    expect(await page.getByRole('dialog').getByLabel('Plan').inputValue()).toBe('pro');
    await store.database.query("DELETE FROM plans WHERE name LIKE 'plan-%'");
  });

  it('shows no form while the plans cannot be loaded', async () => {
    const { page } = await openKey({ plan: 'pro' });
    await page.route(PLANS_URL, (route) => route.abort());
    await press(page, 'Change plan');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This could not be loaded').waitFor();
    expect(await dialog.getByLabel('Plan').count()).toBe(0);
    await page.unroute(PLANS_URL);
    await dialog.getByRole('button', { name: 'Try again' }).click();
    expect(await dialog.getByLabel('Plan').inputValue()).toBe('pro');
  });
});

describe('the dialog that restricts a key', () => {
  it('selects what the key used, saves it with networks, and shows both on the page', async () => {
    const { page, key } = await openKey({ name: 'Restricted' });
    await send(`${store.url}/v1/pets`, { key });
    await store.app.get(UsageRecorder).flush();
    await press(page, 'Restrict');
    await press(page, 'Select the scopes it has used');
    await page.getByText(/^Since .+, successful requests needed pets:read \(1 request\)/).waitFor();
    await page.getByText(/Unused: pets:write, orders:read, orders:write/).waitFor();
    expect(await page.getByLabel('Read animals').isChecked()).toBe(true);
    expect(await page.getByLabel('Add animals').isChecked()).toBe(false);
    expect(await page.getByLabel('Read administration').count()).toBe(0);
    await page.getByLabel('Allowed networks').fill('nonsense');
    await press(page, 'Save');
    await page.getByText('Item 1 must be a network such as').waitFor();
    await page.locator('textarea:focus').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByLabel('Allowed networks').fill('127.0.0.0/8\n2001:db8::/32');
    await press(page, 'Save');
    await facts(page).getByText('127.0.0.0/8, 2001:db8::/32').waitFor();
    await facts(page).getByText('pets:read', { exact: true }).waitFor();
    await page.getByText('add animals, read orders, place orders').waitFor();
    await until(async () => (await createPet(key)) === 403);
  });

  it('keeps what another administrator changed meanwhile', async () => {
    const { page, id } = await openKey({ name: 'Shared' });
    await press(page, 'Restrict');
    await page.getByText('Selected', { exact: true }).click();
    await page.getByLabel('Read animals').check();
    await send(`${store.url}/admin/keys/${id}`, {
      method: 'PATCH',
      key: admin.key,
      body: { allowedNetworks: ['127.0.0.0/8'] },
    });
    await press(page, 'Save');
    await facts(page).getByText('127.0.0.0/8', { exact: true }).waitFor();
    await facts(page).getByText('pets:read', { exact: true }).waitFor();
  });
});

describe('the dialog that rotates a key', () => {
  it('rotates the key with an overlap, never past its expiry, and links both keys', async () => {
    const expiresAt = new Date(Date.now() + 2 * DAY_MS);
    const { page, key } = await openKey({ name: 'Rotated', expiresAt });
    await press(page, 'Rotate');
    await page.getByText('7 days').click();
    await page.getByText('when this key expires anyway').waitFor();
    await page.getByText('In 1 hour', { exact: true }).last().click();
    await page.getByText('Then this key gets 401').waitFor();
    await press(page, 'Rotate key');
    expect([await fetchStatus(await newKey(page)), await fetchStatus(key)]).toEqual([200, 200]);
    await press(page, 'I have copied it');
    await page.getByRole('button', { name: 'Rotate again' }).waitFor();
    await page.locator('h1:focus', { hasText: 'Rotated' }).waitFor();
    await page.getByRole('link', { name: 'Its successor' }).click();
    await page.getByRole('link', { name: 'The key before it' }).waitFor();
  });

  it('keeps the successor of the signed-in key on the screen when that key is rejected', async () => {
    const { page, key } = await openOwnKey();
    await press(page, 'Rotate');
    await page.getByText('Now', { exact: true }).click();
    await page.getByText('Requests with this key get 401 within a second.').waitFor();
    await press(page, 'Rotate key');
    const successor = await newKey(page);
    await until(async () => (await fetchStatus(key)) === 401);
    const rejection = page.waitForResponse((response) => response.status() === 401);
    await reconnect(page);
    await rejection;
    expect(await newKey(page)).toBe(successor);
    await press(page, 'I have copied it');
    await page.getByText(/is no longer valid/).waitFor();
    await signIn(page, successor);
    await page.getByRole('heading', { name: 'Own', level: 1 }).waitFor();
  });
});

describe('the dialog that revokes a key', () => {
  it('names the key and its last use, warns if that was today, and revokes the key', async () => {
    const idle = await openKey({ name: 'Idle' });
    await press(idle.page, 'Revoke');
    const idleDialog = idle.page.getByRole('dialog');
    await idleDialog.getByText('Never').waitFor();
    expect(await idleDialog.getByText('Used today').count()).toBe(0);
    const { key: used, id } = await store.issue({ name: 'Revoked' });
    await send(`${store.url}/v1/pets`, { key: used });
    await store.app.get(UsageRecorder).flush();
    const page = await open(`/admin/keys/${id}`);
    await press(page, 'Revoke');
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`ask_test_…${used.slice(-4)}`).waitFor();
    await dialog.getByText('Just now').waitFor();
    await dialog.getByText('Used today').waitFor();
    await expectSound(page);
    await page.getByText('Requests with this key get 401 within a second. This cannot be undone.').waitFor();
    await press(page, 'Revoke key');
    await page.getByText('Revoked a key').waitFor();
    await page.locator('h1:focus', { hasText: 'Revoked' }).waitFor();
    expect(await fetchStatus(used)).toBe(401);
  });

  it('warns that revoking the signed-in key signs out, and signs out', async () => {
    const { page } = await openOwnKey();
    await press(page, 'Revoke');
    await page.getByText('Revoking it signs you out at once.').waitFor();
    await press(page, 'Revoke key');
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  });
});
