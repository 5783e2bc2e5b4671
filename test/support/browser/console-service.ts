import type { Page } from 'playwright-core';
import type { IssuedKey } from '../../../src/admin/keys/key.schemas.js';
import { startApplication, type TestApplication } from '../service/application.js';
import { accessibilityFaults, ConsoleBrowser, type ConsolePage, scrollsSideways } from './console.js';

/** The two appearances that differ most. */
export const APPEARANCES = [
  ['light', 'desktop'],
  ['dark', 'phone'],
] as const;

export let store: TestApplication;
export let browser: ConsoleBrowser;
export let admin: IssuedKey;

/** Starts a service and a browser for all tests of a file. What a test opens is closed after it. */
export function useConsole(): void {
  beforeAll(async () => {
    store = await startApplication();
    browser = await ConsoleBrowser.start(store.url);
    admin = await store.issue({ role: 'admin', plan: 'business', name: 'Ann' });
  });
  afterEach(() => browser.closePages());
  afterAll(async () => {
    await browser.close();
    await store.close();
  });
}

/** Opens a page as an administrator, or with another key. */
export function open(
  path: string,
  options: Parameters<ConsoleBrowser['open']>[1] = {},
): Promise<ConsolePage> {
  return browser.open(path, { apiKey: admin.key, ...options });
}

/** Expects a page to be accessible as it is shown, to fit the screen, and to load nothing from another origin. */
export async function expectSound({ page, complaints, origins }: ConsolePage): Promise<void> {
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
  expect(complaints).toEqual([]);
  expect([...origins]).toEqual([store.url]);
}

/** Signs in as a reader does: with a form. */
export async function signIn(page: Page, apiKey: string): Promise<void> {
  await page.getByLabel('API key').fill(apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
