import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, it } from 'node:test';
import { AnimalStore } from 'animal-store-client';

const WATCH = path.join(import.meta.dirname, '..', 'examples', 'watch-limits.js');
const baseUrl = `${process.env.ANIMAL_STORE_URL}/v1`;
const { admin } = new AnimalStore({ baseUrl, apiKey: process.env.ANIMAL_STORE_ADMIN_KEY });

/** Runs the example with a key, and returns its exit code and what it printed. */
function watch(key) {
  const env = { ...process.env, ANIMAL_STORE_URL: baseUrl, ANIMAL_STORE_KEY: key };
  const { status, stdout, stderr } = spawnSync(process.execPath, [WATCH], { env, encoding: 'utf8' });
  assert.equal(stderr, '');
  return { status, stdout };
}

describe('examples/watch-limits.js', () => {
  it('prints that no limit is near, and takes nothing from it', async () => {
    const { key } = await admin.keys.issue({ name: 'fresh', plan: 'free' });
    assert.deepEqual(watch(key), { status: 0, stdout: 'Plan free: no limit is near.\n' });
    const { windows } = await new AnimalStore({ baseUrl, apiKey: key }).rateLimit.get();
    assert.equal(windows[1].remaining, windows[1].limit);
  });

  it('fails and says which window is nearly used up', async () => {
    const limits = { plan: 'enterprise', perMinute: 100, perDay: 10 };
    const { key } = await admin.keys.issue({ name: 'busy', ...limits });
    const store = new AnimalStore({ baseUrl, apiKey: key });
    for (let sent = 0; sent < 9; sent += 1) {
      await store.pets.list();
    }
    const { status, stdout } = watch(key);
    assert.equal(status, 1);
    assert.match(stdout, /^1 of 10 requests remain in this day, until \d{4}-\d\d-\d\dT00:00:00\.000Z\. /);
  });

  it('fails and says how long a ban lasts', async () => {
    const { key } = await admin.keys.issue({ name: 'banned', plan: 'enterprise', perMinute: 2, perDay: 10 });
    let bodies = '';
    for (let sent = 0; sent < 20 && !bodies.includes('api_key_banned'); sent += 1) {
      const response = await fetch(`${baseUrl}/pets`, { headers: { Authorization: `Bearer ${key}` } });
      bodies += await response.text();
    }
    const { status, stdout } = watch(key);
    assert.equal(status, 1);
    assert.match(stdout, /^Banned until \d{4}-.*Z\. /m);
  });
});
