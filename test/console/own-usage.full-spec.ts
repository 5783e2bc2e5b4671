import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { SERVICE } from '../../src/audit/audit.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { KeyService } from '../../src/keys/key.service.js';
import { UsageRecorder } from '../../src/usage/usage.recorder.js';
import { send } from '../support/http/http.js';
import {
  APPEARANCES,
  expectSound,
  HOSTILE_NAME,
  LONGEST_NAME,
  open,
  store,
  useConsole,
} from './console-service.js';

let old: IssuedKey;
let next: IssuedKey;

useConsole();
beforeAll(async () => {
  // Pages show the requests until now by the `Date` of responses, which is never ahead.
  store.clock.travelTo(new Date());
  old = await store.issue({ plan: 'pro', name: LONGEST_NAME, scopes: ['pets:read', 'keys:write'] });
  next = await store.app.get(KeyService).rotate(old.id, {}, SERVICE);
  await store.database.query('UPDATE api_keys SET name = $2 WHERE id = $1', [next.id, HOSTILE_NAME]);
  for (const [path, { key }] of [
    ['/v1/pets', old],
    ['/v1/pets/1', old],
    ['/v1/pets', next],
    ['/v1/nothing', next],
  ] as const) {
    await send(`${store.url}${path}`, { key });
  }
  await store.app.get(UsageRecorder).flush();
});

/** Opens the overview, and splits the requests. */
async function openSplit(split: string, options = {}) {
  const page = await open('', { apiKey: next.key, ...options });
  const panel = page.getByRole('region', { name: 'Requests', exact: true });
  await panel.getByRole('figure').waitFor();
  await panel.getByText(split, { exact: true }).click();
  await panel.getByRole('table').waitFor();
  return { page, panel };
}

/** Returns the name and the text of the file that a page saves, without the mark that it begins with. */
async function download(page: Page) {
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  const file = await saved;
  const bytes = await readFile(await file.path());
  expect(bytes.toString('hex', 0, 3)).toBe('efbbbf');
  return { name: file.suggestedFilename(), text: bytes.toString('utf8', 3) };
}

describe.each(APPEARANCES)('the requests of a quota in the console (%s, %s)', (scheme, width) => {
  it.each(['By operation', 'By key'])('are accessible and fit the screen (%s)', async (split) => {
    const { page } = await openSplit(split, { scheme, width });
    await expectSound(page);
  });
});

describe('the requests of a quota in the console', () => {
  it('are shown by operation, with their shares', async () => {
    const { panel } = await openSplit('By operation');
    await panel.getByText('By operation, of this key and the keys it shares its limits with').waitFor();
    const row = panel
      .getByRole('table', { name: 'Requests by operation' })
      .getByRole('row', { name: 'getPet' });
    await row.getByText('Deprecated', { exact: true }).waitFor();
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      'getPetDeprecated',
      expect.stringMatching(/%$/),
      '1',
      '0',
    ]);
    await panel.getByText('No operation (404, 405)').waitFor();
  });

  it('are shown by key, with the names of all keys and what is shown of each', async () => {
    const { panel } = await openSplit('By key');
    const table = panel.getByRole('table', { name: 'Requests by key' });
    await table
      .getByRole('row', { name: `${HOSTILE_NAME} ${next.prefix}…${next.lastFour} This key` })
      .waitFor();
    const other = table.getByRole('row', { name: `${LONGEST_NAME} ${old.prefix}…${old.lastFour}` });
    expect((await other.getByRole('cell').allTextContents()).slice(2)).toEqual(['2', '0']);
    expect(await table.getByRole('row').count()).toBe(3);
  });

  it('are saved as CSV for the range and the split that are shown', async () => {
    const { page, panel } = await openSplit('By key');
    await panel.getByText('30 days').click();
    await panel.getByText(/in the last 30 days$/).waitFor();
    const { name, text } = await download(page);
    expect(name).toMatch(/^usage-\w{4}-key-30-days-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.csv$/);
    expect(text.split('\r\n')).toEqual([
      'startsAt,keyId,keyName,lastFour,requests,denied,2xx,3xx,4xx,5xx',
      expect.stringContaining(`,${old.id},${LONGEST_NAME},${old.lastFour},2,0,`),
      expect.stringContaining(`,${next.id},"${HOSTILE_NAME.replaceAll('"', '""')}",${next.lastFour},`),
      '',
    ]);
  });

  it('are saved as CSV from all pages, with one header line', async () => {
    const { key, id, quotaId } = await store.issue({ plan: 'pro' });
    await store.database.query(
      `INSERT INTO usage
       SELECT $1, $2, 'minute', date_trunc('minute', now()) - minute * interval '1 minute', operation, false,
         1, 0, 0, 0, 0, now()
       FROM generate_series(1, 50) minute, unnest(ARRAY['a', 'b', 'c']) operation`,
      [id, quotaId],
    );
    const page = await open('', { apiKey: key });
    await page.getByText('By operation', { exact: true }).click();
    await page.getByRole('row', { name: /^c / }).waitFor();
    const { name, text } = await download(page);
    expect(name).toMatch(/^usage-\w{4}-operation-1-hour-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.csv$/);
    const lines = text.split('\r\n');
    expect(lines.filter((line) => line.startsWith('startsAt,'))).toHaveLength(1);
    expect(lines.filter((line) => /^[^,]+,[abc],false,1,0,1,0,0,0$/.test(line))).toHaveLength(150);
  });

  it('say why they could not be saved', async () => {
    const { page, panel } = await openSplit('By key');
    await page.route(/\/v1\/usage/, (route) => route.abort());
    await panel.getByRole('button', { name: 'Download CSV' }).click();
    await panel.getByText('The service did not respond. Check the connection and try again.').waitFor();
    await expectSound(page);
  });
});
