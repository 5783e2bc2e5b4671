import { until } from '../support/eventually.js';
import { accessibilityFaults, scrollsSideways } from '../support/browser/console.js';
import { open, store, useConsole } from '../support/browser/console-service.js';
import { send } from '../support/http/http.js';

const KEYS = '/admin/keys';
const PLANS_URL = /\/admin\/plans\?/;

useConsole();

describe('the dialog that shows a new key', () => {
  it('says how to copy the key on a page without a clipboard, as over plain HTTP', async () => {
    const { page, complaints } = await open(KEYS);
    await page.addInitScript('delete Navigator.prototype.clipboard; delete Crypto.prototype.randomUUID;');
    await page.reload();
    await page.getByRole('button', { name: 'Issue key' }).click();
    await page.getByText('The key works at once.').waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Without clipboard');
    await page.getByRole('dialog').getByRole('button', { name: 'Issue key' }).click();
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copying failed: select the key and copy it').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('keeps the successor of the signed-in key on the screen when that key is rejected', async () => {
    const { id, key } = await store.issue({ name: 'Own', plan: 'business', role: 'admin' });
    const { page } = await open(`${KEYS}/${id}`, { apiKey: key });
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('Now', { exact: true }).click();
    await page.getByText('Requests with this key get 401 within a second.').waitFor();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const successor = (await page.locator('.new-key').textContent()) ?? '';
    await until(async () => (await send(`${store.url}/v1/rate-limit`, { key })).status === 401);
    const rejection = page.waitForResponse((response) => response.status() === 401);
    // A browser that is online again reads the rate-limit status at once, not only when the minute ends.
    await page.evaluate("for (const name of ['offline', 'online']) window.dispatchEvent(new Event(name))");
    await rejection;
    expect(await page.locator('.new-key').textContent()).toBe(successor);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText(/is no longer valid/).waitFor();
    await page.getByLabel('API key').fill(successor);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Own', level: 1 }).waitFor();
  });
});

describe('the dialogs that change a key', () => {
  it('are accessible in both schemes and on a phone, and return the focus to their buttons', async () => {
    const { id, key } = await store.issue({ plan: 'enterprise', perMinute: 1, perDay: 100 });
    for (let request = 0; request < 2; request += 1) {
      await send(`${store.url}/v1/pets`, { key });
    }
    const { page, complaints } = await open(`${KEYS}/${id}`);
    for (const [name, text, colorScheme, width] of [
      ['Rename', 'Requests with the key work as before.', 'light', 1280],
      ['Change plan', 'What was counted in this minute and today is kept.', 'dark', 1280],
      ['Lift ban', 'Without it, the ban ends on', 'light', 1280],
      ['Rotate', 'A successor with the same name', 'dark', 360],
      ['Revoke', 'This cannot be undone.', 'light', 360],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.getByRole('button', { name }).click();
      await page.getByRole('dialog').getByText(text).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
      await page.keyboard.press('Escape');
      await page.locator('button:focus', { hasText: name }).waitFor();
    }
    expect(complaints).toEqual([]);
  });
});

describe('the dialog that renames a key', () => {
  it('begins with the last name and note each time, and returns the focus to its button', async () => {
    const { id } = await store.issue({ name: 'First', note: 'Kept' });
    const { page } = await open(`${KEYS}/${id}`);
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    for (const [before, after] of [
      ['First', 'Second'],
      ['Second', 'Third'],
    ] as const) {
      await page.getByRole('button', { name: 'Rename' }).click();
      await page.getByText('Requests with the key work as before.').waitFor();
      expect(await name.inputValue()).toBe(before);
      expect(await page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('Kept');
      await name.fill(after);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: after }).waitFor();
      await page.locator('button:focus', { hasText: 'Rename' }).waitFor();
    }
  });

  it('shows the change on the page of the audit too', async () => {
    const { id } = await store.issue({ name: 'Recorded' });
    const { page } = await open(`${KEYS}/${id}`);
    const audit = page.getByRole('link', { name: 'Show in the audit' });
    await audit.click();
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Recorded again');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Recorded again' }).waitFor();
    await audit.click();
    await page.getByRole('table').getByText('Renamed a key').waitFor();
  });

  it('forgets what was typed when it is cancelled', async () => {
    const { id } = await store.issue({ name: 'Stays' });
    const { page } = await open(`${KEYS}/${id}`);
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    await page.getByRole('button', { name: 'Rename' }).click();
    await name.fill('Typed');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('button:focus', { hasText: 'Rename' }).click();
    expect(await name.inputValue()).toBe('Stays');
  });
});

describe('the dialog that changes the plan of a key', () => {
  it('moves the focus to the first field that is wrong', async () => {
    const { id } = await store.issue({ plan: 'pro' });
    const { page } = await open(`${KEYS}/${id}`);
    await page.getByRole('button', { name: 'Change plan' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Own limit per minute').fill('7');
    await dialog.getByRole('button', { name: 'Change plan' }).click();
    await dialog.getByText('Give both limits or neither').waitFor();
    await page.locator('input:focus').fill('70');
    expect(await dialog.getByLabel('Own limit per day').inputValue()).toBe('70');
  });

  it('begins with the plan of the key on a page opened by its address, even after 100 other plans', async () => {
    const { id } = await store.issue({ plan: 'pro' });
    await store.database.query(
      "INSERT INTO plans SELECT 'plan-' || number, 1, 1 FROM generate_series(1, 100) AS number",
    );
    const { page } = await open(`${KEYS}/${id}`);
    await page.getByRole('button', { name: 'Change plan' }).click();
    expect(await page.getByRole('dialog').getByLabel('Plan').inputValue()).toBe('pro');
    await store.database.query("DELETE FROM plans WHERE name LIKE 'plan-%'");
  });

  it('shows no form while the plans cannot be loaded', async () => {
    const { id } = await store.issue({ plan: 'pro' });
    const { page } = await open(`${KEYS}/${id}`);
    await page.route(PLANS_URL, (route) => route.abort());
    await page.getByRole('button', { name: 'Change plan' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This could not be loaded').waitFor();
    expect(await dialog.getByLabel('Plan').count()).toBe(0);
    await page.unroute(PLANS_URL);
    await dialog.getByRole('button', { name: 'Try again' }).click();
    expect(await dialog.getByLabel('Plan').inputValue()).toBe('pro');
  });
});

describe('the dialog that revokes a key', () => {
  it('warns that revoking the signed-in key signs out, and signs out', async () => {
    const { id, key } = await store.issue({ name: 'Own', plan: 'business', role: 'admin' });
    const { page } = await open(`${KEYS}/${id}`, { apiKey: key });
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoking it signs you out at once.').waitFor();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  });
});

describe("the use on a key's page", () => {
  it('says once that it could not be loaded, and leaves no skeleton', async () => {
    const { id } = await store.issue();
    const { page } = await open(KEYS);
    await page.route(/\/admin\/usage/, (route) => route.abort());
    await page.goto(`${store.url}/console/admin/keys/${id}`);
    await page.getByText('They are loaded together with the requests above.').waitFor();
    expect(await page.getByText('This could not be loaded').count()).toBe(1);
  });
});
