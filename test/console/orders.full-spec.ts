import type { Page } from 'playwright-core';
import { startApplication } from '../support/service/application.js';
import { admin, APPEARANCES, expectSound, open, store, useConsole } from './console-service.js';

useConsole();
beforeAll(() =>
  store.database.query(`INSERT INTO pets (id, name, category_id) VALUES (9007199254740993, 'Biscuit', 1)`),
);
beforeEach(() => store.database.query('TRUNCATE orders RESTART IDENTITY CASCADE'));

/** Places orders of 1,000, 2,000 and so on. */
async function placeOrders(count: number): Promise<void> {
  await store.database.query(
    'INSERT INTO orders (quota_id, pet_id, quantity) SELECT $1, 9007199254740993, n * 1000 FROM ' +
      'generate_series(1, $2) n',
    [admin.quotaId, count],
  );
}

async function fillForm(page: Page, petId: string): Promise<void> {
  await page.getByRole('button', { name: 'Place an order' }).click();
  await page.getByLabel('Animal id').fill(petId);
}

const place = (page: Page) => page.getByRole('button', { name: 'Place order' }).click();

describe('the page of orders of the console', () => {
  it.each(APPEARANCES)('says that the key may not read orders (%s, %s)', async (scheme, width) => {
    const { key } = await store.issue({ scopes: ['pets:read'] });
    const page = await open('/orders', { apiKey: key, scheme, width });
    await page.getByText('Not allowed with this key').waitFor();
    await page.getByText('Your key may not read orders: it lacks the scope orders:read').waitFor();
    await expectSound(page);
  });

  it('says that there are no orders, and none with a status', async () => {
    const page = await open('/orders');
    await page.getByText('No orders yet').waitFor();
    await page.getByText('Approved', { exact: true }).click();
    await page.getByText('No order is approved').waitFor();
    expect(page.url()).toBe(`${store.url}/console/orders?status=approved`);
  });

  it('lists the orders of the key by page and status', async () => {
    await placeOrders(21);
    await store.database.query(
      `UPDATE orders SET status = 'delivered', complete = true, ship_date = '2027-01-01T00:00:00Z' ` +
        'WHERE id = 2',
    );
    const page = await open('/orders');
    await page.getByRole('row', { name: '1 9007199254740993 1,000 — placed No' }).first().waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('row', { name: '21 9007199254740993 21,000 — placed No' }).waitFor();
    await page.getByText('Delivered', { exact: true }).click();
    await page
      .getByRole('row', { name: '2 9007199254740993 2,000 1 Jan 2027, 01:00 delivered Yes' })
      .waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.reload();
    await page.getByRole('row', { name: /delivered Yes$/ }).waitFor();
  });

  it('places an order with its ship date in the time zone of the reader', async () => {
    const page = await open('/orders');
    await fillForm(page, '9007199254740993');
    await page.getByLabel('Quantity').fill('3');
    await page.getByLabel('Ship date').fill('2027-01-01T09:30');
    await place(page);
    await page.getByText('Order 1 is placed').waitFor();
    await expectSound(page);
    await page.getByRole('row', { name: '1 9007199254740993 3 1 Jan 2027, 09:30 placed No' }).waitFor();
    const orders = await store.database.query('SELECT ship_date FROM orders');
    expect(orders).toEqual([{ ship_date: new Date('2027-01-01T08:30:00Z') }]);
  });

  it('shows what the service finds wrong beside each field, and a date that is not complete', async () => {
    const page = await open('/orders');
    await fillForm(page, '7');
    await page.getByLabel('Ship date').press('1');
    await place(page);
    await page.getByText('Complete the date and time, or clear them').waitFor();
    await page.getByLabel('Ship date').fill('');
    await place(page);
    await page.getByText('No animal has the id 7').waitFor();
    await page.getByLabel('Quantity').fill('0');
    await place(page);
    await page.getByText('Must be an integer from 1 to 2147483647, without quotes').waitFor();
  });

  it('says that experimental operations are off if they are', async () => {
    const other = await startApplication({ database: store.database, environment: { EXPERIMENTAL: false } });
    try {
      const page = await open('/orders', { url: other.url });
      await fillForm(page, '7');
      await place(page);
      await page.getByText('its experimental operations are off').waitFor();
      await page.getByRole('button', { name: 'Close' }).last().click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    } finally {
      await other.close();
    }
  });
});
