import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { startApplication, type TestApplication } from '../support/service/application.js';
import {
  accessibilityFaults,
  BLOCKED_STORAGE,
  ConsoleBrowser,
  findBrowser,
  FULL_STORAGE,
  type OpenOptions,
  scrollsSideways,
  TRANSLATOR,
} from '../support/programs/browser.js';
import { ApiDocument } from '../support/http/document.js';
import { until } from '../support/eventually.js';
import { UNLIMITED } from '../support/keys/keys.js';

const GREATEST = '9223372036854775807';
const HOSTILE = `it's "$HOME" \`id\` \${x} <script>alert(1)</script>`;
const CLIENT = path.resolve('client/src/index.ts');
const JITI = path.resolve('node_modules/jiti/lib/jiti-cli.mjs');

const run = promisify(execFile);

(findBrowser() === undefined ? describe.skip : describe)('the reference page, in a browser', () => {
  let store: TestApplication;
  let browser: ConsoleBrowser;
  let apiKey: string;

  beforeAll(async () => {
    store = await startApplication();
    browser = await ConsoleBrowser.start(store.url);
    apiKey = (await store.issue(UNLIMITED)).key;
  });
  afterEach(() => browser.closePages());
  afterAll(async () => {
    await browser.close();
    await store.close();
  });

  const open = (address: string, options: OpenOptions = {}) =>
    browser.open(address, { folder: '/docs', ...options });
  const operation = (page: Page, id: string) => page.locator(`[id$="-${id}"].opblock`);
  const responseBody = (page: Page) => page.locator('.live-responses-table .code').innerText();

  async function enterKey(page: Page, key = apiKey): Promise<void> {
    await page.getByLabel('API key, kept for this tab only').fill(key);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText(`Requests carry the key ending in ${key.slice(-4)}`).waitFor();
  }

  /** Sends the request of the one operation that is open, and returns the status of the response. */
  async function execute(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Execute' }).click();
    const response = page.locator('.live-responses-table');
    await response.waitFor();
    return response.locator('tbody .response-col_status').first().innerText();
  }

  /**
   * Opens the operations with these names, all without any, and all other details. At once, because Swagger
   * UI renders every operation that is open again when another is opened.
   */
  async function openOperations(page: Page, ids: readonly string[]): Promise<void> {
    await page.locator('.opblock').first().waitFor();
    const opened = ids.map((id) => `[id$="-${id}"].opblock`).join() || '.opblock';
    await page.evaluate(`for (const each of document.querySelectorAll('${opened}')) {
      each.querySelector('.opblock-summary-control[aria-expanded="false"]')?.click();
    }`);
    const rest = page.locator(opened).filter({ hasNot: page.locator('.responses-table') });
    await until(async () => (await rest.count()) === 0);
    const closed = page.locator('details:not([open]) > summary');
    while ((await closed.count()) > 0) {
      await closed.first().click();
    }
  }

  it.each([
    ['', 'openapi.json', 'pets-listPets'],
    ['?document=administration', 'admin-openapi.json', 'keys-issueKey'],
  ])('shows every operation of a document without violating its policy (%s)', async (search, file, id) => {
    const { page, complaints } = await open(search);
    await page.locator(`#operations-${id}`).waitFor();
    expect(await page.locator('.opblock').count()).toBe(new ApiDocument([file]).operations.length);
    // The style sheet is loaded.
    expect(await page.evaluate("getComputedStyle(document.querySelector('.opblock')).borderRadius")).toBe(
      '14px',
    );
    expect(complaints).toStrictEqual([]);
  });

  it('shows the key, all operations, and the first with its curl on the first screen', async () => {
    const { page } = await open('');
    await page.setViewportSize({ width: 1280, height: 860 });
    const shown = [
      page.getByLabel('API key, kept for this tab only'),
      page.getByRole('link', { name: 'List animals' }),
      page.getByRole('link', { name: 'Revoke an issued key' }),
      operation(page, 'listPets').locator('.request-snippets .code'),
      operation(page, 'listPets').getByRole('button', { name: 'Execute' }),
    ];
    for (const each of shown) {
      await each.waitFor();
      const { y, height } = (await each.boundingBox())!;
      expect(y + height).toBeLessThan(860);
    }
    expect(await page.locator('.request-snippets .code').innerText()).toBe(
      `curl -i '${store.url}/v1/pets?limit=20' \\\n  -H "Authorization: Bearer $ANIMAL_STORE_KEY"`,
    );
    expect(await page.getByText('Requests per minute', { exact: true }).isVisible()).toBe(false);
    await page.getByText('About: keys, limits').click();
    expect(await page.getByRole('cell', { name: 'Business' }).isVisible()).toBe(true);
    const links = page.getByRole('navigation', { name: 'Operations' }).getByRole('link');
    expect(await links.count()).toBe(new ApiDocument(['openapi.json']).operations.length);
  });

  it('shows the key field first on a phone', async () => {
    const { page } = await open('', { width: 'phone' });
    const field = page.getByLabel('API key, kept for this tab only');
    await field.waitFor();
    expect((await field.boundingBox())!.y).toBeLessThan(
      (await page.getByRole('heading').first().boundingBox())!.y,
    );
  });

  it('opens an operation from the list, and shows its request as it is entered', async () => {
    const { page, complaints } = await open('');
    await page.getByRole('link', { name: 'Get an animal' }).click();
    const shown = operation(page, 'getPet');
    await shown.locator('.request-snippets').waitFor();
    expect(new URL(page.url()).hash).toBe('#/pets/getPet');
    await until(() => page.evaluate<boolean>('scrollY > 0'));
    await shown.getByRole('textbox', { name: 'petId' }).fill('');
    await until(async () =>
      (await shown.locator('.request-snippets').innerText()).includes('/v1/pets/{petId}'),
    );
    await shown.getByRole('textbox', { name: 'petId' }).fill(GREATEST);
    await until(async () =>
      (await shown.locator('.request-snippets').innerText()).includes(`/v1/pets/${GREATEST}`),
    );
    expect(complaints).toStrictEqual([]);
  });

  it('shows the fields of bodies open, and the list of all schemas closed', async () => {
    const { page } = await open('#/pets/createPet');
    const fields = operation(page, 'createPet').locator('.fields').first();
    await fields.getByText("The animal's name.").waitFor();
    expect(await fields.getByText('categoryId').first().isVisible()).toBe(true);
    expect(await page.locator('section.models .model-container, section.models article').count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)('has the colours and the font of the console: %s', async (scheme) => {
    const styles = async (folder: '/docs' | '/console', current: string) => {
      const { page } = await browser.open('', { folder, scheme });
      await page.locator(current).first().waitFor();
      return page.evaluate<
        string[]
      >(`[document.body, document.querySelector('${current}')].flatMap((each) => {
        const { backgroundColor, color, fontFamily } = getComputedStyle(each);
        return [backgroundColor, color, fontFamily];
      })`);
    };
    expect(await styles('/docs', 'h1')).toStrictEqual(await styles('/console', 'h1'));
  });

  it('sends requests to this server with a key that is entered once, and kept for the tab only', async () => {
    const { page, complaints } = await open('#/limits/getRateLimit');
    await enterKey(page);
    const [request] = await Promise.all([page.waitForRequest(/\/v1\/rate-limit/), execute(page)]);
    expect(request.url()).toBe(`${store.url}/v1/rate-limit`);
    expect(await request.headerValue('authorization')).toBe(`Bearer ${apiKey}`);
    expect(await responseBody(page)).toContain('"plan": "enterprise"');
    await page.reload();
    expect(await execute(page)).toBe('200');
    expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, '']);
    expect(await page.content()).not.toContain(apiKey);
    await page.getByRole('link', { name: 'Console' }).click();
    await page.getByRole('button', { name: /^Account/ }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Forget it' }).click();
    expect(await execute(page)).toBe('401');
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(apiKey);
    expect(complaints).toStrictEqual([]);
  });

  it.each([
    ['blocks the data of sites', BLOCKED_STORAGE, 'API key, kept until the tab is reloaded'],
    ['has no space left', FULL_STORAGE, 'API key, kept for this tab only'],
    ['translates pages', TRANSLATOR, 'API key, kept for this tab only'],
  ])(
    'sends requests with the key, and shows each response, if the browser %s',
    async (_why, script, label) => {
      const prepare = (each: Page) => each.addInitScript(script);
      const { page, complaints } = await open('#/pets/getPet', { isAlone: true, prepare });
      await page.getByLabel(label).fill(apiKey);
      await page.getByRole('button', { name: 'Use this key' }).click();
      for (const id of ['7', '8']) {
        await page.getByRole('textbox', { name: 'petId' }).fill(id);
        await page.getByRole('button', { name: 'Execute' }).click();
        const shown = `No animal has the id ${id}.`;
        await page.locator('.live-responses-table .code', { hasText: shown }).waitFor();
      }
      await page.getByRole('button', { name: 'Forget it' }).click();
      await page.getByLabel(label).waitFor();
      expect(complaints).toStrictEqual([]);
    },
  );

  it('shows and announces a response in view, and an invalid parameter at its field', async () => {
    const { page, complaints } = await open('#/pets/getPet', { width: 'phone' });
    await enterKey(page);
    await page.getByRole('textbox', { name: 'petId' }).fill('7');
    expect(await execute(page)).toBe('404');
    expect(await page.getByRole('status').first().innerText()).toBe('Response 404');
    const bottom = async (each: Locator) => {
      const { y, height } = (await each.boundingBox())!;
      return y + height;
    };
    const inView = (await page.evaluate<number>('innerHeight')) + 1;
    expect(await bottom(page.locator('.live-responses-table .code'))).toBeLessThan(inView);
    await page.getByRole('textbox', { name: 'petId' }).fill('');
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.getByRole('alert').filter({ hasText: 'Required field is not provided' }).waitFor();
    expect(await page.evaluate('document.activeElement.matches("[data-param-name=petId] .invalid")')).toBe(
      true,
    );
    expect(await bottom(page.getByRole('alert'))).toBeLessThan(inView);
    expect(await accessibilityFaults(page)).toStrictEqual([]);
    expect(complaints).toStrictEqual([]);
  });

  it('rejects a text that cannot be a key, and marks what is deprecated or may change', async () => {
    const { page } = await open('');
    await page.getByText('Ask an administrator of the store for a key.').waitFor();
    await page.getByLabel('API key, kept for this tab only').fill('wrong');
    await page.getByRole('button', { name: 'Use this key' }).click();
    expect(await page.getByRole('alert').innerText()).toContain('Enter a whole key');
    await page.getByRole('link', { name: 'Get an animal deprecated' }).waitFor();
    await page.getByRole('link', { name: 'List orders beta' }).waitFor();
    await enterKey(page);
  });

  it('sends requests of administrators', async () => {
    const { key } = await store.issue({ ...UNLIMITED, role: 'admin' });
    const { page } = await open('?document=administration#/keys/issueKey');
    await enterKey(page, key);
    expect(await execute(page)).toBe('201');
    expect(await responseBody(page)).toMatch(/"key": "ask_test_\w+"/);
  });

  it('keeps every digit of integers in path, body and response', async () => {
    const { page, complaints } = await open('#/pets/createPet');
    await enterKey(page);
    const body = `{"name": ${JSON.stringify(HOSTILE)}, "categoryId": ${GREATEST}}`;
    await page.getByLabel('Request body').fill(body);
    const [request] = await Promise.all([page.waitForRequest(/\/v1\/pets/), execute(page)]);
    expect(request.postData()).toBe(body);
    const shown = await responseBody(page);
    expect(shown).toContain(`  "categoryId": ${GREATEST}`);
    expect(JSON.parse(shown)).toMatchObject({ name: HOSTILE });
    await page.goto(`${store.url}/docs?other#/pets/getPet`);
    await page.getByRole('textbox', { name: 'petId' }).fill(GREATEST);
    expect(await execute(page)).toBe('404');
    expect(await responseBody(page)).toContain(`No animal has the id ${GREATEST}.`);
    expect(complaints).toStrictEqual([]);
  });

  it('sends no id by default, and each of several as a parameter of its own, also in a program', async () => {
    const { page } = await open('#/pets/listPets');
    await enterKey(page);
    const send = async () => {
      const [request] = await Promise.all([page.waitForRequest(/\/v1\/pets/), execute(page)]);
      return new URL(request.url()).search;
    };
    expect(await send()).toBe('?limit=20');
    const row = page.locator('tr[data-param-name="id"]');
    for (const id of ['7', GREATEST]) {
      await row.locator('.json-schema-form-item-add').click();
      await row.locator('input').last().fill(id);
      await row.locator('input').last().blur();
    }
    expect(await send()).toBe(`?limit=20&id=7&id=${GREATEST}`);
    await page.locator('.request-snippets .btn', { hasText: 'JavaScript' }).click();
    expect(await page.locator('.request-snippets .code').innerText()).toContain(
      `store.pets.list({ limit: 20, id: [7, ${GREATEST}n] })`,
    );
  });

  it('shows each request as a program that runs as it is, without the key', async () => {
    const { page } = await open('#/pets/createPet');
    await enterKey(page);
    await page.getByLabel('Idempotency-Key').fill("it's-one");
    // Compact, as the client writes it: another body with the same key would get 422.
    const body = `{"name":${JSON.stringify(HOSTILE)},"categoryId":${GREATEST}}`;
    await page.getByLabel('Request body').fill(body);
    expect(await execute(page)).toBe('201');
    const created = JSON.parse(await responseBody(page)) as { id: number };
    const folder = await mkdtemp(path.join(tmpdir(), 'snippet-'));
    for (const [language, name, command] of [
      ['curl', 'snippet.sh', ['sh']],
      ['JavaScript', 'snippet.mjs', [process.execPath, JITI]],
      ['Python', 'snippet.py', ['python3']],
    ] as const) {
      await page.locator('.request-snippets .btn', { hasText: language }).click();
      const snippet = await page.locator('.request-snippets .code').innerText();
      expect(snippet).not.toContain(apiKey);
      const file = path.join(folder, name);
      await writeFile(file, snippet.replace("'animal-store-client'", JSON.stringify(CLIENT)));
      const [program, ...options] = command;
      const env = { ...process.env, ANIMAL_STORE_KEY: apiKey };
      const { stdout } = await run(program, [...options, file], { env });
      // The same Idempotency-Key returns the same animal.
      expect(stdout).toMatch(new RegExp(`\\bid['"]?: ?${created.id}\\b`));
      expect(stdout).toContain(GREATEST);
    }
    await rm(folder, { recursive: true });
  });

  it('describes the headers of every response once', async () => {
    const { page } = await open('');
    await page.locator('.opblock').first().waitFor();
    const list = operation(page, 'listPets');
    await list.locator('.responses-table').waitFor();
    expect((await list.boundingBox())?.height).toBeLessThan(3500);
    expect(await page.locator('td', { hasText: /^X-RateLimit-Limit$/ }).count()).toBe(1);
    expect(await list.getByRole('row', { name: /^Retry-After/ }).innerText()).toMatch(/429, 503/);
    expect(await list.getByRole('row', { name: /^X-/ }).count()).toBe(0);
  });

  it('explains a deprecation in the section that its Link header leads to', async () => {
    const { page } = await open('#/pets/getPet');
    const description = page.locator('#operations-pets-getPet.opblock-deprecated .opblock-description');
    expect(await description.textContent()).toContain(
      'Will be removed on 5 December 2030. Use GET /pets?id=7 to read one animal, or GET /pets with the ' +
        'filter status.',
    );
  });

  it.each([
    // The two documents have one style sheet, so each scheme is seen at each width.
    ['light', 'desktop', ''],
    ['dark', 'phone', '', 'listPets', 'createPet', 'getPet', 'rotateCurrentKey'],
    ['light', 'phone', '?document=administration', 'listKeys', 'updateQuota', 'setPlan', 'deleteWebhook'],
    ['dark', 'desktop', '?document=administration', 'listKeys', 'updateQuota', 'setPlan', 'deleteWebhook'],
  ] as const)(
    'is accessible and fits the screen with operations open: %s, %s %s',
    async (scheme, width, search, ...ids) => {
      const { page } = await open(search, { scheme, width });
      await openOperations(page, ids);
      expect(await accessibilityFaults(page)).toStrictEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
    },
  );

  it.each(['light', 'dark'] as const)('is accessible with a response: %s', async (scheme) => {
    const { page } = await open('#/pets/listPets', { scheme, width: 'phone' });
    await enterKey(page);
    await execute(page);
    expect(await accessibilityFaults(page)).toStrictEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });

  it('runs no injected script', async () => {
    const { page, complaints } = await open('');
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="globalThis.ran = true">')`,
    );
    await until(() => complaints.join().includes('Content Security Policy'));
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
  });
});
