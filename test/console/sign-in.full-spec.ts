import type { Page } from 'playwright-core';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import {
  APPEARANCES,
  expectSound,
  open,
  reconnect,
  respond,
  revoke,
  signIn,
  SIGNED_OUT,
  store,
  OWN_CLOCK,
  useConsole,
} from './console-service.js';
import { send } from '../support/http/http.js';
import { BLOCKED_STORAGE, FULL_STORAGE } from '../support/programs/browser.js';

let client: IssuedKey;

useConsole();
beforeEach(async () => {
  client = await store.issue({ plan: 'pro' });
});

const overview = (page: Page) => page.getByRole('heading', { name: 'Overview' }).waitFor();
const form = (page: Page) => page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();

describe('the sign-in page of the console', () => {
  it('loads less than 450 kB at first, compressed and in one script, and only the page again', async () => {
    const page = await open('', { ...SIGNED_OUT, isAlone: true });
    const readSizes = async (): Promise<{ name: string; bytes: number; sent: number }[]> => {
      await form(page);
      return page.evaluate(
        `document.fonts.ready.then(() => performance.getEntries()
          .filter(({ entryType }) => entryType === 'navigation' || entryType === 'resource')
          .map(({ name, encodedBodySize, transferSize }) =>
            ({ name, bytes: encodedBodySize, sent: transferSize })))`,
      );
    };
    const sizes = await readSizes();
    const extensions = sizes.map(({ name }) => name.slice(name.lastIndexOf('.')));
    expect(extensions).toEqual(expect.arrayContaining(['.js', '.woff2']));
    expect(extensions.filter((extension) => extension === '.js')).toHaveLength(1);
    expect(sizes.filter(({ bytes }) => bytes === 0)).toStrictEqual([]);
    expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(450_000);
    await page.reload();
    expect((await readSizes()).reduce((sum, { sent }) => sum + sent, 0)).toBeLessThan(10_000);
  });

  it('announces beside the field why a key is not accepted, and keeps the focus there', async () => {
    const page = await open('', SIGNED_OUT);
    await signIn(page, '');
    await page.getByRole('alert').getByText('Enter an API key').waitFor();
    await page.locator('input:focus').fill('ask_test_no-such-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The API key is malformed; check that it was copied').waitFor();
    const revoked = await store.issue();
    await revoke(revoked);
    await page.locator('input:focus').fill(revoked.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The API key was revoked.').waitFor();
    await page.locator('input:focus').waitFor();
    await expectSound(page);
  });

  it('counts down to the next attempt after too many', async () => {
    const page = await open('', { ...SIGNED_OUT, ...OWN_CLOCK });
    const endLimit = await respond(page, '**/v1/rate-limit', 429, { 'retry-after': '3' });
    await signIn(page, client.key);
    await page.getByText('You can send it again in').waitFor();
    await expectSound(page);
    await page.clock.fastForward(5000);
    await page.getByText('You can send it again now.').waitFor();
    await endLimit();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await overview(page);
  });

  it('keeps the key in the tab only, and forgets it on signing out', async () => {
    const page = await open('', SIGNED_OUT);
    await signIn(page, client.key);
    await overview(page);
    expect(page.url()).toBe(`${store.url}/console`);
    expect(await page.evaluate('JSON.stringify({ ...localStorage }) + document.cookie')).not.toContain(
      client.key,
    );
    await form(await open('', SIGNED_OUT));
    await page.reload();
    await overview(page);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await form(page);
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(client.key);
  });

  it.each([
    ['blocks the data of sites', BLOCKED_STORAGE],
    ['has no space left', FULL_STORAGE],
  ])('keeps the key until the tab is reloaded, and says so, if the browser %s', async (_why, script) => {
    const prepare = (each: Page) => each.addInitScript(script);
    const page = await open('', { ...SIGNED_OUT, isAlone: true, prepare });
    await form(page);
    await expectSound(page);
    await signIn(page, client.key);
    await overview(page);
    await page.getByText('You are signed in until the tab is reloaded').waitFor();
    await expectSound(page);
    await page.getByRole('link', { name: 'Animals' }).click();
    await page.getByRole('heading', { name: 'Animals', level: 1 }).waitFor();
    await revoke(client);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText(/is no longer valid/).waitFor();
    await form(page);
    await signIn(page, (await store.issue({ plan: 'pro' })).key);
    await overview(page);
    await page.reload();
    await form(page);
  });

  it('offers the colours as one choice, and keeps it', async () => {
    const page = await open('', { apiKey: client.key, isAlone: true });
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'System', checked: true }).waitFor();
    await expectSound(page);
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark', checked: true }).waitFor();
  });

  it('signs out a key that has been revoked, and says so, when it reads or sends a form', async () => {
    const [reading, adding] = [
      await open('', { apiKey: client.key }),
      await open('/animals', { apiKey: client.key }),
    ];
    await reading.getByRole('figure').waitFor();
    await adding.getByRole('button', { name: 'Add an animal' }).click();
    await revoke(client);
    await reconnect(reading);
    await adding.getByRole('button', { name: 'Add', exact: true }).click();
    for (const page of [reading, adding]) {
      await page.getByText(/is no longer valid/).waitFor();
      await form(page);
    }
  });
});

describe('the files of the console', () => {
  it('are few enough for the first visits of 30 people behind one address within a minute', async () => {
    const files = new Set<string>();
    const page = await open('', {
      apiKey: client.key,
      isAlone: true,
      prepare: (each) => each.on('request', (request) => files.add(request.url())),
    });
    await page.getByRole('figure').waitFor();
    const paths = [...files].filter((url) => url.startsWith(`${store.url}/console`));
    expect(paths.length).toBeGreaterThan(3);
    store.clock.travelToMinuteStart();
    for (let person = 0; person < 30; person += 1) {
      const responses = await Promise.all(paths.map((path) => send(path, { method: 'HEAD' })));
      expect(responses.every(({ status }) => status === 200)).toBe(true);
    }
    // As much is left for the pages that they open next.
    expect(30 * paths.length).toBeLessThan(300);
  });
});

describe('a page of the console that cannot be shown', () => {
  it.each(APPEARANCES)('is accessible if it fails, and loads again (%s, %s)', async (scheme, width) => {
    const list = '**/v1/pets?*';
    const prepare = async (each: Page) => {
      await each.route(list, (route) => route.fulfill({ json: [null] }));
      // React writes the error there too.
      await each.addInitScript('console.error = () => {}');
    };
    const page = await open('/animals', { scheme, width, prepare });
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await expectSound(page);
    await page.unroute(list);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Animals', level: 1 }).waitFor();
  });
});

describe('the pages of administration of the console', () => {
  it.each(['/admin', '/admin/keys', '/admin/plans', '/admin/audit'])(
    'shows "There is no such page" to a client at %s',
    async (path) => {
      const page = await open(path, { apiKey: client.key });
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      expect(await page.getByRole('navigation', { name: 'Administration' }).count()).toBe(0);
      await page.getByRole('link', { name: 'Go to the overview' }).click();
      await overview(page);
    },
  );

  it('says once that the signed-in key could not be read, and reads it again only on a retry', async () => {
    const page = await open('/admin');
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
    await expectSound(page);
    await page.unroute('**/v1/key');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
  });
});
