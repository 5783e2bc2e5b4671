import { source as axeSource } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from '../programs/programs.js';

const WIDTHS = { desktop: 1280, phone: 360 };
const HEIGHT = 900;
/** The rules that WCAG 2.2 AA consists of, and axe's own. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** A page of the console in a real browser. */
export interface ConsolePage {
  page: Page;
  /** Errors and warnings of the page, such as violations of its content security policy. */
  complaints: string[];
  /** The origins that the page sent requests to. */
  origins: Set<string>;
}

interface Options {
  scheme?: 'light' | 'dark';
  width?: keyof typeof WIDTHS;
  /** The key that is signed in; without one, the sign-in page is shown. */
  apiKey?: string;
  /** Of another service than the browser's. */
  url?: string;
  /** Of the pages. Default: the console. */
  folder?: '/console' | '/docs';
  /** Prepares the browser's page before it loads anything, such as its clock. */
  prepare?: (page: Page) => Promise<unknown>;
}

/** Returns the browser of this machine. Without one, its tests are skipped with a message; in CI they fail. */
export const findBrowser = () => findProgram('chromium', 'chromium', 'chromium-browser', 'google-chrome');

/** Opens the pages of one service. */
export class ConsoleBrowser {
  private constructor(
    private readonly browser: Browser,
    private readonly url: string,
  ) {}

  /** @param url of the service, such as `http://127.0.0.1:3000`. */
  static async start(url: string): Promise<ConsoleBrowser> {
    const executablePath = findBrowser();
    if (executablePath === undefined) {
      throw new Error('The tests of the console need a browser: install the package chromium');
    }
    // Root, as in a container, has no sandbox.
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    return new ConsoleBrowser(browser, url);
  }

  /** Opens a page, such as `/animals`, in a new session of the browser. */
  async open(
    path: string,
    {
      scheme = 'light',
      width = 'desktop',
      apiKey,
      url = this.url,
      folder = '/console',
      prepare,
    }: Options = {},
  ): Promise<ConsolePage> {
    const page = await this.browser.newPage({
      viewport: { width: WIDTHS[width], height: HEIGHT },
      colorScheme: scheme,
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
    });
    const complaints: string[] = [];
    const origins = new Set<string>();
    page.on('console', (message) => {
      // The browser also reports each response with an error status, which pages show in words.
      if (
        ['error', 'warning'].includes(message.type()) &&
        !message.text().startsWith('Failed to load resource')
      ) {
        complaints.push(message.text());
      }
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    await prepare?.(page);
    if (apiKey !== undefined) {
      await page.addInitScript(signedInOnce(apiKey));
    }
    await page.goto(url + folder + path);
    if (apiKey !== undefined) {
      await page
        .getByRole('button', { name: /^Account/ })
        .or(page.getByRole('button', { name: 'Navigation' }))
        .first()
        .waitFor();
    }
    return { page, complaints, origins };
  }

  async closePages(): Promise<void> {
    await Promise.all(this.browser.contexts().map((context) => context.close()));
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

/** Returns the script that signs in a tab when it loads the console first, but not again after it has signed out. */
function signedInOnce(apiKey: string): string {
  return `if (window.name === '') {
    sessionStorage.setItem('animal-store-api-key', ${JSON.stringify(apiKey)});
    window.name = 'signed in';
  }`;
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** Returns the accessibility faults that axe finds on a page as it is shown, one line each. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // By the DevTools protocol, as the content security policy forbids injected scripts.
  await page.evaluate(axeSource);
  const options = JSON.stringify({ runOnly: AXE_TAGS });
  const violations: Violation[] = await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Returns whether the page is wider than the screen, so that it scrolls sideways. */
export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

/**
 * Returns the cumulative layout shift of a page since its navigation: 0 if nothing that was shown has moved. What moves by an input
 * does not count.
 */
export function layoutShift(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) sum += hadRecentInput ? 0 : value;
    }).observe({ type: 'layout-shift', buffered: true });
    // The entries of the past come before the next frame.
    requestAnimationFrame(() => setTimeout(() => resolve(sum), 50));
  })`);
}
