import { readFileSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { findProgram } from './programs.js';

/** Without its comments, which take a page as long to read. */
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const WIDTHS = { desktop: 1280, phone: 360 };
const HEIGHT = 900;
/** Few pixels are painted faster; sizes and colours are the same. */
const READER = { locale: 'en-GB', timezoneId: 'Europe/Berlin', deviceScaleFactor: 0.5 };
/** The first takes six tenths of the CPU of the second, whose headless mode has all of the desktop's code. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
/** The rules that WCAG 2.2 AA consists of, and axe's own. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** A page of the service in a real browser. */
interface OpenedPage {
  page: Page;
  /**
   * Its errors and warnings, such as violations of its content security policy, and its requests to other
   * origins.
   */
  complaints: string[];
}

export interface OpenOptions {
  scheme?: 'light' | 'dark';
  width?: keyof typeof WIDTHS;
  /** The key that is signed in; without one, the sign-in page is shown. */
  apiKey?: string | undefined;
  /** Addresses another service than the browser's. */
  url?: string;
  /** Comes before the path of the page. `/console` by default. */
  folder?: '/console' | '/docs';
  /** Shares no cache, no stored data and no clock with the other pages. */
  isAlone?: boolean;
  /** Prepares the browser's page before it loads anything, such as its clock. */
  prepare?: (page: Page) => unknown;
}

/**
 * Returns the browser of this machine. Without one, its tests are skipped with a message; in CI they fail.
 */
export const findBrowser = () => findProgram('chromium-headless-shell', ...BROWSERS);

/** The script that makes a page one of a browser that blocks the data of sites. */
export const BLOCKED_STORAGE = `
for (const name of ['sessionStorage', 'localStorage', 'indexedDB', 'caches']) {
  Object.defineProperty(window, name, {
    get() { throw new DOMException('Access is denied for this document.', 'SecurityError'); },
  });
}
Object.defineProperty(document, 'cookie', {
  get() { throw new DOMException('Access is denied for this document.', 'SecurityError'); },
});`;

/** The script that makes a page one of a browser without space for the data of sites. */
export const FULL_STORAGE = `Storage.prototype.setItem = () => {
  throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
};`;

/** The script that translates a page as Chrome does: each text is moved into elements of the translator. */
export const TRANSLATOR = `document.addEventListener('DOMContentLoaded', () => {
  const translate = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const { parentElement } = text;
      if (text.data.trim() === '' || parentElement.closest('font, script, style')) continue;
      if (!parentElement.translate) continue;
      const font = document.createElement('font');
      font.append(document.createElement('font'));
      font.firstChild.append(text.data);
      text.replaceWith(font);
    }
  };
  new MutationObserver(translate).observe(document.body, { childList: true, subtree: true });
  translate();
});`;

/** Opens the pages of one service, which share a cache as the tabs of a reader do. */
export class ConsoleBrowser {
  private opened: OpenedPage[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly session: BrowserContext,
    private readonly url: string,
  ) {}

  /** @param url of the service, such as `http://127.0.0.1:3000`. */
  static async start(url: string): Promise<ConsoleBrowser> {
    const executablePath = findBrowser();
    if (executablePath === undefined) {
      throw new Error('The tests of the console need a browser: install the package chromium-headless-shell');
    }
    // Root, as in a container, has no sandbox.
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    return new ConsoleBrowser(browser, await browser.newContext(READER), url);
  }

  /** Opens a page, such as `/animals`, in a new tab. */
  async open(path: string, options: OpenOptions = {}): Promise<OpenedPage> {
    const { scheme = 'light', width = 'desktop', apiKey, url = this.url, folder = '/console' } = options;
    const session = options.isAlone === true ? await this.browser.newContext(READER) : this.session;
    const page = await session.newPage();
    const complaints: string[] = [];
    this.opened.push({ page, complaints });
    await showOn(page, width);
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    page.on('console', (message) => {
      // The browser also reports what it failed to load, which pages show in words.
      if (['error', 'warning'].includes(message.type()) && !/Failed to (load|fetch)/.test(message.text())) {
        complaints.push(message.text());
      }
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      // Data in an address has no origin.
      if (![url, 'null'].includes(new URL(request.url()).origin)) {
        complaints.push(`A request to ${request.url()}`);
      }
    });
    await options.prepare?.(page);
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
    return { page, complaints };
  }

  /** Closes all pages, and returns their complaints. */
  async closePages(): Promise<string[]> {
    const opened = this.opened.splice(0);
    await Promise.all(opened.map(({ page }) => page.close()));
    const [, ...others] = this.browser.contexts();
    await Promise.all(others.map((context) => context.close()));
    return opened.flatMap(({ complaints }) => complaints);
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

/**
 * Returns the script that signs in a tab when it loads the console first, but not again after it has signed
 * out.
 */
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
  // The DevTools protocol runs it, because the content security policy forbids injected scripts.
  if (!(await page.evaluate<boolean>("'axe' in window"))) {
    await page.evaluate(axeSource);
  }
  // It need not describe where elements are that have no fault.
  const options = JSON.stringify({ runOnly: AXE_TAGS, resultTypes: ['violations'], selectors: false });
  const violations: Violation[] = await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Shows a page as on a screen of this width. */
export function showOn(page: Page, width: keyof typeof WIDTHS): Promise<void> {
  return page.setViewportSize({ width: WIDTHS[width], height: HEIGHT });
}

/** Returns whether the page is wider than the screen, or on a phone a table than its frame. */
export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(`[...document.querySelectorAll('html, [role=region]:has(table)')].some(
    (each) => each.scrollWidth > each.clientWidth && (each.matches('html') || innerWidth < 768),
  )`);
}

/**
 * Returns the cumulative layout shift of a page since its navigation: 0 if nothing that was shown has moved.
 * What moves by an input does not count.
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
