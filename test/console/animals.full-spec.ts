import type { Page } from 'playwright-core';
import { until } from '../support/eventually.js';
import { APPEARANCES, expectSound, open, respond, store, useConsole } from './console-service.js';

useConsole();
beforeEach(() => store.database.query('TRUNCATE pets RESTART IDENTITY CASCADE'));

async function addPets(...pets: { name: string; status?: string }[]): Promise<void> {
  await store.database.query(
    `INSERT INTO pets (name, category_id, status)
     SELECT name, 1, status FROM jsonb_to_recordset($1) AS pet (name text, status pet_status)`,
    [JSON.stringify(pets)],
  );
}

async function fillForm(page: Page, { name, categoryId }: { name: string; categoryId: string }) {
  await page.getByRole('button', { name: 'Add an animal' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Category id').fill(categoryId);
}

const add = (page: Page) => page.getByRole('button', { name: 'Add', exact: true }).click();
const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('link') });

const focused = (page: Page) =>
  page.evaluate('(({ ariaLabel, dataset }) => ariaLabel ?? dataset.path)(document.activeElement)');
/** What a reader of the screen hears of a field beside its label. */
const readDescription = (page: Page, field: string) =>
  page.evaluate(
    `document.querySelector('[data-path="${field}"]').ariaDescribedByElements.map(({ textContent }) => ` +
      `textContent).join(' ')`,
  );

describe('the page of animals of the console', () => {
  it.each(APPEARANCES)('disables what the key may not do, and says why (%s, %s)', async (scheme, width) => {
    const { key } = await store.issue({ scopes: ['pets:read'] });
    const page = await open('/animals', { apiKey: key, scheme, width });
    const button = page.getByRole('button', { name: 'Add an animal', disabled: true });
    await button.waitFor();
    await expectSound(page);
    // Browsers show the focus only after a key press.
    await page.keyboard.press('Tab');
    await button.focus();
    const reason =
      'Your key may not add animals: it lacks the scope pets:write, which an administrator can add.';
    await page.getByRole('tooltip').getByText(reason).waitFor();
    await page.keyboard.press('Enter');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('says that there are no animals, and none with a status', async () => {
    const page = await open('/animals');
    await page.getByText('No animals yet').waitFor();
    await page.getByText('Pending', { exact: true }).click();
    await page.getByText('No animal is pending').waitFor();
  });

  it('shows 20 animals on a page, and leads to the next page and back', async () => {
    await addPets(...Array.from({ length: 21 }, (_, index) => ({ name: `Animal ${index + 1}` })));
    const page = await open('/animals');
    await page.getByText('Animal 20', { exact: true }).waitFor();
    expect(await rows(page).count()).toBe(20);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Animal 21', { exact: true }).waitFor();
    expect(await rows(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByText('Animal 20', { exact: true }).waitFor();
  });

  it('filters by status in the address, which a reload and the way back keep', async () => {
    await addPets(
      { name: 'Biscuit', status: 'sold' },
      { name: 'Clover', status: 'pending' },
      { name: 'Fern' },
    );
    const page = await open('/animals?status=sold');
    await page.getByRole('row', { name: '1 Biscuit 1 sold' }).waitFor();
    expect(await rows(page).count()).toBe(1);
    await page.getByText('Pending', { exact: true }).first().click();
    await page.getByRole('row', { name: '2 Clover 1 pending' }).waitFor();
    expect(page.url()).toBe(`${store.url}/console/animals?status=pending`);
    await page.reload();
    await page.getByRole('row', { name: '2 Clover 1 pending' }).waitFor();
    await page.goBack();
    await page.getByRole('row', { name: '1 Biscuit 1 sold' }).waitFor();
    await page.getByText('All', { exact: true }).click();
    await page.getByRole('row', { name: '3 Fern 1 None' }).waitFor();
    expect(page.url()).toBe(`${store.url}/console/animals`);
  });

  it('opens an animal of the list without a request, and returns the focus', async () => {
    await addPets({ name: 'Biscuit', status: 'sold' });
    const page = await open('/animals');
    const link = page.getByRole('link', { name: 'Open animal 1' });
    await link.waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await link.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Animal 1' });
    await drawer.getByText('Biscuit').waitFor();
    expect(page.url()).toBe(`${store.url}/console/animals?animal=1`);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    expect(page.url()).toBe(`${store.url}/console/animals`);
    await until(async () => (await focused(page)) === 'Open animal 1');
    await page.getByRole('cell', { name: 'Biscuit' }).click();
    await drawer.getByText('Biscuit').waitFor();
    expect(requests.filter((url) => url.includes('/v1/pets'))).toStrictEqual([]);
  });

  it('opens an animal outside the page by its address, without the deprecated operation', async () => {
    await addPets(...Array.from({ length: 20 }, () => ({ name: 'Clover' })));
    // A number would round it.
    await store.database.query(
      `INSERT INTO pets (id, name, category_id) VALUES (9007199254740993, 'Far away', 9223372036854775807)`,
    );
    const page = await open('/animals?animal=9007199254740993');
    const drawer = page.getByRole('dialog', { name: 'Animal 9007199254740993' });
    await drawer.getByText('Far away').waitFor();
    await drawer.getByText('9223372036854775807').waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`${store.url}/console/animals?animal=77`);
    await page.getByText('No animal of the store has the id 77.').waitFor();
    expect(requests.filter((url) => url.includes('77') && url.includes('/v1/'))).toEqual([
      `${store.url}/v1/pets?id=77`,
    ]);
  });

  it('adds an animal, opens it and loads the list again', async () => {
    const page = await open('/animals');
    await fillForm(page, { name: 'Biscuit', categoryId: '-9223372036854775808' });
    await page.getByLabel('Status', { exact: true }).last().selectOption('sold');
    await add(page);
    const drawer = page.getByRole('dialog', { name: 'Animal 1' });
    await drawer.getByText('Biscuit').waitFor();
    await drawer.getByText('-9223372036854775808').waitFor();
    expect(page.url()).toBe(`${store.url}/console/animals?animal=1`);
    await page.keyboard.press('Escape');
    await page.getByRole('row', { name: '1 Biscuit -9223372036854775808 sold' }).waitFor();
  });

  it('shows what the service finds wrong beside each field', async () => {
    const page = await open('/animals');
    await fillForm(page, { name: ' ', categoryId: '1.5' });
    await add(page);
    await page.getByText('Must not be blank').waitFor();
    expect(await readDescription(page, 'name')).toContain('Must not be blank');
    expect(await readDescription(page, 'categoryId')).toContain(
      'Must be an integer from -9223372036854775808 to 9223372036854775807, without quotes',
    );
    await until(async () => (await focused(page)) === 'name');
    await page.getByLabel('Category id').fill('');
    await add(page);
    await page.getByText('Is required').waitFor();
  });

  it('adds an animal once when the response is lost and the reader sends it again', async () => {
    const page = await open('/animals');
    await fillForm(page, { name: 'Biscuit', categoryId: '1' });
    await page.route('**/v1/pets', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await add(page);
    await page.getByText('It may have succeeded.').waitFor();
    await page.unroute('**/v1/pets');
    await add(page);
    await page.getByRole('dialog', { name: 'Animal 1' }).waitFor();
    const pets = await store.database.query('SELECT name FROM pets');
    expect(pets).toEqual([{ name: 'Biscuit' }]);
  });

  it('says that the animal may have been added when a proxy responds instead of the service', async () => {
    const page = await open('/animals');
    await fillForm(page, { name: 'Biscuit', categoryId: '1' });
    await page.route('**/v1/pets', (route) => route.fulfill({ status: 504, body: 'Gateway Timeout' }));
    await add(page);
    await page.getByText('It may have succeeded.').waitFor();
  });

  it('counts down to the next request when the limit is reached', async () => {
    const page = await open('/animals');
    await fillForm(page, { name: 'Biscuit', categoryId: '1' });
    await respond(page, '**/v1/pets', 429, { 'retry-after': '40' });
    await add(page);
    await page.getByText(/You can send it again in (39|40) s/).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Biscuit');
  });
});
