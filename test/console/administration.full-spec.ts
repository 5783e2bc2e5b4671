import type { IssuedKey } from '../../src/keys/key.schemas.js';
import {
  admin,
  expectSound,
  HOSTILE_NAME,
  LONGEST_NAME,
  open,
  revoke,
  store,
  useConsole,
} from './console-service.js';
import { send } from '../support/http/http.js';

let shop: IssuedKey;

useConsole();
beforeAll(async () => {
  // Pages show the requests until now by the `Date` of responses, which is never ahead.
  store.clock.travelTo(new Date());
  shop = await store.issue({ plan: 'pro', name: HOSTILE_NAME });
  for (const path of ['/v1/pets', '/v1/pets', '/v1/pets/1']) {
    await send(`${store.url}${path}`, { key: shop.key });
  }
});

describe('the page of traffic of the console', () => {
  it('lists the keys with the most requests, the operations, and who calls a deprecated one', async () => {
    const page = await open('/admin');
    await page.getByRole('list', { name: 'Top keys' }).getByText(HOSTILE_NAME).waitFor();
    await page.getByRole('list', { name: 'Operations' }).getByText('listPets').waitFor();
    await page
      .getByRole('row', { name: /getPet/ })
      .getByText(HOSTILE_NAME)
      .waitFor();
  });

  it('lists quotas instead of keys by choice, each with a link to its keys', async () => {
    const old = await store.issue({ plan: 'pro', name: 'Rotated' });
    const next = await send(`${store.url}/admin/keys/${old.id}/rotate`, { method: 'POST', key: admin.key });
    for (const key of [old.key, next.json.key]) {
      await send(`${store.url}/v1/pets`, { key });
    }
    const page = await open('/admin');
    const rotated = page.getByRole('list', { name: 'Top keys' }).getByText('Rotated');
    await rotated.nth(1).waitFor();
    await page.getByRole('switch', { name: 'Group by quota' }).click();
    const quota = page.getByRole('list', { name: 'Top quotas' }).getByText(`Quota …${old.quotaId.slice(-8)}`);
    await quota.waitFor();
    expect(await quota.count()).toBe(1);
    await expectSound(page);
    await quota.click();
    const keys = page.getByRole('table').getByText('Rotated');
    await keys.nth(1).waitFor();
    expect(await keys.count()).toBe(2);
    expect(new URL(page.url()).searchParams.get('quotaId')).toBe(old.quotaId);
  });

  it('shows the part of the chart that is dragged over, and zooms out again', async () => {
    const page = await open('/admin');
    const chart = page.getByRole('figure');
    await chart.waitFor();
    const { x, y, width, height } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(x + width * 0.5, y + height * 0.3);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.7, y + height * 0.3, { steps: 5 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Zoom out' }).waitFor();
    expect(new URL(page.url()).searchParams.has('from')).toBe(true);
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await page.getByRole('button', { name: 'Zoom out' }).waitFor({ state: 'detached' });
  });

  it('shows the range between two times, which a reader without a mouse enters', async () => {
    const page = await open('/admin');
    await page.getByLabel('From').fill('2027-01-02T10:00');
    await page.getByLabel('Until').fill('2027-01-01T10:00');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('Choose an end after the start').waitFor();
    await page.getByLabel('Until').fill('2027-01-03T10:00');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Zoom out' }).waitFor();
    const { searchParams } = new URL(page.url());
    expect(Number(searchParams.get('until')) - Number(searchParams.get('from'))).toBe(86_400_000);
  });
});

describe('a page of the console whose address has invalid values', () => {
  it.each([
    '/admin?range=x&until=x',
    '/admin/keys?sort=constructor&cursor=x',
    '/admin/audit?since=x&keyId=x',
  ])('drops them before it loads anything (%s)', async (path) => {
    const sent: string[] = [];
    const page = await open(path, {
      prepare: (each) => each.on('request', (request) => sent.push(request.url())),
    });
    const shown = page.getByRole('figure').or(page.getByRole('cell', { name: HOSTILE_NAME }));
    await shown.first().waitFor();
    expect(page.url()).toBe(`${store.url}/console${path.replace(/\?.*/, '')}`);
    expect(sent.filter((url) => /=(x|constructor)\b/.test(url) && !url.includes('/console/'))).toStrictEqual(
      [],
    );
  });
});

describe('the page of plans of the console', () => {
  it('changes the limits of a plan after saying what that does', async () => {
    const body = { perMinute: 100, perDay: 1000 };
    await send(`${store.url}/admin/plans/starter`, { method: 'PUT', key: admin.key, body });
    const page = await open('/admin/plans', { scheme: 'dark' });
    const saveButton = page.locator('button:focus', { hasText: 'Save' });
    const dialog = page.getByRole('dialog', { name: 'Change the limits of starter?' });
    await page.getByRole('link', { name: 'starter', exact: true }).click();
    await page.getByLabel('Requests per day').fill('many');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter a whole number of requests').waitFor();
    await page.locator('input:focus').fill('1000');
    await page.getByLabel('Requests per minute').fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Change limits' }).click();
    await page.getByText(/^Must be .*1/).waitFor();
    await page.locator('input:focus').fill('200');
    await page.keyboard.press('Enter');
    await dialog.getByText('200 per minute').waitFor();
    await expectSound(page);
    await page.keyboard.press('Escape');
    await saveButton.click();
    await dialog.getByRole('button', { name: 'Change limits' }).click();
    await page.getByText('apply within a second').waitFor();
    await page.getByRole('cell', { name: '200', exact: true }).waitFor({ state: 'attached' });
    await saveButton.waitFor();
    expect(await page.getByLabel('Requests per minute').inputValue()).toBe('200');
    const { json } = await send(`${store.url}/admin/plans/starter`, { key: admin.key });
    expect(json).toEqual({
      name: 'starter',
      perMinute: 200,
      perDay: 1000,
      maxKeyLifetimeDays: null,
      validKeyCount: 0,
      warnings: [],
    });
    await page.keyboard.press('Escape');
    await page.locator('a:focus', { hasText: /^starter$/ }).waitFor();
  });

  it('creates a plan, and says beside the field what is wrong, in the words of the service too', async () => {
    const page = await open('/admin/plans', { width: 'phone' });
    await page.getByRole('button', { name: 'New plan' }).click();
    await page.getByLabel('Name').fill('Not A Name');
    await page.getByLabel('Requests per minute').fill('10');
    await page.getByLabel('Requests per day').fill('100');
    await page.getByRole('button', { name: 'Create plan' }).click();
    await page.getByText(/must have 1 to 63 lower-case letters/).waitFor();
    await expectSound(page);
    await page.locator('input:focus').fill('pro');
    await page.getByRole('button', { name: 'Create plan' }).click();
    await page.getByText('This plan exists already').waitFor();
    const { json } = await send(`${store.url}/admin/plans/pro`, { key: admin.key });
    expect(json).toMatchObject({ perMinute: 300, perDay: 10_000 });
    await page.locator('input:focus').fill('tiny');
    await page.getByLabel('Requests per day').fill('0');
    await page.getByRole('button', { name: 'Create plan' }).click();
    await page.getByText(/^Must be .*1/).waitFor();
    await page.locator('input:focus').fill('100');
    await page.getByRole('button', { name: 'Create plan' }).click();
    await page.getByRole('link', { name: 'tiny', exact: true }).waitFor();
    await page.locator('button:focus', { hasText: 'New plan' }).waitFor();
  });
});

describe("the plans' numbers of valid keys in the console", () => {
  it('come with the page of plans, without a request for each', async () => {
    const body = { perMinute: 100, perDay: 1000 };
    const put = (name: string) =>
      send(`${store.url}/admin/plans/${name}`, { method: 'PUT', key: admin.key, body });
    await Promise.all(['one', 'two'].map(put));
    const [last] = [await store.issue({ plan: 'one' }), await store.issue({ plan: 'two' })];
    await revoke(await store.issue({ quotaId: last.quotaId }));
    await store.issue({ plan: 'two' });
    const sent: string[] = [];
    const page = await open('/admin/plans', {
      prepare: (opened) => void opened.on('request', (request) => sent.push(request.url())),
    });
    await page.getByRole('cell', { name: '1 All keys on one', exact: true }).waitFor();
    await page.getByRole('cell', { name: '2 All keys on two', exact: true }).waitFor();
    await page.getByRole('link', { name: 'All keys on two', exact: true }).click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get('plan')).toBe('two');
    expect(sent.filter((url) => /\/admin\/keys.*limit=1(&|$)/.test(url))).toEqual([]);
  });
});

describe('the drawer of a plan of the console', () => {
  it('confirms no change of another plan after the reader goes back', async () => {
    const page = await open('/admin/plans');
    await page.getByRole('link', { name: 'pro', exact: true }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog', { name: 'Change the limits of pro?' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'free', exact: true }).click();
    await page.getByRole('dialog', { name: 'Plan free' }).getByLabel('Requests per minute').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(1);
  });

  it('tells the keys on a plan apart, valid keys first, and leads to one and to all of them', async () => {
    const van = await store.issue({ plan: 'free', name: 'Van' });
    const next = await store.issue({ plan: 'free', name: 'Van' });
    await revoke(next);
    for (let number = 0; number < 20; number += 1) {
      await store.issue({ plan: 'business', name: 'Bus' });
    }
    const page = await open('/admin/plans?plan=free');
    const drawer = page.getByRole('dialog', { name: 'Plan free' });
    const keys = drawer.getByRole('listitem').filter({ hasText: 'Van' });
    await keys.nth(1).waitFor();
    expect(await keys.allTextContents()).toEqual([
      `Van${van.prefix}…${van.lastFour}`,
      `Van${next.prefix}…${next.lastFour}, revoked`,
    ]);
    await keys.first().getByRole('link').click();
    await page.getByRole('heading', { name: 'Van', level: 1 }).waitFor();
    await page.goto(`${store.url}/console/admin/plans?plan=business`);
    await page.getByRole('link', { name: 'All keys on this plan' }).click();
    await page.getByRole('link', { name: 'Bus' }).first().waitFor();
    expect(new URL(page.url()).searchParams.get('plan')).toBe('business');
  });
});

describe('the page of the audit of the console', () => {
  it('shows a name that looks like a time, but is none, as it is', async () => {
    const name = '2026-99-99T99:99:99Z';
    const { id } = await store.issue({ name });
    const page = await open(`/admin/audit?keyId=${id}`);
    await page.getByText(`Name: ${name}`).waitFor();
  });

  it('says in words who did what to which key, and what changed', async () => {
    const { id, prefix, lastFour } = await store.issue({ name: 'Old name', note: 'Old note' });
    const patch = (body: object) =>
      send(`${store.url}/admin/keys/${id}`, { method: 'PATCH', key: admin.key, body });
    await patch({ name: 'New name' });
    await patch({ note: null });
    await patch({ scopes: ['pets:read', 'orders:read'] });
    const page = await open(`/admin/audit?keyId=${id}`);
    await page.getByText('Scopes changed from all of its role to pets:read, orders:read').waitFor();
    await page.getByText('Name changed from Old name to New name').waitFor();
    await page.getByRole('row', { name: /Changed the note.*Note changed from Old note to none/ }).waitFor();
    await page.getByRole('cell').getByText('Renamed a key', { exact: true }).waitFor();
    expect(await page.getByRole('cell', { name: `New name ${prefix}…${lastFour}` }).count()).toBe(4);
    expect(await page.getByRole('table').textContent()).not.toMatch(/[{}[\]"]|key …/);
    await page.getByRole('link', { name: 'New name' }).first().click();
    await page.getByRole('heading', { name: 'New name', level: 1 }).waitFor();
  });

  it('shows the ending of the key that acted, however long its name is', async () => {
    const { id } = await store.issue();
    const actor = await store.issue({ role: 'admin', plan: 'business', name: LONGEST_NAME });
    await send(`${store.url}/admin/keys/${id}/revoke`, { method: 'POST', key: actor.key });
    const page = await open(`/admin/audit?keyId=${id}`);
    const row = page.getByRole('row', { name: /Revoked a key/ });
    const ending = await row.getByText(`${actor.prefix}…${actor.lastFour}`).boundingBox();
    const { y = 0, height = 0 } = (await row.boundingBox()) ?? {};
    expect(ending?.y).toBeLessThan(y + height);
  });

  it('keeps the focus and every character while filters are typed', async () => {
    const page = await open('/admin/audit');
    await page.getByLabel('Actor').pressSequentially('ann miller', { delay: 30 });
    await page.getByText('No action matches these filters.').waitFor();
    expect(await page.getByLabel('Actor').inputValue()).toBe('ann miller');
    expect(new URL(page.url()).searchParams.get('actor')).toBe('ann miller');
  });

  it('filters by actor, action, key and time together, by key in the address too', async () => {
    const { id } = await store.issue({ name: 'Audited' });
    const url = `${store.url}/admin/keys/${id}`;
    const { key } = await store.issue({ role: 'admin', plan: 'business' });
    await send(url, { method: 'PATCH', key: admin.key, body: { name: 'Renamed by Ann' } });
    await send(url, { method: 'PATCH', key, body: { name: 'Renamed by another' } });
    const page = await open(`/admin/audit?keyId=${id}`);
    const rows = page.getByRole('row');
    await page.getByText('Issued a key').last().waitFor();
    expect(await rows.count()).toBe(4);
    await page.getByLabel('Action').selectOption({ label: 'Changed a key' });
    await page.getByRole('cell', { name: 'Issued a key' }).waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(3);
    await page.getByLabel('Actor').fill(admin.id);
    await page.getByText('to Renamed by another').waitFor({ state: 'detached' });
    await page.getByLabel('From').fill('2026-01-01T00:00');
    await page.getByLabel('Until').fill('2098-01-01T00:00');
    await page.waitForURL(/until=/);
    await page.getByText('to Renamed by Ann').waitFor();
    expect(await rows.count()).toBe(2);
    await page.getByLabel('From').fill('2097-01-01T00:00');
    await page.getByText('No action matches these filters.').waitFor();
    await page.getByLabel('From').fill('2026-01-01T00:00');
    await page.getByText('to Renamed by Ann').waitFor();
    await page.getByLabel('Until').fill('2026-01-02T00:00');
    await page.getByText('No action matches these filters.').waitFor();
    await page.getByLabel('Key ID').press('End');
    await page.keyboard.type('typed');
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await page.locator('select:focus').count()).toBe(1);
    await page.getByText('to Renamed by another').waitFor();
  });
});
