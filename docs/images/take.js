// Takes the pictures of the documentation, of the built service with made-up data: node docs/images/take.js
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { createApplication } from '../../dist/app.js';
import { applyPendingMigrations } from '../../dist/database/migrations/migrations.js';
import { startEmbeddedPostgres } from '../../dist/database/migrations/embedded/embedded-postgres.js';
import { readEnvironment } from '../../dist/process/settings/environment.js';
import { fillStore } from './made-up-data.js';

const folder = import.meta.dirname;
const PAGES = [
  { name: 'console-sign-in', path: '/console', scheme: 'light' },
  { name: 'console-overview', path: '/console', role: 'shop', scheme: 'light' },
  { name: 'console-animals', path: '/console/animals', role: 'shop', scheme: 'light' },
  { name: 'console-orders', path: '/console/orders', role: 'shop', scheme: 'light' },
  { name: 'console-traffic', path: '/console/admin', role: 'administrator', scheme: 'dark' },
  { name: 'console-keys', path: '/console/admin/keys', role: 'administrator', scheme: 'light' },
  { name: 'console-key', path: '/console/admin/keys/ID', role: 'administrator', scheme: 'light' },
  { name: 'console-plans', path: '/console/admin/plans', role: 'administrator', scheme: 'light' },
  { name: 'console-audit', path: '/console/admin/audit', role: 'administrator', scheme: 'light' },
  { name: 'reference', path: '/docs', role: 'shop', scheme: 'light' },
];

const dataFolder = await mkdtemp(path.join(tmpdir(), 'animal-store-pictures-'));
const database = await startEmbeddedPostgres(dataFolder);
try {
  await applyPendingMigrations(database.url);
  const settings = readEnvironment({ APP_ENV: 'staging', LOG_LEVEL: 'silent', DATABASE_URL: database.url });
  const app = await createApplication(settings);
  await app.listen(0, '127.0.0.1');
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const keys = await fillStore(app, database.url);
  for (const page of PAGES) {
    await take(browser, await app.getUrl(), keys, page);
  }
  await browser.close();
  await app.close();
} finally {
  await database.stop();
  await rm(dataFolder, { recursive: true, force: true });
}

async function take(browser, url, keys, { name, path: address, role, scheme }) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    colorScheme: scheme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  if (role !== undefined) {
    await page.goto(`${url}/console`);
    await page.getByLabel('API key').fill(keys[role].key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  }
  await page.goto(`${url}${address.replace('ID', keys.shop.id)}`);
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(() => document.querySelector('.mantine-Skeleton-root') === null);
  await page.waitForTimeout(500);
  await page.screenshot({ path: path.join(folder, `${name}.png`), style: '* { scrollbar-width: none }' });
  await context.close();
}
