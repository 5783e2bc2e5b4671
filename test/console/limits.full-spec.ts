import type { Page } from 'playwright-core';
import { FailedRequestRecorder } from '../../src/usage/failed-requests/failed-request.recorder.js';
import { HOUR_MS, MINUTE_MS } from '../support/time/clock.js';
import { ban, denialsBeforeBan } from '../support/keys/bans.js';
import {
  admin,
  expectSound,
  open,
  OWN_CLOCK,
  respond,
  signIn,
  SIGNED_OUT,
  store,
  useConsole,
} from './console-service.js';
import { send } from '../support/http/http.js';

/** What is left of the bans here. The clock of the store is up to some minutes ahead of the header `Date`. */
const ABOUT_AN_HOUR = /^(59 min( \d+ s)?|1 h( 1?\d min)?)$/;

const HALF_MINUTE_MS = MINUTE_MS / 2;

useConsole();
beforeEach(() => store.clock.travelToMinuteStart());

async function issueBanned(name: string, forMs = HOUR_MS) {
  const banned = await store.issue({ name });
  await ban(store.database, banned, new Date(store.clock.now() + forMs));
  return banned;
}

describe('a page of the console over the limit', () => {
  it('counts down to the end of the window, once, loads by itself then, and causes no denial', async () => {
    const { key } = await store.issue({ plan: 'enterprise', perMinute: 4, perDay: 1000 });
    for (let sent = 0; sent < 4; sent += 1) {
      await send(`${store.url}/v1/pets`, { key });
    }
    const page = await open('', { apiKey: key, ...OWN_CLOCK });
    const notices = page.getByText('The next request is allowed in');
    await notices.waitFor();
    await page.reload();
    await notices.waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await expectSound(page);
    expect((await send(`${store.url}/v1/rate-limit`, { key })).json).toMatchObject({
      denialsUntilBan: denialsBeforeBan(4),
      bannedUntil: null,
    });
    store.clock.travel(MINUTE_MS);
    await page.clock.fastForward(HOUR_MS);
    await page.getByRole('figure').waitFor();
    await page.getByText('4 per minute, 1,000 per day').waitFor();
    expect(await notices.count()).toBe(0);
  });

  it('shows a banned key the end of its ban at sign-in, once, and loads by itself then', async () => {
    const { key, quotaId } = await issueBanned('Shop', MINUTE_MS);
    const page = await open('', { ...SIGNED_OUT, ...OWN_CLOCK });
    await signIn(page, key);
    await page.getByRole('heading', { name: 'Banned' }).waitFor();
    await page.getByText('Requests during the ban do not extend it').waitFor();
    await page.getByText('Each further ban lasts longer than the one before').waitFor();
    expect(await page.getByText('Full again in').count()).toBe(0);
    await page.getByText('This key is banned').first().waitFor({ state: 'detached' });
    await expectSound(page);
    store.clock.travel(MINUTE_MS);
    await page.clock.fastForward(HOUR_MS);
    await page.getByRole('figure').waitFor();
    await page.getByText('60 per minute, 1,000 per day').waitFor();
    expect(await page.getByText(/banned/i).count()).toBe(0);
    await store.app.get(FailedRequestRecorder).flush();
    const failures = await send(`${store.url}/admin/requests?quotaId=${quotaId}`, { key: admin.key });
    expect(failures).toMatchObject({ status: 200, json: [] });
  });
});

describe('a list of the console that cannot be loaded again', () => {
  it('stays, says so, and is up to date again by itself or on demand', async () => {
    await store.database.query("INSERT INTO pets (name, category_id) VALUES ('Biscuit', 1)");
    const page = await open('/animals', OWN_CLOCK);
    await page.getByText('Biscuit').waitFor();
    const endLimit = await respond(page, '**/v1/pets?*', 429, { 'retry-after': '30' });
    await page.getByRole('button', { name: 'Add an animal' }).click();
    await page.getByLabel('Name').fill('Rex');
    await page.getByLabel('Category id').fill('1');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Not up to date. The rate limit is reached.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('cell', { name: 'Biscuit' }).waitFor();
    await expectSound(page);
    await endLimit();
    const endFault = await respond(page, '**/v1/pets?*', 503);
    await page.clock.fastForward(MINUTE_MS);
    await page.getByText('Not up to date. Not now.').waitFor();
    await endFault();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('cell', { name: 'Rex' }).waitFor();
    expect(await page.getByText('Not up to date').count()).toBe(0);
  });
});

describe('the console of a service that is unavailable for a while', () => {
  it('waits as the service tells, and loads by itself then', async () => {
    const page = await open('/orders', {
      ...OWN_CLOCK,
      prepare: async (each) => {
        await each.clock.install();
        await respond(each, '**/v1/store/orders?*', 503, { 'retry-after': '30' });
      },
    });
    await page.getByText('The service is unavailable').waitFor();
    await page.getByText('The next attempt follows in 30 s. This page will then reload.').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await expectSound(page);
    await page.unroute('**/v1/store/orders?*');
    await page.clock.fastForward(HALF_MINUTE_MS);
    await page.getByText('No orders yet').waitFor();
  });

  it('says when a form can be sent again', async () => {
    const page = await open('/animals', OWN_CLOCK);
    await page.getByRole('button', { name: 'Add an animal' }).click();
    await page.getByLabel('Name').fill('Rex');
    await page.getByLabel('Category id').fill('1');
    await respond(page, '**/v1/pets', 503, { 'retry-after': '30' });
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('The service is unavailable. You can send it again in 30 s.').waitFor();
    await expectSound(page);
  });

  it('names the request of a 503 without a wait, if a response names it', async () => {
    const page = await open('/orders', {
      prepare: (each) => respond(each, '**/v1/store/orders?*', 503),
    });
    const notice = page.getByRole('alert');
    await notice.getByText('Not now.', { exact: true }).waitFor();
    await page.unroute('**/v1/store/orders?*');
    await respond(page, '**/v1/store/orders?*', 503, { 'x-request-id': 'abc' });
    await notice.getByRole('button', { name: 'Try again' }).click();
    await notice.getByText('Not now. Request id: abc.').waitFor();
  });
});

describe('the console of a service that does not respond', () => {
  it('opens the page that was chosen, and loads its data once the browser is online again', async () => {
    const page = await open('', { isAlone: true });
    await page.getByRole('figure').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Reference' }).click();
    await page.getByText('The page was not opened').waitFor();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'Animals' }).click();
    await page.getByRole('heading', { name: 'Animals', level: 1 }).waitFor();
    const notice = page.getByRole('alert', { name: 'This could not be loaded' });
    await notice.getByText('The service did not respond.').waitFor();
    await notice.getByRole('button', { name: 'Try again' }).click();
    await notice.waitFor();
    await expectSound(page);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'Animals' }).click();
    await notice.waitFor();
    await page.context().setOffline(false);
    await page.getByRole('table').waitFor();
  });
});

describe('the countdown of a ban, on a machine whose clock is wrong', () => {
  it.each([
    ['ahead', 5 * HOUR_MS],
    ['behind', -5 * HOUR_MS],
  ])('goes by the clock of the service (5 hours %s)', async (_direction, offsetMs) => {
    const name = `Banned, ${offsetMs}`;
    const { id, key } = await issueBanned(name);
    const wrongClock = {
      isAlone: true,
      prepare: (each: Page) => each.clock.install({ time: Date.now() + offsetMs }),
    };
    const page = await open('/admin', wrongClock);
    const bans = page.getByRole('region', { name: 'Banned now' });
    const link = page.getByRole('link', { name });
    const row = bans
      .locator('div')
      .filter({ has: link })
      .filter({ has: page.getByRole('timer') });
    expect(await row.last().getByRole('timer').textContent()).toMatch(ABOUT_AN_HOUR);
    await link.click();
    const panel = page.getByRole('region', { name: 'Banned', exact: true });
    expect(await panel.getByRole('timer').textContent()).toMatch(ABOUT_AN_HOUR);
    expect(page.url()).toContain(id);
    await page.getByRole('link', { name: 'Keys', exact: true }).last().click();
    const listed = page.getByRole('row').filter({ hasText: name });
    await listed.waitFor();
    // Browsers show the focus only after a key press.
    await page.keyboard.press('Tab');
    await listed.locator('[tabindex="0"]', { hasText: /^Banned$/ }).focus();
    expect(await page.getByRole('tooltip').getByRole('timer').textContent()).toMatch(ABOUT_AN_HOUR);
    const own = await open('', { apiKey: key, ...wrongClock });
    const ownPanel = own.getByRole('region', { name: 'Banned', exact: true });
    expect(await ownPanel.getByRole('timer').textContent()).toMatch(ABOUT_AN_HOUR);
  });
});

describe('a browser that takes itself for offline', () => {
  it('loads from a service on the same machine all the same', async () => {
    const page = await open('');
    await page.evaluate("window.dispatchEvent(new Event('offline'))");
    await page.getByRole('link', { name: 'Animals' }).click();
    await page.getByText('No animals yet').or(page.getByRole('row').nth(1)).first().waitFor();
  });
});

describe('a hidden tab of the console', () => {
  const show = (page: Page, isShown: boolean) =>
    page.evaluate(
      `Object.defineProperties(document, {
         hidden: { value: ${!isShown}, configurable: true },
         visibilityState: { value: '${isShown ? 'visible' : 'hidden'}', configurable: true },
       });
       document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));`,
    );

  it.each(['', '/admin'])('sends no request until it is shown again (/console%s)', async (path) => {
    const page = await open(path, OWN_CLOCK);
    await page.getByRole('figure').waitFor();
    await page.waitForLoadState('networkidle');
    await show(page, false);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(new URL(request.url()).pathname));
    for (let minute = 0; minute < 30; minute += 1) {
      await page.clock.fastForward(MINUTE_MS);
    }
    expect(sent).toStrictEqual([]);
    await show(page, true);
    const isPolled = (url: string) => /\/v1\/rate-limit$|\/admin\/usage/.test(url);
    await Promise.all([
      page.waitForRequest((request) => isPolled(request.url())),
      page.clock.runFor(2 * MINUTE_MS),
    ]);
  });
});

describe('a time in the console', () => {
  it('is shown in UTC on hover and on the focus of the keyboard, until Escape', async () => {
    const { key } = await store.issue({ plan: 'pro', expiresAt: new Date('2031-05-06T22:30:00Z') });
    const page = await open('', { apiKey: key });
    await page.getByRole('figure').waitFor();
    await page.getByText('You called no deprecated operation').waitFor();
    const time = page.getByText('7 May 2031, 00:30');
    const tooltip = page.getByRole('tooltip').filter({ hasText: '2031-05-06 22:30:00 UTC' });
    await time.hover();
    await tooltip.waitFor();
    // It can be read with a magnifier, which follows the pointer.
    await tooltip.hover();
    await tooltip.waitFor();
    await page.mouse.move(0, 0);
    await tooltip.waitFor({ state: 'detached' });
    // Browsers show the focus only after a key press.
    await page.keyboard.press('Tab');
    await time.focus();
    await tooltip.waitFor();
    await page.keyboard.press('Escape');
    await tooltip.waitFor({ state: 'detached' });
  });
});
