import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { useApplication } from '../support/service/application.js';

const CLIENT = path.join(__dirname, 'waiting-client.mjs');
const PER_MINUTE = 20;
/** Fewer than the limit per minute, as documented. */
const IN_FLIGHT = PER_MINUTE - 1;
/** More than one minute has room for. */
const REQUESTS = PER_MINUTE + 10;
/** The first minute ends soon, so that the test does not take one. */
const MINUTE_REST_MS = 5_000;
const run = promisify(execFile);

describe('a client that waits for Retry-After, with fewer requests at once than its limit per minute', () => {
  const store = useApplication();

  beforeAll(async () => {
    store.clock.travelToMinuteStart();
    store.clock.travel(60_000 - MINUTE_REST_MS);
  });

  it('gets 200 for all requests over two windows, and no ban: got and ky with own retries', async () => {
    const outcomes = await Promise.all(
      ['got', 'ky'].map(async (library) => {
        const { key, quotaId } = await store.issue({
          plan: 'enterprise',
          perMinute: PER_MINUTE,
          perDay: 10_000,
        });
        const { stdout } = await run(process.execPath, [
          CLIENT,
          library,
          `${store.url}/v1/pets`,
          key,
          String(REQUESTS),
          String(IN_FLIGHT),
        ]);
        const [counters] = await store.database.query(
          'SELECT day_used, ban_level, banned_until FROM rate_limit_counters WHERE bucket_key = $1',
          [`quota:${quotaId}`],
        );
        return { library, statuses: JSON.parse(stdout), counters };
      }),
    );
    const statuses = Array.from({ length: REQUESTS }, () => 200);
    const counters = { day_used: REQUESTS, ban_level: 0, banned_until: null };
    expect(outcomes).toEqual([
      { library: 'got', statuses, counters },
      { library: 'ky', statuses, counters },
    ]);
  });
});
