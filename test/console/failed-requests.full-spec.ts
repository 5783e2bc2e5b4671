import { randomUUID } from 'node:crypto';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { FailedRequestRepository } from '../../src/usage/failed-requests/failed-request.repository.js';
import { FailedRequestRecorder } from '../../src/usage/failed-requests/failed-request.recorder.js';
import { admin, APPEARANCES, expectSound, HOSTILE_NAME, open, store, useConsole } from './console-service.js';
import { MINUTE_MS } from '../support/time/clock.js';
import { eventually } from '../support/eventually.js';
import { type Init, send } from '../support/http/http.js';

let shop: IssuedKey;

useConsole();
beforeAll(async () => {
  shop = await store.issue({ name: HOSTILE_NAME, plan: 'business' });
});

/** Sends a request that fails, and returns its id once it is kept. */
async function fail(requestId: string = randomUUID(), target = '/v1/nothing', options: Init = {}) {
  await send(store.url + target, { key: shop.key, headers: { 'X-Request-Id': requestId }, ...options });
  await store.app.get(FailedRequestRecorder).flush();
  return requestId;
}

describe('the search of the console for a request', () => {
  it.each(APPEARANCES)(
    'leads an administrator to what a customer got, by what the customer sent (%s, %s)',
    async (scheme, width) => {
      // Some clients put their host's name before a number.
      const id = await fail(`shop-1/${randomUUID()}`);
      const page = await open('', { scheme, width });
      const field = page.getByRole('searchbox', { name: 'Find a failed request by its id' });
      await field.fill(` "X-Request-Id: ${id}"\n`);
      await field.press('Enter');
      await page.getByRole('heading', { name: 'GET /v1/nothing' }).waitFor();
      await page.getByText('not_found').waitFor();
      await page.getByText(/^There is nothing at \/v1\/nothing/).waitFor();
      await page.getByText('127.0.0.1').waitFor();
      await expectSound(page);
      await page.reload();
      await page.getByRole('link', { name: HOSTILE_NAME }).click();
      await page.waitForURL(`**/admin/keys/${shop.id}`);
      await page.getByRole('heading', { level: 1, name: HOSTILE_NAME }).waitFor();
    },
  );

  it('says of an id that is not kept what is kept, and finds a request that is kept meanwhile', async () => {
    const page = await open('/admin/keys');
    const id = randomUUID();
    await page.getByRole('searchbox', { name: 'Find a failed request' }).fill(id);
    await page.keyboard.press('Enter');
    await page.getByText('No failed request with this id is kept').waitFor();
    await page.getByText(/for 24 hours.* at most 60 a minute for a quota/).waitFor();
    await expectSound(page);
    await fail(id);
    await page.getByRole('searchbox', { name: 'Find a failed request' }).fill(id);
    await page.keyboard.press('Enter');
    await page.reload();
    await page.getByRole('heading', { name: 'GET /v1/nothing' }).waitFor();
  });

  it('shows all requests whose client sent one id again', async () => {
    const id = await fail();
    await fail(id, '/v1/pets?limit=0');
    const page = await open(`/admin/requests/show?id=${id}`);
    await page.getByText('2 failed requests have this id: their client sent it.').waitFor();
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'GET /v1/pets',
      'GET /v1/nothing',
    ]);
    await page.getByRole('link', { name: 'Show them as a list' }).click();
    await page.getByRole('table', { name: 'Failed requests' }).waitFor();
    expect(await page.getByLabel('Request ID').inputValue()).toBe(id);
  });

  it('leads a holder to the requests of its quota only', async () => {
    const [own, other] = [await fail(), await fail(randomUUID(), '/v1/nothing', { key: admin.key })];
    const page = await open('', { apiKey: shop.key });
    await page.getByRole('figure').first().waitFor();
    for (const [id, text] of [
      [own, 'GET /v1/nothing'],
      [other, 'No failed request with this id is kept'],
    ] as const) {
      await page.getByRole('searchbox', { name: 'Find a failed request' }).fill(id);
      await page.keyboard.press('Enter');
      await page.getByText(text).waitFor();
      expect(new URL(page.url()).pathname).toBe('/console/requests/show');
    }
  });
});

describe('the list of failed requests of the console', () => {
  it('filters by status and code, keeps the filters in the address, and counts the missing', async () => {
    store.clock.travelTo(new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS));
    const key = await store.issue({ plan: 'business', name: 'Flood' });
    for (let sent = 0; sent < 61; sent += 1) {
      await send(`${store.url}/v1/nothing`, { key: key.key });
    }
    await fail(randomUUID(), '/v1/pets?limit=0', { key: key.key });
    const page = await open(`/admin/requests?quotaId=${key.quotaId}`);
    await page.getByText('2 more requests of this time failed, but were not kept').waitFor();
    const table = page.getByRole('table', { name: 'Failed requests' });
    expect(await table.getByRole('row').count()).toBe(21);
    await expectSound(page);
    await page.getByLabel('Status').selectOption('400');
    await page.getByText('No failed requests').waitFor();
    await page.getByLabel('Status').selectOption('404');
    await page.getByLabel('Code').selectOption('not_found');
    await page.waitForURL(/status=404&code=not_found/);
    await table.getByRole('link', { name: 'GET /v1/nothing' }).first().click();
    await page.getByText('All failed requests of the quota').waitFor();
    await page.goBack();
    await table.waitFor();
    expect(await page.getByLabel('Code').inputValue()).toBe('not_found');
  });

  it('shows and filters by the external id of the quota', async () => {
    const key = await store.issue({ plan: 'business', name: 'Shop', externalId: 'customer-7' });
    const other = await store.issue({ plan: 'business', name: 'Kiosk', externalId: 'customer-8' });
    await fail(randomUUID(), '/v1/pets?limit=0', { key: other.key });
    await fail(randomUUID(), '/v1/pets?limit=0', { key: key.key });
    const page = await open('/admin/requests');
    const table = page.getByRole('table', { name: 'Failed requests' });
    await table.getByText('customer-8').waitFor();
    await page.getByLabel('External ID').fill('customer-7');
    await page.waitForURL(/externalId=customer-7/);
    await table.getByText('customer-8').waitFor({ state: 'detached' });
    await expectSound(page);
    expect(await table.getByRole('row').count()).toBe(2);
    await table.getByRole('link', { name: 'GET /v1/pets' }).click();
    await page.getByRole('link', { name: 'customer-7' }).click();
    await page.waitForURL(/admin\/requests\?externalId=customer-7/);
  });

  it('sends no request for a part of an id, but says so at the field', async () => {
    const page = await open('/admin/requests');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    await page.getByLabel('Key ID').fill('Yiye');
    await page.getByText('Enter a complete key ID').waitFor();
    await page.getByLabel('Status').selectOption('404');
    await page.waitForURL('**/admin/requests?status=404');
    await page.getByLabel('Key ID').fill(shop.id);
    await page.waitForURL(/keyId=/);
    expect(sent.filter((url) => url.includes('Yiye'))).toEqual([]);
    expect(await page.getByText('could not be loaded').count()).toBe(0);
  });

  it('has in its fields the filters of the address, whatever was typed before', async () => {
    const page = await open('/admin/requests');
    const field = page.getByLabel('Request ID');
    await field.fill('shop-1');
    await page.waitForURL('**requestId=shop-1');
    await field.fill('shop-12');
    await page.getByRole('link', { name: 'Failed requests' }).last().click();
    await page.waitForURL('**/admin/requests');
    await eventually(async () => expect(await field.inputValue()).toBe(''));
    await page.getByLabel('Status').selectOption('404');
    await page.waitForURL('**/admin/requests?status=404');
    await page.goBack();
    await eventually(async () => expect(await field.inputValue()).toBe('shop-1'));
  });

  it('shows a holder its own only, without addresses', async () => {
    const id = await fail(randomUUID(), '/v1/pets?limit=0');
    await fail(randomUUID(), '/v1/of-another', { key: admin.key });
    const page = await open('/requests', { apiKey: shop.key, scheme: 'dark', width: 'phone' });
    await page
      .getByText(/limit must be/)
      .first()
      .waitFor();
    expect(await page.getByText('/v1/of-another').count()).toBe(0);
    expect(await page.getByText('127.0.0.1').count()).toBe(0);
    await expectSound(page);
    await page.getByLabel('Request ID').fill(id);
    await page.waitForURL(`**requestId=${id}`);
    await page.getByRole('link', { name: 'GET /v1/pets' }).first().click();
    await page.getByRole('heading', { name: 'GET /v1/pets' }).waitFor();
    await expectSound(page);
  });
});

describe('the page of a key', () => {
  it('shows its last five failed requests, and leads to all', async () => {
    const key = await store.issue({ plan: 'business', name: 'Often wrong' });
    for (let number = 0; number < 6; number += 1) {
      await fail(randomUUID(), `/v1/nothing-${number}`, { key: key.key });
    }
    const page = await open(`/admin/keys/${key.id}`);
    const panel = page.getByRole('region', { name: 'Failed requests' });
    await panel.getByRole('link', { name: 'GET /v1/nothing-5' }).waitFor();
    expect(await panel.getByText(/GET/).count()).toBe(5);
    await panel.getByRole('link', { name: 'Show all' }).click();
    await page.getByRole('table').getByRole('link', { name: 'GET /v1/nothing-0' }).waitFor();
    expect(await page.getByRole('table').getByRole('row').count()).toBe(7);
  });
});

describe('an error of the console', () => {
  it('has the id of its request, which leads there', async () => {
    const page = await open('/admin/plans');
    jest.spyOn(store.app.get(FailedRequestRepository), 'page').mockRejectedValueOnce(new Error('A defect'));
    // The page has another link of this name, alone until the signed-in key has loaded.
    const navigation = page.getByRole('navigation', { name: 'Administration' });
    await navigation.getByRole('link', { name: 'Failed requests' }).click();
    const notice = page.getByRole('alert');
    await notice.getByText(/Something went wrong on our side. If the problem persists, contact us/).waitFor();
    await expectSound(page);
    const id = (await notice.getByRole('link').textContent()) ?? '';
    expect((await notice.textContent())?.split(id)).toHaveLength(2);
    await store.app.get(FailedRequestRecorder).flush();
    await notice.getByRole('link').click();
    await page.getByText('internal_error').waitFor();
    await page.getByText('listAllFailedRequests').waitFor();
  });
});
