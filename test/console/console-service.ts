import type { Page } from 'playwright-core';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import {
  accessibilityFaults,
  ConsoleBrowser,
  type OpenOptions,
  scrollsSideways,
} from '../support/programs/browser.js';

/** The two appearances that differ most. */
export const APPEARANCES = [
  ['light', 'desktop'],
  ['dark', 'phone'],
] as const;

/** Names that could break a page. */
export const HOSTILE_NAME = '<script>document.title = "owned"</script> \u05E9\u05DC';
export const LONGEST_NAME = 'W'.repeat(255);

/** Options that open the sign-in page. */
export const SIGNED_OUT: OpenOptions = { apiKey: undefined };
/** Options for a page whose time the test moves. */
export const OWN_CLOCK: OpenOptions = { isAlone: true, prepare: (page) => page.clock.install() };

export let store: TestApplication;
export let admin: IssuedKey;
let browser: ConsoleBrowser;

/**
 * Starts a service and a browser for all tests of a file. After each test, its pages are closed and must not
 * have complained.
 */
export function useConsole(): void {
  beforeAll(async () => {
    store = await startApplication({ environment: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true } });
    browser = await ConsoleBrowser.start(store.url);
    admin = await store.issue({ role: 'admin', plan: 'business', name: 'Ann' });
  });
  afterEach(async () => {
    expect(await browser.closePages()).toStrictEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await store.close();
  });
}

/** Opens a page as an administrator, or with another key. */
export async function open(path: string, options: OpenOptions = {}): Promise<Page> {
  const { page } = await browser.open(path, { apiKey: admin.key, ...options });
  return page;
}

/** Expects a page to be accessible as it is shown, and to fit the screen. */
export async function expectSound(page: Page): Promise<void> {
  expect(await accessibilityFaults(page)).toStrictEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
}

/** Signs in as a reader does: with a form. */
export async function signIn(page: Page, apiKey: string): Promise<void> {
  await page.getByLabel('API key').fill(apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Puts a response in the place of those at an address until the returned function is called. */
export async function respond(page: Page, url: string, status: number, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ code: 'rate_limit_exceeded', message: 'Not now.', status });
  await page.route(url, (route) => route.fulfill({ status, headers, contentType: 'application/json', body }));
  return () => page.unroute(url);
}

/** Revokes a key without a request. */
export async function revoke({ id }: IssuedKey): Promise<void> {
  await store.database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
}

/** Makes a page read the rate-limit status at once, like a browser that is online again. */
export async function reconnect(page: Page): Promise<void> {
  await page.evaluate("for (const name of ['offline', 'online']) window.dispatchEvent(new Event(name))");
}
