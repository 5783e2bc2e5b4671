import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { baseUrl, issueKey } from './support/store.js';

const HERE = path.join(import.meta.dirname, '..');
const PATIENCE_MS = 60_000;

const chromium = (process.env.PATH ?? '')
  .split(path.delimiter)
  .flatMap((folder) =>
    ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map((name) =>
      path.join(folder, name),
    ),
  )
  .find((file) => existsSync(file));

const IMPORTS = {
  'animal-store-client': '/dist/index.js',
  'lossless-json': '/node_modules/lossless-json/lib/esm/index.js',
  'openapi-fetch': '/node_modules/openapi-fetch/dist/index.mjs',
};

/** Runs in the page. */
async function script(address, apiKey) {
  const { AnimalStore } = await import('animal-store-client');
  const warnings = [];
  let attempts = 0;
  const store = new AnimalStore({
    baseUrl: address,
    apiKey,
    onDeprecation: ({ message }) => warnings.push(message),
    pause: async () => {},
    fetch: async (request) => {
      attempts += 1;
      const response = await fetch(request);
      if (attempts === 1) {
        throw new TypeError('The line is cut');
      }
      return response;
    },
  });
  const pet = await store.pets.create({ name: 'Browsed', categoryId: 9_223_372_036_854_775_807n });
  let walked = 0;
  for await (const { id } of store.pets.list({ limit: 7 })) {
    walked += id === pet.id ? 1 : 0;
  }
  const parallel = await Promise.all(Array.from({ length: 20 }, () => store.pets.list({ limit: 1 })));
  const { rateLimit } = await store.pets.list({ limit: 1 }).withResponse();
  const { requestId, status } = await store.pets.get(Number.MAX_SAFE_INTEGER).catch((error) => error);
  return {
    categoryId: String(pet.categoryId),
    walked,
    parallel: parallel.length,
    windows: rateLimit.map(({ name }) => name).join(),
    hasRequestId: typeof requestId === 'string',
    status,
    warnings: warnings.length,
  };
}

test(
  'the same client works in a browser, on a page of another origin',
  { skip: chromium === undefined && 'there is no chromium or google-chrome in PATH' },
  async () => {
    const { key } = await issueKey();
    const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>
      <script type="module">
        const said = await (${String(script)})(${JSON.stringify(baseUrl)}, ${JSON.stringify(key)})
          .catch((error) => ({ error: String(error.stack) }));
        await fetch('/said', { method: 'POST', body: JSON.stringify(said) });
      </script>`;
    assert.deepEqual(await whatIsSaidBy(page), {
      categoryId: '9223372036854775807',
      walked: 1,
      parallel: 20,
      windows: 'minute,day',
      hasRequestId: true,
      status: 404,
      warnings: 1,
    });
  },
);

/** Opens a page in a browser, and waits until it has sent what it has to say. */
async function whatIsSaidBy(page) {
  const profile = await mkdtemp(path.join(tmpdir(), 'animal-store-browser-'));
  const { promise: said, resolve, reject } = deferred();
  const server = createServer((request, response) => {
    void serve(request, response, page).then((body) => body && resolve(JSON.parse(body)), reject);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const browser = spawn(
    chromium,
    [
      '--headless',
      // Root, as in a container, has no sandbox.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      `--user-data-dir=${profile}`,
      `http://127.0.0.1:${server.address().port}/`,
    ],
    // A process group of its own: Debian's command is a script, which starts the browser.
    { stdio: 'ignore', detached: true },
  );
  const ended = once(browser, 'exit');
  void ended.then(() => reject(new Error('The browser ended')), reject);
  const timer = setTimeout(() => reject(new Error('The browser said nothing')), PATIENCE_MS);
  try {
    return await said;
  } finally {
    clearTimeout(timer);
    if (browser.exitCode === null && browser.signalCode === null) {
      process.kill(-browser.pid);
    }
    await ended;
    server.close();
    server.closeAllConnections();
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Answers the page and its modules. @returns what the page has sent, if it is that. */
async function serve(request, response, page) {
  const { pathname } = new URL(request.url, 'http://here');
  if (request.method === 'POST') {
    const body = (await request.toArray()).join('');
    response.end();
    return body;
  }
  if (pathname === '/') {
    response.setHeader('Content-Type', 'text/html').end(page);
    return null;
  }
  const text = await readFile(path.join(HERE, pathname)).catch(() => null);
  response.writeHead(text === null ? 404 : 200, { 'Content-Type': 'text/javascript' }).end(text);
  return null;
}

function deferred() {
  let resolve;
  let reject;
  const promise = new Promise((...functions) => ([resolve, reject] = functions));
  return { promise, resolve, reject };
}
