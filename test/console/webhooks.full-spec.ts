import type { ServerResponse } from 'node:http';
import { Webhook as Verifier } from 'standardwebhooks';
import { ENVIRONMENT, type Environment } from '../../src/process/settings/environment.js';
import { admin, APPEARANCES, expectSound, HOSTILE_NAME, open, store, useConsole } from './console-service.js';
import { MINUTE_MS } from '../support/time/clock.js';
import { eventually, until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { respondWith, useReceiver } from '../support/programs/receiver.js';

useConsole();
const receiver = useReceiver();

afterEach(() => store.database.query('DELETE FROM webhooks'));

const create = async (): Promise<string> => {
  const body = { url: receiver.url, events: ['key.revoked'] };
  return (await send(`${store.url}/admin/webhooks`, { method: 'POST', key: admin.key, body })).json.id;
};

/** Causes an event. */
const revokeKey = async () =>
  send(`${store.url}/admin/keys/${(await store.issue()).id}/revoke`, { method: 'POST', key: admin.key });

describe('the page of webhooks of the console', () => {
  it('creates a webhook, says beside the fields what is wrong, and shows the secret once', async () => {
    const page = await open('/admin/webhooks', { scheme: 'dark', width: 'phone' });
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('ftp://ops.example/');
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByText('Choose at least one').waitFor();
    await dialog.getByLabel('A key is revoked').check();
    await dialog.getByLabel('A quota is banned').check();
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByText(/^Must be an http\(s\) address/).waitFor();
    await expectSound(page);
    const settings = store.app.get<Environment>(ENVIRONMENT);
    const setting = jest.replaceProperty(settings, 'WEBHOOK_ALLOW_PRIVATE_ADDRESSES', false);
    await page.locator('input:focus').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog
      .getByText('127.0.0.1 is a private address. Set WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true')
      .waitFor();
    setting.restore();
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    const secret = (await page.locator('.new-key').textContent()) ?? '';
    expect(secret).toMatch(/^whsec_/);
    await expectSound(page);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Leave without the secret?' }).waitFor();
    await page.getByRole('button', { name: 'Back to the secret' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.locator('button:focus', { hasText: 'New webhook' }).waitFor();
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByText('No deliveries').waitFor();
    await revokeKey();
    await page.reload();
    await page.getByRole('cell', { name: 'A key is revoked' }).waitFor();
    await expectSound(page);
    await page.getByRole('cell', { name: 'delivered' }).waitFor();
    const [request] = receiver.received;
    new Verifier(secret).verify(request?.body ?? '', request?.headers as Record<string, string>);
    expect(await page.content()).not.toContain(secret);
  });
});

describe('the page of one webhook of the console', () => {
  it.each(APPEARANCES)(
    'sends a test event, and shows its payload and what the receiver responded (%s, %s)',
    async (scheme, width) => {
      receiver.respond = (response) => response.writeHead(202).end(HOSTILE_NAME);
      const page = await open(`/admin/webhooks/${await create()}`, { scheme, width });
      await page.getByText('No deliveries').waitFor();
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByText('The test event was delivered').waitFor();
      await page.getByRole('cell', { name: 'A test event' }).waitFor();
      await page.getByRole('cell', { name: 'delivered' }).waitFor();
      await page.getByRole('cell', { name: '202', exact: true }).waitFor();
      await expectSound(page);
      await page.getByRole('button', { name: 'A test event', exact: true }).click();
      const drawer = page.getByRole('dialog', { name: 'Delivery' });
      await drawer.getByText('Status 202').waitFor();
      await drawer.getByText(HOSTILE_NAME).waitFor();
      await drawer.getByText('"type": "webhook.test"').waitFor();
      await drawer.getByText(receiver.received[0]?.headers['webhook-id'] ?? 'none').waitFor();
      await expectSound(page);
      await page.keyboard.press('Escape');
      await page.locator('button:focus', { hasText: 'A test event' }).waitFor();
    },
  );

  it('shows a test event in flight, and its result on whatever page the reader is by then', async () => {
    const responses: ServerResponse[] = [];
    receiver.respond = (response) => void responses.push(response);
    const page = await open(`/admin/webhooks/${await create()}?state=failed`);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('cell', { name: 'pending' }).waitFor();
    await until(() => responses.length === 1);
    expect(await page.getByText('next try in').count()).toBe(0);
    await page.getByRole('link', { name: 'Audit' }).last().click();
    await page.waitForURL('**/admin/audit');
    responses[0]?.writeHead(204).end();
    await page.getByText('The test event was delivered').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/admin/audit');
  });

  it('edits the webhook, pauses it and resumes it', async () => {
    const page = await open(`/admin/webhooks/${await create()}`, { scheme: 'dark', width: 'phone' });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog.getByLabel('URL').inputValue()).toBe(receiver.url);
    await dialog.getByLabel('URL').fill('ftp://ops.example/');
    await dialog.getByLabel('A key is rotated').check();
    await dialog.getByLabel('All events').check();
    expect(await dialog.getByLabel('A key is rotated').isDisabled()).toBe(true);
    await dialog.getByLabel('All events').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/^Must be an http\(s\) address/).waitFor();
    await expectSound(page);
    await dialog.getByLabel('URL').fill('https://new.example/hook');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('https://new.example/hook').waitFor();
    await page.getByText('A key is rotated').waitFor();
    // The second click of a double click does not resume it.
    await page.getByRole('button', { name: 'Pause' }).dblclick({ delay: 50 });
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByText(/by an administrator\. No events are queued for it/).waitFor();
    expect(await page.getByRole('button', { name: 'Send a test event' }).isDisabled()).toBe(true);
    await expectSound(page);
    await page.goto(`${store.url}/console/admin/webhooks`);
    await page.getByRole('cell', { name: 'paused' }).waitFor();
    await expectSound(page);
    await page.getByRole('link', { name: 'https://new.example/hook' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('active').waitFor();
    await page.goto(`${store.url}/console/admin/audit`);
    await page.getByRole('cell', { name: 'Changed a webhook' }).first().waitFor();
  });

  it('shows why a delivery failed, and sends it again', async () => {
    receiver.respond = respondWith(500);
    const id = await create();
    await revokeKey();
    // As after the last attempt.
    await eventually(async () => {
      const failed = await store.database.query(
        "UPDATE webhook_deliveries SET state = 'failed', next_attempt_at = NULL WHERE last_failure IS " +
          'NOT NULL RETURNING 1',
      );
      expect(failed).toHaveLength(1);
    });
    const page = await open(`/admin/webhooks/${id}`);
    await page.getByText('The response was 500').waitFor();
    await page.getByRole('cell', { name: 'failed' }).waitFor();
    await expectSound(page);
    receiver.reset();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('cell', { name: 'delivered' }).waitFor();
  });

  it.each(APPEARANCES)(
    'shows on list and page that the last attempt failed, and when the next is made (%s, %s)',
    async (scheme, width) => {
      receiver.respond = respondWith(500);
      await create();
      await revokeKey();
      await eventually(async () =>
        expect(
          await store.database.query('SELECT 1 FROM webhook_deliveries WHERE last_failure IS NOT NULL'),
        ).toHaveLength(1),
      );
      const page = await open('/admin/webhooks', { scheme, width });
      await page.getByText('failing: 500').waitFor();
      await page.getByText(/^Next try in \d+ s$/).waitFor();
      await expectSound(page);
      await page.getByRole('link', { name: receiver.url }).click();
      await page.getByRole('heading', { name: receiver.url, level: 1 }).waitFor();
      await page.getByText('failing: 500').waitFor();
      await page.getByText(/^Next try in \d+ s$/).waitFor();
      await page.getByText('The response was 500').first().waitFor();
      await expectSound(page);
      expect(await page.getByText('active').count()).toBe(0);
    },
  );

  it('shows why the service paused the webhook, on list and page', async () => {
    receiver.respond = respondWith(410);
    const id = await create();
    const page = await open(`/admin/webhooks/${id}`);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('The test event was not delivered').waitFor();
    await page.getByText(/because the receiver responded with 410\. No events are queued/).waitFor();
    await page.getByText('paused: gone').waitFor();
    await expectSound(page);
    await page.goto(`${store.url}/console/admin/webhooks`);
    await page.getByRole('cell', { name: 'paused: gone' }).waitFor();
    await page.goto(`${store.url}/console/admin/audit`);
    await page.getByRole('cell', { name: 'Paused a webhook' }).waitFor();
  });

  it('creates a webhook that is limited to a quota, and says beside the field what is wrong', async () => {
    const { quotaId } = await store.issue();
    const page = await open('/admin/webhooks', { scheme: 'dark', width: 'phone' });
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByLabel('All events').check();
    await dialog.getByLabel('Only events of a quota').fill('mine');
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByText('Must be the id of a quota').waitFor();
    await expectSound(page);
    await dialog.getByLabel('Only events of a quota').fill(quotaId);
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('cell', { name: `Quota …${quotaId.slice(-8)}` }).waitFor();
    await expectSound(page);
  });

  it('shows that a delivery in flight ends, even if the clock of the service is a minute ahead', async () => {
    const responses: ServerResponse[] = [];
    receiver.respond = (response) => void responses.push(response);
    store.clock.travel(MINUTE_MS);
    const id = await create();
    await revokeKey();
    await until(() => responses.length === 1);
    const page = await open(`/admin/webhooks/${id}`);
    await page.getByRole('cell', { name: 'pending' }).waitFor();
    responses[0]?.writeHead(204).end();
    await page.getByRole('cell', { name: 'delivered' }).waitFor();
    store.clock.travel(-MINUTE_MS);
  });

  it('rotates the secret of the webhook, and deletes it', async () => {
    const id = await create();
    const page = await open(`/admin/webhooks/${id}`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await expectSound(page);
    await dialog.getByRole('button', { name: 'Rotate secret' }).click();
    expect(await page.locator('.new-key').textContent()).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText(/signs too until/).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByText('No webhooks yet').waitFor();
    await page.goto(`${store.url}/console/admin/audit`);
    await page.getByRole('cell', { name: 'Deleted a webhook' }).waitFor();
    await expectSound(page);
  });
});
