import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApplication } from '../../src/app.js';
import { Clock } from '../../src/settings/clock.js';
import { readEnvironment } from '../../src/settings/environment.js';
import { type ServiceHome, sharedStores } from '../support/counters/counter-stores.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';

const MINUTE_MS = 60_000;

/** The clock of a replica that is five minutes ahead; the clock of its store is right. */
class ClockAhead extends Clock {
  override now(): number {
    return super.now() + 5 * MINUTE_MS;
  }
}

/** The clock of a replica that is five minutes behind. */
class ClockBehind extends Clock {
  override now(): number {
    return super.now() - 5 * MINUTE_MS;
  }
}

const limitHeadersOf = ({ headers }: HttpResponse) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

describe.each(sharedStores)('replicas with wrong clocks, counting in %s', (_name, start) => {
  let home: ServiceHome;
  let replicas: NestFastifyApplication[];
  let urls: string[];

  beforeAll(async () => {
    home = await start();
    const settings = readEnvironment({ ...home.settings, LOG_LEVEL: 'silent', BAN_DURATIONS: '' });
    replicas = await Promise.all(
      [new Clock(), new ClockAhead(), new ClockBehind()].map((clock) => createApplication(settings, clock)),
    );
    urls = [];
    for (const replica of replicas) {
      await replica.listen(0, '127.0.0.1');
      urls.push(await replica.getUrl());
    }
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await home.stop();
  });

  it('share one window, one reset and one count', async () => {
    // All requests fall into one window by the real clock of the store; a day is long enough not to end meanwhile.
    const { key } = await issueKey(home.database, { plan: 'enterprise', perMinute: 1_000_000, perDay: 60 });
    const responses = await Promise.all(
      Array.from({ length: 210 }, (_, index) => send(`${urls[index % urls.length]}/v1/pets`, { key })),
    );
    const dayEnd = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400;
    const served = responses.filter(({ status }) => status === 200);
    expect(served.map(limitHeadersOf).toSorted(([, a = 0], [, b = 0]) => b - a)).toEqual(
      Array.from({ length: 60 }, (_, index) => [60, 59 - index, dayEnd]),
    );
    const denied = responses.filter(({ status }) => status === 429);
    expect(denied).toHaveLength(150);
    expect(new Set(denied.map((response) => String(limitHeadersOf(response))))).toEqual(
      new Set([`60,0,${dayEnd}`]),
    );
  });
});
