import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { readEnvironment } from '../../src/settings/environment.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../support/counters/clock.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { type ServiceHome, sharedStores } from '../support/counters/counter-stores.js';

import { documented } from '../support/documented-commands.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { remaining, resetSeconds } from '../support/http/rate-limit-headers.js';

const TWO_DAYS_MS = 2 * DAY_MS;

/** The commands of docs/operating.md, one for each store. The embedded PostgreSQL has no psql, so its file is run as it is. */
const [psql = '', redisCli = ''] = documented('operating.md', 'After a clock was ahead').split('\n');
const [, sqlFile = ''] = /--file=(\S+)/.exec(psql) ?? [];
const repairs: Record<string, (home: ServiceHome) => Promise<unknown>> = {
  PostgreSQL: ({ database }) => database.query(readFileSync(sqlFile, 'utf8')),
  Redis: ({ settings: { COUNTER_STORE } }) =>
    promisify(execFile)('sh', ['-c', redisCli], { env: { ...process.env, COUNTER_STORE } }),
};

describe.each(sharedStores)('a window that %s opened while its clock was ahead', (name, start) => {
  let home: ServiceHome;
  let service: TestApplication;
  let key: IssuedKey;

  beforeAll(async () => {
    home = await start();
    const { COUNTER_STORE } = readEnvironment(home.settings);
    service = await startApplication({ database: home.database, environment: { COUNTER_STORE } });
  });
  afterAll(async () => {
    await service.close();
    await home.stop();
  });
  beforeEach(async () => {
    // The repair uses the clock of the server itself.
    service.clock.storeOffsetMs = 0;
    key = await service.issue({ plan: 'enterprise', perMinute: 5, perDay: 5 });
  });

  const call = () => send(`${service.url}/v1/pets`, { key: key.key });
  const repair = () => repairs[name]?.(home);
  const stored = () => home.findCounter(`quota:${key.quotaId}`);
  const secondsToReset = (response: HttpResponse) => resetSeconds(response) - service.clock.now() / SECOND_MS;

  async function callWhileAhead(byMs: number, count = 1): Promise<HttpResponse[]> {
    service.clock.travel(byMs);
    const responses = await Promise.all(Array.from({ length: count }, call));
    service.clock.travel(-byMs);
    return responses;
  }

  it.each([
    ['two hours', 2 * HOUR_MS],
    ['two days', TWO_DAYS_MS],
  ])(
    'becomes the current one after the documented repair, and keeps its counts: ahead by %s',
    async (_name, byMs) => {
      await callWhileAhead(byMs, 3);
      const before = await stored();
      await repair();
      await repair();
      const after = await stored();
      expect(after).toEqual({ ...before, minute: expect.any(Number), day: Math.floor(Date.now() / DAY_MS) });
      expect(Date.now() / MINUTE_MS - (after?.minute ?? 0)).toBeLessThan(2);
      const next = await call();
      expect([next.status, remaining(next)]).toEqual([200, 1]);
      expect(secondsToReset(next)).toBeLessThanOrEqual(86_400);
    },
  );

  it('keeps only the rest of its ban after the documented repair', async () => {
    const responses = await callWhileAhead(TWO_DAYS_MS, 10);
    expect(responses.map(({ json }) => json.code)).toContain('api_key_banned');
    expect(secondsToReset(await call())).toBeGreaterThan(2 * 86_400 - 1);
    await repair();
    const banned = await call();
    expect(banned.json.code).toBe('api_key_banned');
    expect(((await stored())?.bannedUntil?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(2 * MINUTE_MS);
  });

  it('is the only kind of window that the documented repair changes', async () => {
    await call();
    const [before, bystander] = [await stored(), key];
    key = await service.issue({ plan: 'enterprise', perMinute: 1, perDay: 1000 });
    await Promise.all([call(), call(), call()]);
    const banned = await stored();
    expect(banned?.bannedUntil).toBeInstanceOf(Date);
    await repair();
    expect(await stored()).toEqual(banned);
    key = bystander;
    expect(await stored()).toEqual(before);
  });
});
