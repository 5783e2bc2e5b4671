// Starts the service, runs every test of this folder against it, and stops it.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { startService } from './support/service.js';

/** For each file: one that waits for ever has failed. The slowest may need a minute on a busy machine. */
const PATIENCE_MS = 300_000;

/** Files wait more than they compute. */
const AT_ONCE = 4;

// Starts the slowest files first, which come last in the alphabet.
const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.js'))
  .toSorted()
  .toReversed()
  .map((name) => path.join(import.meta.dirname, name));

const service = await startService();
try {
  // For the processes of the tests.
  process.env.ANIMAL_STORE_URL = service.url;
  process.env.ANIMAL_STORE_ADMIN_KEY = service.adminKey;
  const tests = run({ files, concurrency: AT_ONCE, timeout: PATIENCE_MS });
  tests.on('test:fail', () => {
    process.exitCode = 1;
  });
  await pipeline(tests, new spec(), process.stdout, { end: false });
} finally {
  await service.stop();
}
