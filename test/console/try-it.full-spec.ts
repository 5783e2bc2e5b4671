import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { scrollsSideways } from '../support/browser/console.js';
import { expectSound, open, store, useConsole } from '../support/browser/console-service.js';

let apiKey: string;

useConsole();
beforeAll(async () => {
  apiKey = (await store.issue({ plan: 'business' })).key;
});

const HOSTILE = `<script>alert(1)</script> \u202Egnp.exe it's $HOME \`id\` ${'w'.repeat(180)}`;

const send = (page: Page) => page.getByRole('button', { name: 'Send request' }).click();
const command = (page: Page) => page.getByRole('region', { name: 'curl command' });
const body = (page: Page) => page.getByRole('region', { name: 'Response body' });
const meaning = (page: Page, header: string) =>
  page.getByRole('row').filter({ has: page.getByText(header, { exact: true }) });

describe('the page of the console that tries operations', () => {
  it('sends the request that the curl command shows, and explains the response', async () => {
    const page = await open('/try?operation=listPets', { apiKey });
    await page.getByLabel('limit').fill('5');
    await page.getByRole('combobox', { name: 'status' }).click();
    await page.getByRole('option', { name: 'pending' }).click();
    const url = `${store.url}/v1/pets?limit=5&status=pending`;
    expect(await command(page).textContent()).toBe(
      `curl -i '${url}' \\\n  -H "Authorization: Bearer $ANIMAL_STORE_KEY"`,
    );
    const [request] = await Promise.all([page.waitForRequest(/\/v1\/pets/), send(page)]);
    expect(request.url()).toBe(url);
    await page.getByText('200 OK').waitFor();
    await page.getByText('A page of animals.').waitFor();
    expect(await meaning(page, 'RateLimit').textContent()).toMatch(
      / of 1,000 left this minute, full again in /,
    );
    expect(await meaning(page, 'X-Request-Id').textContent()).toContain('the log of the service');
    const response = await request.response();
    const names = Object.keys((await response?.allHeaders()) ?? {});
    expect(
      await page.getByRole('table', { name: 'Response headers' }).getByRole('row').count(),
    ).toBeGreaterThan(names.length);
  });

  it('sends a hostile body unchanged, shows it harmlessly, and keeps every digit', async () => {
    const page = await open('/try?operation=createPet', { apiKey, width: 'phone' });
    const text = JSON.stringify({ name: HOSTILE, categoryId: 0 }).replace(':0', ':9007199254740993');
    await page.getByLabel('Request body').fill(text);
    const [request] = await Promise.all([page.waitForRequest(/\/v1\/pets/), send(page)]);
    expect(request.postData()).toBe(text);
    await page.getByText('201 Created').waitFor();
    const shown = (await body(page).textContent()) ?? '';
    expect(shown).toContain('"categoryId": 9007199254740993');
    expect(JSON.parse(shown)).toMatchObject({ name: HOSTILE });
    expect(await scrollsSideways(page)).toBe(false);
  });

  it('copies a command that a shell runs as it is, and puts the key into it only on demand', async () => {
    const page = await open('/try?operation=createPet', { apiKey });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByLabel('Request body').fill(JSON.stringify({ name: HOSTILE, categoryId: 7 }));
    await page.getByLabel('Idempotency-Key').fill("it's-one");
    const copy = async () => {
      await page.getByRole('button', { name: /^Cop(y|ied)$/ }).click();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    const withVariable = await copy();
    expect(withVariable).not.toContain(apiKey);
    await page.getByRole('switch', { name: 'Copy with my key' }).click();
    const withKey = await copy();
    expect(withKey).toContain(`'Authorization: Bearer ${apiKey}'`);
    expect(await page.content()).not.toContain(apiKey);
    for (const line of [withVariable, withKey]) {
      const env = { ...process.env, ANIMAL_STORE_KEY: apiKey };
      const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -s`], { env });
      expect(stdout).toMatch(/^HTTP\/1\.1 201 /);
      expect(stdout.includes('idempotent-replayed: true')).toBe(line === withKey);
      expect(JSON.parse(stdout.slice(stdout.indexOf('\r\n\r\n')))).toMatchObject({
        name: HOSTILE,
        categoryId: 7,
      });
    }
  });

  it('lets a faulty body be sent, and remarks on it', async () => {
    const page = await open('/try?operation=createPet', { apiKey });
    await page.getByLabel('Request body').fill('{"name":"Rex"}');
    await page.getByRole('button', { name: 'Format' }).click();
    expect(await page.getByLabel('Request body').inputValue()).toBe('{\n  "name": "Rex"\n}');
    await page.getByLabel('Request body').fill('{"name": ');
    await page.getByText('Not valid JSON. You can send it to see the error.').waitFor();
    expect(await page.getByRole('button', { name: 'Format' }).isDisabled()).toBe(true);
    await send(page);
    await page.getByText('400 Bad Request').waitFor();
    expect(await body(page).textContent()).toContain('"code": "invalid_request"');
  });

  it('asks for the parts of the path, and explains the headers of a deprecated operation', async () => {
    const page = await open('/try?operation=getPet', { apiKey });
    await page.getByText('This operation is deprecated').waitFor();
    await send(page);
    await page.getByText('Enter petId, which is part of the path').waitFor();
    await expectSound(page);
    await page.getByLabel('petId').fill('9223372036854775807');
    await page.getByLabel('petId').press('Enter');
    await page.getByText('404 Not Found').waitFor();
    expect(await meaning(page, 'Deprecation').textContent()).toContain('deprecated since 5 Dec 2025');
    expect(await meaning(page, 'Sunset').textContent()).toContain('removed on 5 Dec 2030');
    expect(await meaning(page, 'Link').textContent()).toContain(
      'What replaces the operation: /v1/pets?status=available',
    );
  });

  it('fills in what the next request needs: the key of a creation, and what the last response gave', async () => {
    const page = await open('/try?operation=createPet', { apiKey });
    await page.getByRole('button', { name: 'Fill in a new key' }).click();
    await send(page);
    await page.getByText('201 Created').waitFor();
    await send(page);
    await meaning(page, 'Idempotent-Replayed').getByText('Nothing was created again.').waitFor();
    await page.getByRole('link', { name: /^List animals/ }).click();
    await page.getByLabel('limit').fill('1');
    await send(page);
    await page.getByRole('button', { name: 'Fill in the ETag of this response' }).click();
    await send(page);
    await page.getByText('304 Not Modified').waitFor();
    await page.getByText('The response has no body.').waitFor();
  });

  it('searches the operations, and keeps the chosen one in the address', async () => {
    const page = await open('/try', { apiKey });
    const operations = page.getByRole('navigation', { name: 'Operations' });
    await operations.getByRole('searchbox').fill('get limit');
    expect(await operations.getByRole('link').count()).toBe(1);
    await operations.getByRole('link', { name: /^Get the rate-limit status/ }).press('Enter');
    await page.waitForURL('**/console/try?operation=getRateLimit');
    await page.reload();
    await page.getByRole('heading', { name: 'Get the rate-limit status' }).waitFor();
    expect(await page.getByRole('link', { name: 'Open in reference' }).getAttribute('href')).toBe(
      `${store.url}/docs#/limits/getRateLimit`,
    );
    await operations.getByRole('searchbox').fill('no such operation');
    await operations.getByText('No operation matches.').waitFor();
  });

  it('says that there is no such operation, and shows those of the administration to no client', async () => {
    const page = await open('/try?operation=revokeKey', { apiKey });
    await page.getByText('There is no such operation').waitFor();
    expect(await page.getByText('/admin/').count()).toBe(0);
  });
});

describe('the page of the console that tries operations, with the key of an administrator', () => {
  it('confirms what changes a key before it is sent', async () => {
    const { id } = await store.issue();
    const page = await open('/try?operation=revokeKey');
    const revoked = () => store.database.query('SELECT id FROM api_keys WHERE revoked_at IS NOT NULL');
    await page.getByLabel('id').fill(id);
    await send(page);
    const dialog = page.getByRole('dialog', { name: 'Revoke a key?' });
    await dialog.getByText('Revokes the key immediately and permanently.').waitFor();
    await dialog.getByText(`POST /admin/keys/${id}/revoke`).waitFor();
    await expectSound(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await revoked()).toStrictEqual([]);
    await send(page);
    await dialog.getByRole('button', { name: 'Revoke a key' }).click();
    await page.getByText('200 OK').waitFor();
    expect(await revoked()).toEqual([{ id }]);
  });

  it('shows a new key once, with a note', async () => {
    const page = await open('/try?operation=issueKey');
    await send(page);
    await page.getByText('This response contains a new API key').waitFor();
    const { key } = JSON.parse((await body(page).textContent()) ?? '') as { key: string };
    await page.getByRole('link', { name: /^List keys/ }).click();
    await page.getByRole('heading', { name: 'List keys' }).waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.toContain(
      key,
    );
  });
});
