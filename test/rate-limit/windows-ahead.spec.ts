import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { readEnvironment } from '../../src/process/settings/environment.js';
import { requestsBeforeBan } from '../support/keys/bans.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../support/time/clock.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { type ServiceHome, sharedStores } from '../support/counter-stores.js';

import { documented } from '../support/documented-commands.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { remaining, resetSeconds } from '../support/http/rate-limit-headers.js';

const TWO_DAYS_MS = 2 * DAY_MS;

/**
 * The commands of docs/limits.md, one for each store. The embedded PostgreSQL has no psql, so its file is
 * run as it is.
 */
const [psql = '', redisCli = ''] = documented('limits.md', 'After a clock was ahead').split('\n');
const [, sqlFile = ''] = /--file=(\S+)/.exec(psql) ?? [];
const repairs: Record<string, (home: ServiceHome) => Promise<unknown>> = {
  PostgreSQL: ({ database }) => database.query(readFileSync(sqlFile, 'utf8')),
  Redis: ({ settings: { COUNTER_STORE_URL } }) =>
    promisify(execFile)('sh', ['-c', redisCli], { env: { ...process.env, COUNTER_STORE_URL } }),
};

describe.each(sharedStores)('a window that %s opened while its clock was ahead', (name, start) => {
  let home: ServiceHome;
  let service: TestApplication;
  let key: IssuedKey;

  beforeAll(async () => {
    home = await start();
    const { COUNTER_STORE_URL } = readEnvironment(home.settings);
    service = await startApplication({ database: home.database, environment: { COUNTER_STORE_URL } });
  });
  afterAll(async () => {
    await service.close();
    await home.stop();
  });
  beforeEach(async () => {
    // The repair uses the clock of the server itself.
    service.clock.returnToPresent();
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

  /**
   * Returns the longest wait that a response reports in each way, in seconds from now. `RateLimit` does not
   * report a ban.
   */
  function waits({ headers, json: { code, message } }: HttpResponse): number[] {
    const [, inWords = ''] = /(\d+) seconds?/.exec(String(message)) ?? [];
    const ietf = [...(headers.get('ratelimit') ?? '').matchAll(/r=0;t=(\d+)/g)].map(([, seconds]) =>
      Number(seconds),
    );
    const reset = Number(headers.get('x-ratelimit-reset')) - service.clock.now() / SECOND_MS;
    const waitsOfWindows = code === 'api_key_banned' ? [] : [Math.max(...ietf)];
    return [Number(headers.get('retry-after')), reset, ...waitsOfWindows, Number(inWords)];
  }

  function expectOneWait(response: HttpResponse, seconds: number): void {
    for (const wait of waits(response)) {
      expect(Math.abs(wait - seconds)).toBeLessThanOrEqual(2);
    }
  }

  it('is waited for by the clock of now, and a client that waits is served', async () => {
    key = await service.issue({ plan: 'enterprise', perMinute: 5, perDay: 100 });
    const end = (Math.floor((service.clock.now() + HOUR_MS) / MINUTE_MS) + 1) * MINUTE_MS;
    await callWhileAhead(HOUR_MS, 5);
    const refused = await call();
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limit_exceeded']);
    expectOneWait(refused, (end - service.clock.now()) / SECOND_MS);
    const status = await send(`${service.url}/v1/rate-limit`, { key: key.key });
    expect(status.json).toMatchObject({
      windows: [{ reset: end / SECOND_MS, remaining: 0 }, {}],
      bannedUntil: null,
    });
    service.clock.travel(Number(refused.headers.get('retry-after')) * SECOND_MS);
    expect((await call()).status).toBe(200);
  });

  it('is waited for by the clock of now across midnight too', async () => {
    const end = (Math.floor(service.clock.now() / DAY_MS) + 2) * DAY_MS;
    await callWhileAhead(DAY_MS, 5);
    expectOneWait(await call(), (end - service.clock.now()) / SECOND_MS);
  });

  it('has a ban whose end all of a response agrees on', async () => {
    key = await service.issue({ plan: 'enterprise', perMinute: 5, perDay: 100 });
    await callWhileAhead(HOUR_MS, requestsBeforeBan(5));
    const banned = await call();
    expect([banned.status, banned.json.code]).toEqual([429, 'api_key_banned']);
    const status = await send(`${service.url}/v1/rate-limit`, { key: key.key });
    const untilMs = Date.parse(String(status.json.bannedUntil));
    expect(Math.abs(untilMs - service.clock.now() - HOUR_MS - MINUTE_MS)).toBeLessThan(5 * SECOND_MS);
    expectOneWait(banned, (untilMs - service.clock.now()) / SECOND_MS);
  });

  it('starts no ban of a client that waits for Retry-After', async () => {
    key = await service.issue({ plan: 'enterprise', perMinute: 2, perDay: 100 });
    await callWhileAhead(HOUR_MS, 2);
    const codes: unknown[] = [];
    for (let sent = 0; sent < 6; sent += 1) {
      const { status, json, headers } = await call();
      codes.push(json.code ?? status);
      service.clock.travel(Number(headers.get('retry-after') ?? 0) * SECOND_MS);
    }
    expect(codes).toEqual(['rate_limit_exceeded', 200, 200, 'rate_limit_exceeded', 200, 200]);
  });

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
    const responses = await callWhileAhead(TWO_DAYS_MS, requestsBeforeBan(5));
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
    await Promise.all(Array.from({ length: requestsBeforeBan(1) + 1 }, call));
    const banned = await stored();
    expect(banned?.bannedUntil).toBeInstanceOf(Date);
    await repair();
    expect(await stored()).toEqual(banned);
    key = bystander;
    expect(await stored()).toEqual(before);
  });
});
