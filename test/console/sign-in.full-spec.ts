import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { accessibilityFaults, scrollsSideways } from '../support/browser/console.js';
import {
  APPEARANCES,
  browser,
  expectSound,
  open,
  signIn,
  store,
  useConsole,
} from '../support/browser/console-service.js';
import { send } from '../support/http/http.js';

let client: IssuedKey;

useConsole();
beforeAll(async () => {
  client = await store.issue({ plan: 'pro' });
});

describe('the sign-in page of the console', () => {
  it.each(APPEARANCES)('is accessible and fits the screen (%s, %s)', async (scheme, width) => {
    const opened = await browser.open('', { scheme, width });
    const { page } = opened;
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await expectSound(opened);
  });

  it('loads less than 250 kB at first, compressed, and no chart before it is needed', async () => {
    const { page } = await browser.open('');
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    const sizes: { name: string; bytes: number }[] = await page.evaluate(
      `document.fonts.ready.then(() => performance.getEntries()
        .filter(({ entryType }) => entryType === 'navigation' || entryType === 'resource')
        .map(({ name, encodedBodySize }) => ({ name, bytes: encodedBodySize })))`,
    );
    expect(sizes.length).toBeGreaterThan(4);
    expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(250_000);
    expect(sizes.filter(({ name }) => name.includes('chart'))).toEqual([]);
  });

  it('announces beside the field why a key is not accepted, and keeps the reader and the focus there', async () => {
    const { page } = await browser.open('');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Enter an API key').waitFor();
    await page.locator('input:focus').fill('ask_test_no-such-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('This key is not valid here.').waitFor();
    await page.locator('input:focus').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('counts down to the next attempt after too many', async () => {
    const { key } = await store.issue();
    const { page } = await browser.open('', { prepare: (each) => each.clock.install() });
    await page.route('**/v1/rate-limit', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '3' },
        contentType: 'application/json',
        body: JSON.stringify({ code: 'rate_limit_exceeded', message: 'Too many requests.' }),
      }),
    );
    await signIn(page, key);
    await page.getByText('You can send it again in').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.clock.fastForward(5000);
    await page.getByText('You can send it again now.').waitFor();
    await page.unroute('**/v1/rate-limit');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('keeps the key in the tab only, and forgets it on signing out', async () => {
    const { key } = await store.issue();
    const { page } = await browser.open('');
    await signIn(page, key);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${store.url}/console`);
    expect(await page.evaluate('JSON.stringify({ ...localStorage }) + document.cookie')).not.toContain(key);
    const other = await page.context().newPage();
    await other.goto(`${store.url}/console`);
    await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(key);
  });

  it('offers the colours as one choice, and keeps it', async () => {
    const { key } = await store.issue();
    const { page, complaints } = await browser.open('', { apiKey: key });
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'As the system', checked: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark', checked: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('signs out a key that has been revoked meanwhile, and says so', async () => {
    const { key, id } = await store.issue();
    const { page } = await browser.open('', { apiKey: key });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await store.database.query(`UPDATE api_keys SET revoked_at = now() WHERE id = '${id}'`);
    await page.getByText(/is no longer valid/).waitFor();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  });
});

describe('the files of the console', () => {
  it('are few enough for the first visits of 30 people behind one address within a minute', async () => {
    const { key } = await store.issue();
    const files = new Set<string>();
    const { page } = await browser.open('', {
      apiKey: key,
      prepare: async (each) => each.on('request', (request) => files.add(request.url())),
    });
    await page.getByRole('figure').waitFor();
    const paths = [...files].filter((url) => url.startsWith(`${store.url}/console`));
    expect(paths.length).toBeGreaterThan(6);
    store.clock.travelToMinuteStart();
    for (let person = 0; person < 30; person += 1) {
      const responses = await Promise.all(paths.map((path) => send(path)));
      expect(responses.every(({ status }) => status === 200)).toBe(true);
    }
    // As much is left for the pages that they open next.
    expect(30 * paths.length).toBeLessThan(300);
  });
});

describe('a page of the console that cannot be shown', () => {
  it.each(APPEARANCES)('is accessible if there is none at the address (%s, %s)', async (scheme, width) => {
    const options = { apiKey: client.key, scheme, width };
    const opened = await browser.open('/no-such-page', options);
    const { page } = opened;
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await expectSound(opened);
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it.each(APPEARANCES)(
    'is accessible if its code does not load, and loads again (%s, %s)',
    async (scheme, width) => {
      const code = '**/assets/animals.page-*.js';
      const { page } = await browser.open('/animals', {
        apiKey: client.key,
        scheme,
        width,
        prepare: (each) => each.route(code, (route) => route.abort()),
      });
      await page.getByRole('heading', { name: 'This page failed' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
      await page.unroute(code);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'Animals', level: 1 }).waitFor();
    },
  );
});

describe('the pages of administration of the console', () => {
  it.each(['/admin', '/admin/keys', '/admin/plans', '/admin/audit'])(
    'shows "There is no such page" to a client at %s',
    async (path) => {
      const { page } = await browser.open(path, { apiKey: client.key });
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    },
  );

  it('says once that the signed-in key could not be read, and reads it again only on a retry', async () => {
    const { page } = await open('/admin');
    await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
    let requests = 0;
    await page.route('**/v1/key', async (route) => {
      requests += 1;
      await route.abort();
    });
    await page.reload();
    await page.getByText('This could not be loaded').waitFor();
    await page.waitForLoadState('networkidle');
    expect(requests).toBeLessThanOrEqual(2);
    expect(await page.getByText('This could not be loaded').count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.unroute('**/v1/key');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
  });
});
