import type { IssuedKey } from '../../src/admin/key.schemas.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { accessibilityFaults, ConsoleBrowser, type ConsolePage } from '../support/console.js';

let store: TestApplication;
let browser: ConsoleBrowser;
let admin: IssuedKey;

beforeAll(async () => {
  store = await startApplication();
  browser = await ConsoleBrowser.start(store.url);
  admin = await store.issue({ name: 'Administrator', plan: 'business', role: 'admin' });
});
afterAll(async () => {
  await browser.close();
  await store.close();
});

function open(path: string, apiKey = admin.key): Promise<ConsolePage> {
  return browser.open(`/admin/keys${path}`, { apiKey });
}

describe('the dialog that shows a new key', () => {
  it('says how to copy the key on a page without a clipboard, as over plain HTTP', async () => {
    const { page, complaints } = await open('');
    await page.addInitScript('delete Navigator.prototype.clipboard; delete Crypto.prototype.randomUUID;');
    await page.reload();
    await page.getByRole('button', { name: 'Issue key' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Without clipboard');
    await page.getByRole('dialog').getByRole('button', { name: 'Issue key' }).click();
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copying failed: select the key and copy it').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
