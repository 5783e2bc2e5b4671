// Takes the picture of README.md from a running service: npx jiti docs/images/take.ts [ADDRESS]
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { BrowserPage, findBrowser } from '../../test/support/browser.js';
import { until } from '../../test/support/eventually.js';

const [address = 'http://127.0.0.1:3000'] = process.argv.slice(2);
const page = await BrowserPage.open(findBrowser() ?? '');
await page.emulate({ width: 1280, scheme: 'light' });
await page.goTo(`${address}/docs`);
await until(async () => (await page.evaluate(`document.querySelectorAll('.opblock').length > 0`)) === true);
await page.evaluate(`document.documentElement.style.scrollbarWidth = 'none'`);
await page.evaluate(`document.querySelector('.opblock-tag').scrollIntoView()`);
await writeFile(fileURLToPath(new URL('reference.png', import.meta.url)), await page.picture());
await page.close();
